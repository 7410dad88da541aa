// The blocks that RNS kernels are launched with, and the tables that they point to, laid out as in
// `src/backend/cuda/rns.rs`.
#pragma once

#include "word.cuh"

// A constant factor of either word class, with Shoup's quotient.
struct RnsFactor {
    u64 value, quotient;

    template <class T>
    DEVICE Shoup<T> as() const {
        return Shoup<T>{static_cast<T>(value), static_cast<T>(quotient)};
    }
};

// One prime of a ring.
struct RnsPrime {
    u64 q, q_inv, barrett;
    // 2^w; n^-1.
    RnsFactor one, scale;
    // Barrett's factor of products, the first shift.
    u64 product_factor;
    u32 product_shift;
    // For x < 16 q: floor((x >> down) * estimate / 2^(32 + shift)) is the quotient by q, or one less.
    u32 estimate, estimate_down, estimate_shift;
    double real_q, real_q_inv;

    template <class T>
    DEVICE Modulus<T> modulus() const {
        return Modulus<T>{static_cast<T>(q), static_cast<T>(q_inv), static_cast<T>(barrett)};
    }
};

// A base conversion inside another operation: residue j of target t is the sum of digits[i] * factors[t][i], minus
// rounded(sum of digits[i] / q_i) times the product of the sources where `exact`.
struct RnsConvert {
    const void* digits;            // words, [poly][digit_stride][N]
    const u64* factors;            // Montgomery form, [poly * table_step + target][width]
    const u64* minus_products;     // [poly * table_step + target]
    const double* reciprocals;     // [source]
    const u64* halves;             // floor(q/2), [source]
    const u32* targets;            // primes of the targets, where they are not those of the limbs
    u32 digit_stride;              // limbs from one polynomial's digits to the next
    u32 source_step, source_total; // polynomial k has sources [k * step, min(k * step + width, total))
    u32 width, table_step, exact;
    u32 parts;                     // threads that share the targets of a pack of coefficients
    u32 own;                       // whether targets among the sources are left out
};

// Polynomials [poly][limb][N] with a stride in limbs.
struct RnsView {
    void* words;
    u64 stride;
};

struct RnsLaunch {
    const RnsPrime* primes;
    const void* tables;        // twiddles, `table_len` a prime
    RnsView a, b, c, out;
    const RnsFactor* factors;  // one a limb, or nothing
    RnsConvert convert;
    u64 table_len;
    u32 log_n, polys, limbs, q_limbs, special;  // limb l is prime l, or l - q_limbs + special from q_limbs on
    u32 first, depth;                           // layers of a pass
    u32 galois, op, terms;
};

static_assert(sizeof(RnsPrime) == KARAT_SIZEOF_RNS_PRIME, "RnsPrime is laid out differently in Rust");
static_assert(sizeof(RnsLaunch) == KARAT_SIZEOF_RNS_LAUNCH, "RnsLaunch is laid out differently in Rust");

DEVICE u32 prime_of(const RnsLaunch& launch, u32 limb) {
    return limb < launch.q_limbs ? limb : limb - launch.q_limbs + launch.special;
}

template <class W>
DEVICE W* limb_of(const RnsLaunch& launch, const RnsView& view, u32 poly, u32 limb) {
    return static_cast<W*>(view.words) + ((poly * view.stride + limb) << launch.log_n);
}
