// Words that a thread moves together, and sums of their products.
#pragma once

#include "rns.cuh"

template <class W>
struct alignas(16) PackOf {
    static constexpr u32 COUNT = 16 / sizeof(W);
    static constexpr u32 LOG = COUNT == 2 ? 1 : 2;
    W words[COUNT];
};

// A sum of products in a double word: below q * 2^w once it is settled, which it must be after every ROOM products. A
// product is below q times the largest prime of the words' class: 2^31 in words of 32 bits, 2^62 in those of 64.
template <class W>
struct Sum {
    typedef typename Double<W>::type Wide;
    static constexpr u32 BITS = 8 * sizeof(W), ROOM = sizeof(W) == 4 ? 2 : 4;
    Wide value = 0;

    DEVICE void add(W x, W y) { value += static_cast<Wide>(x) * y; }
    // Subtracts q * 2^w once where it is reached. Bounds: value < 2 q * 2^w.
    DEVICE void settle(W q) {
        W high = csub(static_cast<W>(value >> BITS), q);
        value = static_cast<Wide>(high) << BITS | static_cast<W>(value);
    }
};
