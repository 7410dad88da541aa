// Coefficients in and out: plain residues, or centred integers modulo auxiliary primes that Garner's mixed radix
// brings back.
#pragma once

#include "launch.cuh"

// A coefficient as a residue of one prime.
template <class T, class W>
DEVICE T load_residue(const Launch& launch, const Prime& prime, Modulus<T> m, W coefficient) {
    if (!(launch.flags & FLAG_LIFT)) return static_cast<T>(coefficient);
    u64 c = coefficient;
    T residue = launch.flags & FLAG_WIDE ? m.reduce(static_cast<T>(c)) : static_cast<T>(c);
    // Above q/2 a coefficient stands for a negative integer.
    T negative = static_cast<T>(0 - ((launch.half - c) >> 63));
    return csub(residue + (static_cast<T>(prime.minus_ring) & negative), m.q);
}

// The ring's own modulus.
template <class T>
DEVICE Modulus<T> ring_modulus(const Launch& launch) {
    return Modulus<T>{static_cast<T>(launch.ring_q), 0, static_cast<T>(launch.ring_barrett)};
}

// The integer whose residues `residue(i)` gives, modulo the ring's modulus.
template <class T, class Residue>
DEVICE T garner(const Launch& launch, Residue residue) {
    T digits[MAX_PRIMES];
    Modulus<T> ring = ring_modulus<T>(launch);
    T sum = 0;
    UNROLL for (u32 i = 0; i < MAX_PRIMES; i++) {
        if (i >= launch.prime_count) break;
        const Prime& prime = launch.primes[i];
        Modulus<T> m = prime.modulus<T>();
        T target = m.add(residue(i), static_cast<T>(prime.offset));
        if (i == 0) {
            digits[0] = target;
            sum = ring.reduce(target);
            continue;
        }
        // What the digits so far stand for, modulo this prime, by Horner's rule from the last digit.
        T known = m.reduce(digits[i - 1]);
        UNROLL for (int j = MAX_PRIMES - 2; j >= 0; j--) {
            if (j + 1 < static_cast<int>(i))
                known = m.add(m.mul(known, prime.before[j].as<T>()), m.reduce(digits[j]));
        }
        digits[i] = m.mul(m.sub(target, known), prime.garner.as<T>());
        sum = ring.add(sum, ring.mul(digits[i], prime.weight.as<T>()));
    }
    return sum;
}

// A linear product of 2n - 1 residues modulo f, by one block, from the top in runs whose targets lie below the run.
template <class T, class Lanes>
DEVICE void reduce_by_f(const Launch& launch, Lanes x) {
    Modulus<T> ring = ring_modulus<T>(launch);
    u32 n = launch.n, end = 2 * n - 1;
    if (launch.tail_terms == 0) return;
    u32 highest = static_cast<u32>(launch.tail[0].exponent);
    u32 lowest = static_cast<u32>(launch.tail[launch.tail_terms - 1].exponent);
    while (end > n) {
        u32 start = end > n + (n - highest) ? end - (n - highest) : n;
        // Each target below the run gathers from all terms.
        for (u32 i = start - n + lowest + thread_index(); i < end - n + highest; i += thread_count()) {
            T sum = x.get(i);
            for (u32 t = 0; t < launch.tail_terms; t++) {
                u32 source = i + n - static_cast<u32>(launch.tail[t].exponent);
                if (source >= start && source < end)
                    sum = ring.add(sum, ring.mul(x.get(source), launch.tail[t].factor.as<T>()));
            }
            x.set(i, sum);
        }
        sync_block();
        end = start;
    }
}
