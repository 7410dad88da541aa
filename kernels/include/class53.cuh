// Residues for passes.cuh in double precision, q < 2^50: integers, balanced around 0, exact by fused multiply-add. A
// product is brought to |r| <= (1/2 + X / 8) q for |x| < X q; |x| stays below 4q.
#pragma once

#include "launch.cuh"

typedef double Lane;
typedef double Zeta;
typedef const Zeta* Zetas;

struct Field {
    typedef Lane Factor;
    // Layers that a canonical or reduced lane may go through.
    static constexpr u32 FREE = 4;
    double q, q_inv, scale;
    u64 modulus;

    // The table ends with q, 1/q and n^-1.
    DEVICE Field(const Launch& launch) {
        const double* constants = static_cast<const double*>(launch.zetas) + (1u << launch.log_points);
        q = constants[0], q_inv = constants[1], scale = constants[2];
        modulus = launch.primes[0].q;
    }

    DEVICE Lane enter(u64 coefficient) const {
        return double_of(DOUBLE_HIGH | static_cast<u32>(coefficient >> 32), static_cast<u32>(coefficient)) -
               4503599627370496.0;  // magic: 4503599627370496 == 2^52
    }

    // The nearest integer. Bounds: |x| < 2^51.
    DEVICE static double nearest(double x) {
        const double big = 6755399441055744.0;  // magic: 6755399441055744 == 3 * 2^51
        return x + big - big;
    }
    DEVICE Lane reduce(Lane x) const { return fma_rn(-nearest(x * q_inv), q, x); }

    // x * y modulo q, |x * y| < 4q * q: the high part's quotient, and both parts without rounding.
    DEVICE Lane times(Lane x, Lane y) const {
        double high = x * y, low = fma_rn(x, y, -high);
        return fma_rn(-nearest(high * q_inv), q, high) + low;
    }

    DEVICE Lane begin_forward(Lane x) const { return reduce(x); }
    DEVICE void forward(Lane& x, Lane& y, Zeta zeta) const {
        double t = times(y, zeta);
        y = x - t;
        x = x + t;
    }

    // Lanes start below q and sums double: halfway through four layers they are brought down. A product ends below q, so
    // that only sums of the last layer are brought down.
    template <u32 Layers, u32 Left>
    DEVICE void inverse(Lane& x, Lane& y, Zeta zeta) const {
        double sum = x + y;
        y = times(x - y, zeta);
        x = Left == 3 ? reduce(sum) : sum;
    }
    template <u32 Layers>
    DEVICE Lane end_inverse(Lane x, u32 doublings) const { return doublings ? reduce(x) : x; }

    DEVICE Lane point(Lane x, Lane y) const { return times(reduce(x), y); }

    // For sums of at most 16 products at a point.
    DEVICE Lane factor(Lane x) const { return reduce(x); }
    DEVICE Lane wrapped(Lane x, Zeta zeta, bool negative) const {
        double r = times(x, zeta);
        return negative ? -r : r;
    }
    struct Sum {
        double sum = 0;
        u32 count = 0;
        DEVICE void add(const Field& f, Lane x, Lane y) {
            sum += f.times(x, y);
            if (++count % 4 == 0) sum = f.reduce(sum);
        }
        DEVICE Lane finish(const Field& f) const { return f.reduce(sum); }
    };

    // Scaled, canonical. Bounds: |x| < 2q.
    DEVICE u64 leave(Lane x) const {
        const double big = 6755399441055744.0;  // magic: 6755399441055744 == 3 * 2^51
        u64 r = as_word(times(x, scale) + big) - as_word(big);
        return r + (modulus & (0 - (r >> 63)));
    }
};

DEVICE Zetas table(const void* base, u32) { return static_cast<Zetas>(base); }
