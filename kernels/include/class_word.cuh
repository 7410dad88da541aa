// Residues for passes.cuh in words of 32 bits: Shoup's multiplication by constants. 16q fits a word, and lanes stay
// below 16q.
#pragma once

#include "launch.cuh"

typedef u32 Lane;
typedef Shoup<Lane> Zeta;
typedef const Zeta* Zetas;

struct Field {
    typedef Double<Lane>::type Wide;
    typedef Lane Factor;
    // Layers that a canonical or reduced lane may go through.
    static constexpr u32 FREE = 4;

    Modulus<Lane> m;
    Shoup<Lane> scale;

    DEVICE Field(const Launch& launch)
        : m(launch.primes[0].modulus<Lane>()), scale(launch.primes[0].mont_scale.as<Lane>()) {}

    DEVICE Lane enter(u64 coefficient) const { return static_cast<Lane>(coefficient); }

    // Forward: [0, 16q) in and out, brought below 8q once in up to four layers.
    DEVICE Lane begin_forward(Lane x) const { return csub(x, 8 * m.q); }
    DEVICE void forward(Lane& x, Lane& y, Zeta zeta) const {
        Lane t = m.mul_lazy(y, zeta);
        y = x - t + 2 * m.q;
        x = x + t;
    }

    // Inverse: sums double from 2q in the last three of up to four layers; `Left` counts down to 1.
    template <u32 Layers, u32 Left>
    DEVICE void inverse(Lane& x, Lane& y, Zeta zeta) const {
        constexpr u32 doubled = Layers - Left - (Layers == 4 && Left < 4 ? 1 : 0);
        const Lane bound = (static_cast<Lane>(2) << doubled) * m.q;
        Lane sum = x + y;
        y = m.mul_lazy(x - y + bound, zeta);
        x = Layers == 4 && Left == 4 ? csub(sum, 2 * m.q) : sum;
    }
    // Brings a sum that doubled that often, at most three times, below 2q.
    template <u32 Layers>
    DEVICE Lane end_inverse(Lane x, u32 doublings) const {
        UNROLL for (u32 d = 3; d > 0; d--)
            if (doublings >= d) x = csub(x, (static_cast<Lane>(1) << d) * m.q);
        return x;
    }

    // The product of two forward lanes times 2^-w, in [0, 2q).
    DEVICE Lane point(Lane x, Lane y) const {
        x = csub(csub(x, 8 * m.q), 4 * m.q);
        y = csub(csub(y, 8 * m.q), 4 * m.q);
        return reduce_wide(static_cast<Wide>(x) * y);
    }

    // x * 2^-w in [0, 2q). Bounds: x < q * 2^w.
    DEVICE Lane reduce_wide(Wide x) const {
        Lane high = static_cast<Lane>(x >> (8 * sizeof(Lane)));
        return high - mul_hi(static_cast<Lane>(x) * m.q_inv, m.q) + m.q;
    }

    // A forward lane in [0, q).
    DEVICE Lane factor(Lane x) const { return csub(csub(csub(csub(x, 8 * m.q), 4 * m.q), 2 * m.q), m.q); }
    // A factor times a constant or its negative, in [0, q].
    DEVICE Lane wrapped(Lane x, Zeta zeta, bool negative) const {
        Lane r = m.mul(x, zeta);
        return negative ? m.q - r : r;
    }
    // A sum of at most 16 products of factors: below 16 * q^2.
    struct Sum {
        Wide wide = 0;
        DEVICE void add(const Field&, Lane x, Lane y) { wide += static_cast<Wide>(x) * y; }
        DEVICE Lane finish(const Field& f) const { return f.reduce_wide(wide); }
    };

    DEVICE Lane leave(Lane x) const { return m.mul(x, scale); }
};

DEVICE Zetas table(const void* base, u32) { return static_cast<Zetas>(base); }
