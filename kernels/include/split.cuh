// Signed words of 64 bits modulo q, multiplied in halves x = h * 2^32 + l with l in [-2^31, 2^31): x * w is congruent to
// l * w + h * v with v = w * 2^32 modulo q, a number of 94 bits whose quotient by q fits 32. So a product takes eight
// multiplications, where Shoup's with a quotient of 64 bits takes ten and the carries between them.
//
// |x| is below 2^63 - 2^54, so that h fits, and |w| and |v| are at most (q + 1) / 2. The quotients of w and v, times 2^32
// and rounded, are wrong by 1/2 at most, and so is the sum's rounding: |x * w| ends below (1/2 + 1/4 + |x| / 2^65) q.
#pragma once

#include "word.cuh"

DEVICE u64 joined(u32 low, u32 high) { return static_cast<u64>(high) << 32 | low; }
DEVICE u32 low_half(u64 x) { return static_cast<u32>(x); }
DEVICE u32 high_half(u64 x) { return static_cast<u32>(x >> 32); }

// w and v with signed low halves, for which high halves make up; the quotients of both, w's in the low half.
struct alignas(8) SplitTwiddle {
    u64 w, v, quotients;
};

// The factors of `len` entries, then their quotients.
struct SplitTable {
    const Four* factors;
    const u64* quotients;
    SplitTable() = default;
    DEVICE SplitTable(const void* at, u64 len)
        : factors(static_cast<const Four*>(at)), quotients(reinterpret_cast<const u64*>(factors + len)) {}
    DEVICE SplitTable from(u32 index) const {
        SplitTable table;
        table.factors = factors + index;
        table.quotients = quotients + index;
        return table;
    }
    DEVICE SplitTwiddle get(u32 index) const {
        Four four = load_constant(factors + index);
        return SplitTwiddle{joined(four.a, four.b), joined(four.c, four.d), load_constant(quotients + index)};
    }
    DEVICE SplitTwiddle operator[](u32 index) const { return get(index); }
};

struct SplitModulus {
    u64 q, minus_q, half;
    u32 estimate, down, shift;

    // For |x| < 8 q: (x >> down) * estimate / 2^(32 + shift) is nearly x / q.
    DEVICE SplitModulus(u64 q, u32 estimate, u32 down, u32 shift)
        : q(q), minus_q(balanced(0 - q)), half(1ull << (31 + shift)), estimate(estimate), down(down), shift(shift) {}
    // The same number with a signed low half.
    DEVICE static u64 balanced(u64 x) { return joined(low_half(x), high_half(x) + (low_half(x) >> 31)); }
    DEVICE long long mul(long long x, SplitTwiddle w) const {
        u32 l = low_half(x), h = high_half(x) + (l >> 31);
        u64 quotient = add_signed_product(1ull << 31, l, low_half(w.quotients));
        quotient = add_signed_product(quotient, h, high_half(w.quotients));
        u64 sum = add_split_product(add_split_product(0, l, w.w), h, w.v);
        return static_cast<long long>(add_split_product(sum, high_half(quotient), minus_q));
    }
    // To (-q, q) / 2 and a little: the leading bits of x and of q, 28 of it or all, give the quotient.
    DEVICE long long reduce(long long x) const {
        u64 quotient = add_signed_product(half, static_cast<u32>(x >> down), estimate);
        u32 b = static_cast<u32>(static_cast<int>(high_half(quotient)) >> shift);
        return static_cast<long long>(add_split_product(static_cast<u64>(x), b, minus_q));
    }
    // From (-q, q) to [0, q).
    DEVICE u64 canonical(long long x) const { return static_cast<u64>(x) + (q & static_cast<u64>(x >> 63)); }
};
