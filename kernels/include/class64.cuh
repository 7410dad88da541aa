// Residues for large.cu in 64-bit words: Shoup's multiplication by constants. q < 2^60: lanes stay below 16q.
#pragma once

typedef u64 Lane;
typedef Shoup<u64> Zeta;

struct Field {
    Modulus<u64> m;
    Shoup<u64> scale;

    DEVICE Field(const Launch& launch)
        : m(launch.primes[0].modulus<u64>()), scale(launch.primes[0].mont_scale.as<u64>()) {}

    DEVICE Lane enter(u64 coefficient) const { return coefficient; }

    // Forward: [0, 16q) in and out, brought below 8q once in up to four layers.
    DEVICE Lane begin_forward(Lane x) const { return csub(x, 8 * m.q); }
    DEVICE void forward(Lane& x, Lane& y, Zeta zeta) const {
        u64 t = m.mul_lazy(y, zeta);
        y = x - t + 2 * m.q;
        x = x + t;
    }

    // Inverse: sums double from 2q in the last three of up to four layers; `Left` counts down to 1.
    template <u32 Layers, u32 Left>
    DEVICE void inverse(Lane& x, Lane& y, Zeta zeta) const {
        constexpr u32 doubled = Layers - Left - (Layers == 4 && Left < 4 ? 1 : 0);
        const u64 bound = (2ull << doubled) * m.q;
        u64 sum = x + y;
        y = m.mul_lazy(x - y + bound, zeta);
        x = Layers == 4 && Left == 4 ? csub(sum, 2 * m.q) : sum;
    }
    // Brings a sum that doubled that often, at most three times, below 2q.
    DEVICE Lane end_inverse(Lane x, u32 doublings) const {
        UNROLL for (u32 d = 3; d > 0; d--)
            if (doublings >= d) x = csub(x, (1ull << d) * m.q);
        return x;
    }

    // The product of two forward lanes times 2^-64, in [0, 2q).
    DEVICE Lane point(Lane x, Lane y) const {
        x = csub(csub(x, 8 * m.q), 4 * m.q);
        y = csub(csub(y, 8 * m.q), 4 * m.q);
        u128 wide = static_cast<u128>(x) * y;
        return static_cast<u64>(wide >> 64) - mul_hi(static_cast<u64>(wide) * m.q_inv, m.q) + m.q;
    }

    DEVICE u64 leave(Lane x) const { return m.mul(x, scale); }
};
