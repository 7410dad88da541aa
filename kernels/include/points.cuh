// Products at the points: coefficients modulo x^width - slot, as sums over the columns of a matrix.
#pragma once

#include "launch.cuh"

// A sum of products of canonical residues: `room` of them fit before a reduction.
template <class T>
struct Sum {
    typename Double<T>::type wide = 0;
    T reduced = 0;
    u32 count = 0;

    DEVICE void add(T x, T y, const Prime& prime, Modulus<T> m) {
        if (count == prime.room) flush(m);
        wide += static_cast<typename Double<T>::type>(x) * y;
        count++;
    }

    DEVICE void flush(Modulus<T> m) {
        reduced = m.add(reduced, m.redc(wide));
        wide = 0;
        count = 0;
    }

    // The sum times 2^-w, in [0, q).
    DEVICE T finish(Modulus<T> m) {
        flush(m);
        return reduced;
    }
};

// Coefficient `k` at one point of sum over columns of a[column] * b[column], times 2^-w. The accessors take a column
// and a coefficient.
template <class T, class A, class B>
DEVICE T coefficient(u32 width, u32 columns, u32 k, A a, B b, Shoup<T> slot, const Prime& prime, Modulus<T> m) {
    Sum<T> low, wrapped;
    for (u32 column = 0; column < columns; column++) {
        for (u32 i = 0; i <= k; i++) low.add(a(column, i), b(column, k - i), prime, m);
        for (u32 i = k + 1; i < width; i++) wrapped.add(a(column, i), b(column, k + width - i), prime, m);
    }
    T sum = low.finish(m);
    return width == 1 ? sum : m.add(sum, m.mul(wrapped.finish(m), slot));
}
