// Residues modulo q in words of 32 or 64 bits: Shoup's multiplication by constants, Montgomery's reduction of sums.
//
// All constants come from the host. Ranges are half-open. Nothing branches on a residue.
#pragma once

#include "platform.cuh"

template <class T>
struct Double;
template <>
struct Double<u32> {
    typedef u64 type;
};
template <>
struct Double<u64> {
    typedef u128 type;
};

// A constant factor in [0, q) and floor(value * 2^w / q).
template <class T>
struct alignas(2 * sizeof(T)) Shoup {
    T value, quotient;
};

// Subtracts m once if x >= m, as a selection. Bounds: m <= 2^(w-1), x < m + 2^(w-1).
DEVICE u32 csub(u32 x, u32 m) { return smaller(x, x - m); }
DEVICE u64 csub(u64 x, u64 m) {
    u64 d = x - m;
    return static_cast<long long>(d) < 0 ? x : d;
}

template <class T>
struct Modulus {
    T q, q_inv, barrett;

    // x * factor in [0, 2q), any word x.
    DEVICE T mul_lazy(T x, Shoup<T> factor) const { return x * factor.value - mul_hi(x, factor.quotient) * q; }

    // x * factor in [0, q), any word x.
    DEVICE T mul(T x, Shoup<T> factor) const { return csub(mul_lazy(x, factor), q); }

    // Any word to [0, q).
    DEVICE T reduce(T x) const { return csub(x - mul_hi(x, barrett) * q, q); }

    // x * 2^-w in [0, q). Bounds: x < q * 2^w.
    DEVICE T redc(typename Double<T>::type x) const {
        T high = static_cast<T>(x >> (8 * sizeof(T)));
        return csub(high - mul_hi(static_cast<T>(x) * q_inv, q) + q, q);
    }

    DEVICE T add(T x, T y) const { return csub(x + y, q); }
    DEVICE T sub(T x, T y) const { return csub(x - y + q, q); }
    // a * b in [0, q); one is 2^w mod q.
    DEVICE T mul(T a, T b, Shoup<T> one) const {
        return mul(redc(static_cast<typename Double<T>::type>(a) * b), one);
    }
};
