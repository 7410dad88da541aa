// Residues for passes.cuh in split words, 2^30 < q < 2^60: |x| stays below 8q. With |x| < X q a product is below
// (3/4 + X / 32) q, so eight layers take a canonical or reduced lane to less than 7.99 q.
#pragma once

#include "launch.cuh"
#include "split.cuh"

typedef long long Lane;
typedef SplitTwiddle Zeta;
typedef SplitTable Zetas;

struct Field : SplitModulus {
    static constexpr u32 FREE = 8;
    Modulus<u64> m;
    Shoup<u64> scale;

    DEVICE Field(const Launch& launch)
        : SplitModulus(launch.primes[0].q, static_cast<u32>(launch.primes[0].estimate), static_cast<u32>(launch.primes[0].estimate_down),
                ESTIMATE_SHIFT),
          m(launch.primes[0].modulus<u64>()), scale(launch.primes[0].mont_scale.as<u64>()) {}

    DEVICE Lane enter(u64 coefficient) const { return static_cast<Lane>(coefficient); }

    DEVICE Lane begin_forward(Lane x) const { return reduce(x); }
    DEVICE void forward(Lane& x, Lane& y, Zeta zeta) const {
        Lane t = mul(y, zeta);
        y = x - t;
        x = x + t;
    }

    // Lanes start below 1.99 q and sums double: of three or four layers the last two start with reduced sums and products
    // below 0.9 q, so that only lanes that are sums in both, then below 3.6 q, are brought down.
    template <u32 Layers, u32 Left>
    DEVICE void inverse(Lane& x, Lane& y, Zeta zeta) const {
        Lane sum = x + y;
        y = mul(x - y, zeta);
        x = Left == 3 ? reduce(sum) : sum;
    }
    template <u32 Layers>
    DEVICE Lane end_inverse(Lane x, u32 doublings) const {
        return doublings >= 2 || (Layers == 1 && doublings == 1) ? reduce(x) : x;
    }

    // The product of two forward lanes times 2^-64, in (-q, q).
    DEVICE Lane point(Lane x, Lane y) const {
        u64 a = static_cast<u64>(reduce(x)) + q, b = static_cast<u64>(reduce(y)) + q;
        return reduce_wide(static_cast<u128>(a) * b);
    }

    // x * 2^-64 in (-q, q). Bounds: x < q * 2^64.
    DEVICE Lane reduce_wide(u128 x) const {
        return static_cast<Lane>(static_cast<u64>(x >> 64) - mul_hi(static_cast<u64>(x) * m.q_inv, m.q));
    }

    // A forward lane in [0, q).
    DEVICE u64 factor(Lane x) const { return canonical(reduce(x)); }
    // A factor times a constant or its negative, in [0, q).
    DEVICE u64 wrapped(u64 x, Zeta zeta, bool negative) const {
        Lane r = mul(static_cast<Lane>(x), zeta);
        return canonical(negative ? -r : r);
    }
    typedef u64 Factor;
    // A sum of at most 16 products of factors: below 16 * q^2.
    struct Sum {
        u128 wide = 0;
        DEVICE void add(const Field&, u64 x, u64 y) { wide += static_cast<u128>(x) * y; }
        DEVICE Lane finish(const Field& f) const { return f.reduce_wide(wide); }
    };

    DEVICE u64 leave(Lane x) const { return m.mul(static_cast<u64>(x) + 8 * q, scale); }
};

DEVICE Zetas table(const void* base, u32 log_points) { return Zetas(base, 1ull << log_points); }
