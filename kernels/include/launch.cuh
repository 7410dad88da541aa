// The blocks that kernels are launched with, and the tables that they point to. Rust lays the same structs out; the
// sizes are compared when a kernel is compiled.
#pragma once

#include "word.cuh"

constexpr u32 MAX_PRIMES = KARAT_MAX_PRIMES;
constexpr u32 ESTIMATE_SHIFT = KARAT_ESTIMATE_SHIFT;

// A constant factor of either word class.
struct Factor {
    u64 value, quotient;

    template <class T>
    DEVICE Shoup<T> as() const {
        return Shoup<T>{static_cast<T>(value), static_cast<T>(quotient)};
    }
};

// One modulus of a transform.
struct Prime {
    u64 q, q_inv, barrett;
    // Products below q^2 that a sum may hold before Montgomery's reduction.
    u64 room;
    // 2^w; n^-1; n^-1 * 2^w.
    Factor one, scale, mont_scale;
    // Lifted rings: minus the ring's modulus; a multiple of it that makes every integer positive.
    u64 minus_ring, offset;
    // Lifted rings, for Garner's digits: the inverse of the primes before, each of them, and their product modulo
    // the ring's modulus.
    Factor garner, before[MAX_PRIMES - 1], weight;
    // For |x| < 8 q: (x >> estimate_down) * estimate / 2^(32 + ESTIMATE_SHIFT) is nearly x / q.
    u64 estimate, estimate_down;

    template <class T>
    DEVICE Modulus<T> modulus() const {
        return Modulus<T>{static_cast<T>(q), static_cast<T>(q_inv), static_cast<T>(barrett)};
    }
};

// A lower term of f: x^exponent, its negated coefficient.
struct Tail {
    u64 exponent;
    Factor factor;
};

// Everything that the kernels of one ring take.
struct Launch {
    const Prime* primes;
    const void *zetas, *inverse_zetas, *slots;  // Shoup<T>[primes][points]
    const Tail* tail;
    const void *a, *b;
    void* out;
    u64 count;  // polynomials, or the lanes of an element-wise kernel
    u64 ring_q, ring_barrett, half;
    u32 prime_count, log_points, width, log_width, len, n, stride, tail_terms;
    u32 first, last;  // layers
    u32 rows, columns, shared, flags;
};

constexpr u32 FLAG_LIFT = KARAT_FLAG_LIFT;      // centre the coefficients and lift the result
constexpr u32 FLAG_WIDE = KARAT_FLAG_WIDE;      // the ring's modulus exceeds a prime
constexpr u32 FLAG_MONT = KARAT_FLAG_MONT;      // the inverse removes Montgomery's factor
constexpr u32 FLAG_FIX = KARAT_FLAG_FIX;        // sums of products lose Montgomery's factor
constexpr u32 FLAG_ROOMY = KARAT_FLAG_ROOMY;    // 16q fits a word
constexpr u32 NOT_A_POWER = 0xffffffffu;        // log_width where the width is no power of two

static_assert(sizeof(Prime) == KARAT_SIZEOF_PRIME, "Prime is laid out differently in Rust");
static_assert(sizeof(Tail) == KARAT_SIZEOF_TAIL, "Tail is laid out differently in Rust");
static_assert(sizeof(Launch) == KARAT_SIZEOF_LAUNCH, "Launch is laid out differently in Rust");

// A transform's shape: 2^log_points points of `width` lanes.
struct Geometry {
    u32 log_points, width, log_width;
};

DEVICE Geometry geometry(const Launch& launch) {
    return Geometry{launch.log_points, launch.width, launch.log_width};
}

// x / (width << shift) and the remainder, for indices.
struct Split {
    u32 quotient, rest;
};

DEVICE Split split_by(const Geometry& g, u32 x, u32 shift) {
    if (g.log_width != NOT_A_POWER) {
        shift += g.log_width;
        return Split{x >> shift, x & ((1u << shift) - 1)};
    }
    u32 size = g.width << shift;
    return Split{x / size, x % size};
}
