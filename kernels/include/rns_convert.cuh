// Base conversion: a thread reads the digits of a few neighbouring coefficients once and makes all their residues.
#pragma once

#include "rns_pack.cuh"

// Digits that stay in registers; more are read again for each target.
constexpr u32 KEPT_DIGITS = 16;

// Converts the coefficients of one pack of polynomial `poly` to the targets from `first` up to `last`.
template <class W>
DEVICE void convert(const RnsLaunch& launch, u32 poly, u32 lane, u32 first, u32 last) {
    typedef PackOf<W> Pack;
    const RnsConvert& c = launch.convert;
    u32 begin = poly * c.source_step, count = smaller(c.width, c.source_total - begin);
    const W* words = static_cast<const W*>(c.digits) + (static_cast<u64>(poly * c.digit_stride) << launch.log_n) + lane;
    auto read = [&](u32 i) { return *reinterpret_cast<const Pack*>(words + (static_cast<u64>(i) << launch.log_n)); };
    Pack kept[KEPT_DIGITS];
    UNROLL for (u32 i = 0; i < KEPT_DIGITS; i++)
        if (i < count) kept[i] = read(i);

    // The multiple of the sources' product that makes the result the centred one.
    W multiples[Pack::COUNT] = {};
    if (c.exact) {
        double fractions[Pack::COUNT] = {};
        auto weigh = [&](u32 i, const Pack& y) {
            double reciprocal = load_constant(c.reciprocals + begin + i);
            // Every backend adds in this order, each step rounded once.
            UNROLL for (u32 l = 0; l < Pack::COUNT; l++)
                fractions[l] = add_rn(fractions[l], mul_rn(static_cast<double>(y.words[l]), reciprocal));
        };
        UNROLL for (u32 i = 0; i < KEPT_DIGITS; i++)
            if (i < count) weigh(i, kept[i]);
        for (u32 i = KEPT_DIGITS; i < count; i++) weigh(i, read(i));
        u64 half = c.halves[begin];
        UNROLL for (u32 l = 0; l < Pack::COUNT; l++) {
            u64 above = half < kept[0].words[l];
            multiples[l] = static_cast<W>(count == 1 ? above : static_cast<u64>(add_rn(fractions[l], 0.5)));
        }
    }

    for (u32 target = first; target < last; target++) {
        if (c.own && target - begin < c.source_step && target < launch.q_limbs) continue;
        u32 row = poly * c.table_step + target;
        const u64* factors = c.factors + row * c.width;
        Modulus<W> m = launch.primes[c.targets[target]].template modulus<W>();
        Sum<W> sums[Pack::COUNT];
        auto add = [&](u32 i, const Pack& y) {
            W factor = static_cast<W>(load_constant(factors + i));
            UNROLL for (u32 l = 0; l < Pack::COUNT; l++) {
                sums[l].add(y.words[l], factor);
                if ((i + 1) % Sum<W>::ROOM == 0) sums[l].settle(m.q);
            }
        };
        UNROLL for (u32 i = 0; i < KEPT_DIGITS; i++)
            if (i < count) add(i, kept[i]);
        for (u32 i = KEPT_DIGITS; i < count; i++) add(i, read(i));
        W correction = c.exact ? static_cast<W>(load_constant(c.minus_products + row)) : 0;
        Pack out;
        UNROLL for (u32 l = 0; l < Pack::COUNT; l++) {
            // Some units of it: far below a product.
            sums[l].add(multiples[l], correction);
            sums[l].settle(m.q);
            out.words[l] = m.redc(sums[l].value);
        }
        *reinterpret_cast<Pack*>(limb_of<W>(launch, launch.out, poly, target) + lane) = out;
    }
}
