// Base conversion: a thread reads the digits of a few neighbouring coefficients once and makes all their residues;
// factors lie in shared memory.
#pragma once

#include "rns_pack.cuh"

// A conversion of one polynomial to the targets from `first` up to `last`.
template <class W>
struct Converter {
    typedef PackOf<W> Pack;
    static constexpr u32 COUNT = Pack::COUNT;

    const RnsLaunch& launch;
    const RnsConvert& c;
    // A row of `stride` words a target: the factors, zeros up to a whole pack, then the correction, q and q_inv.
    static constexpr u32 TAIL = 4;
    W* factors;
    u32 poly, begin, count, first, last, padded, stride;
    const W* digits;

    DEVICE Converter(const RnsLaunch& launch, W* shared, u32 poly, u32 first, u32 last)
        : launch(launch), c(launch.convert), factors(shared), poly(poly), begin(poly * c.source_step),
          count(smaller(c.width, c.source_total - begin)), first(first), last(last),
          padded((c.width + COUNT - 1) / COUNT * COUNT), stride(padded + TAIL),
          digits(static_cast<const W*>(c.digits) + (static_cast<u64>(poly * c.digit_stride) << launch.log_n)) {}

    // By all threads of the block.
    DEVICE void load_factors() const {
        u32 rows = last > first ? last - first : 0;
        for (u32 at = thread_index(); at < rows * stride; at += thread_count()) {
            u32 row = poly * c.table_step + first + at / stride, i = at % stride;
            const RnsPrime& prime = launch.primes[c.targets[first + at / stride]];
            u64 value = 0;
            if (i < count) value = load_constant(c.factors + row * c.width + i);
            if (i == padded && c.exact) value = load_constant(c.minus_products + row);
            if (i == padded + 1) value = prime.q;
            if (i == padded + 2) value = prime.q_inv;
            factors[at] = static_cast<W>(value);
        }
    }

    DEVICE Pack digit(u32 i, u32 lane) const {
        Pack zero = {};
        return i < count ? *reinterpret_cast<const Pack*>(digits + (static_cast<u64>(i) << launch.log_n) + lane) : zero;
    }

    // Adds a digit's share of the sources' product. Every backend adds in this order, each step rounded once.
    DEVICE void weigh(double* fractions, u32 i, const Pack& y) const {
        double reciprocal = load_constant(c.reciprocals + begin + i);
        UNROLL for (u32 l = 0; l < COUNT; l++)
            fractions[l] = add_rn(fractions[l], mul_rn(static_cast<double>(y.words[l]), reciprocal));
    }

    // The multiples of the sources' product that make results the centred ones; `alone` is the first digit.
    DEVICE Pack multiples(const double* fractions, const Pack& alone) const {
        Pack out = {};
        if (!c.exact) return out;
        u64 half = c.halves[begin];
        UNROLL for (u32 l = 0; l < COUNT; l++) {
            u64 above = half < alone.words[l];
            out.words[l] = static_cast<W>(count == 1 ? above : static_cast<u64>(add_rn(fractions[l], 0.5)));
        }
        return out;
    }

    // Adds the products of COUNT digits and factors from the i-th on to sums.
    template <class Read>
    DEVICE void add(Sum<W>* sums, const W* row, u32 i, W q, const Read& read) const {
        Pack factor = *reinterpret_cast<const Pack*>(row + i);
        UNROLL for (u32 j = 0; j < COUNT; j++) {
            Pack y = read(i + j);
            UNROLL for (u32 l = 0; l < COUNT; l++) {
                sums[l].add(y.words[l], factor.words[j]);
                if ((j + 1) % Sum<W>::ROOM == 0 || j + 1 == COUNT) sums[l].settle(q);
            }
        }
    }

    DEVICE bool skips(u32 target) const {
        return c.own && target - begin < c.source_step && target < launch.q_limbs;
    }

    DEVICE Modulus<W> modulus(const W* row) const { return Modulus<W>{row[padded + 1], row[padded + 2], 0}; }

    DEVICE void finish(u32 target, u32 lane, Sum<W>* sums, const W* row, const Pack& multiples, const Modulus<W>& m) const {
        Pack out;
        UNROLL for (u32 l = 0; l < COUNT; l++) {
            // Some units of it: far below a product.
            sums[l].add(multiples.words[l], row[padded]);
            sums[l].settle(m.q);
            out.words[l] = m.redc(sums[l].value);
        }
        *reinterpret_cast<Pack*>(limb_of<W>(launch, launch.out, poly, target) + lane) = out;
    }

    // With up to KEPT digits in registers.
    template <u32 KEPT>
    DEVICE void convert(u32 lane) const {
        Pack kept[KEPT];
        UNROLL for (u32 i = 0; i < KEPT; i++) kept[i] = digit(i, lane);
        double fractions[COUNT] = {};
        UNROLL for (u32 i = 0; i < KEPT; i++) {
            if (c.exact && i < count) weigh(fractions, i, kept[i]);
        }
        Pack multiple = multiples(fractions, kept[0]);
        for (u32 target = first; target < last; target++) {
            if (skips(target)) continue;
            const W* row = factors + (target - first) * stride;
            Modulus<W> m = modulus(row);
            Sum<W> sums[COUNT];
            UNROLL for (u32 i = 0; i < KEPT; i += COUNT) {
                if (i < padded) add(sums, row, i, m.q, [&](u32 j) { return kept[j]; });
            }
            finish(target, lane, sums, row, multiple, m);
        }
    }

    // With more digits than registers hold: read again for each target.
    DEVICE void convert_many(u32 lane) const {
        auto read = [&](u32 i) { return digit(i, lane); };
        double fractions[COUNT] = {};
        for (u32 i = 0; c.exact && i < count; i++) weigh(fractions, i, read(i));
        Pack multiple = multiples(fractions, read(0));
        for (u32 target = first; target < last; target++) {
            if (skips(target)) continue;
            const W* row = factors + (target - first) * stride;
            Modulus<W> m = modulus(row);
            Sum<W> sums[COUNT];
            for (u32 i = 0; i < padded; i += COUNT) add(sums, row, i, m.q, read);
            finish(target, lane, sums, row, multiple, m);
        }
    }
};
