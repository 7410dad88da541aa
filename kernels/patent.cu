// The k-NTT step by step, one kernel a step, each with the meaning of the function of the same name in
// src/ring/kntt.rs. Values between the steps are canonical and lie as [batch][part][n].

#include "ntt.cuh"

typedef KARAT_WORD Word;

DEVICE u64 first_index() { return static_cast<u64>(block_index()) * thread_count() + thread_index(); }
DEVICE u64 all_threads() { return static_cast<u64>(block_count()) * thread_count(); }

DEVICE Modulus<Word> modulus(const Launch& launch) { return launch.primes[0].modulus<Word>(); }

DEVICE const Word* words(const void* base) { return static_cast<const Word*>(base); }
DEVICE Word* words(void* base) { return static_cast<Word*>(base); }

// Coefficient j of part i is coefficient j * parts + i. `width` parts of n = 2^log_points coefficients.
template <class W>
DEVICE void split(const Launch& launch) {
    for (u64 i = first_index(); i < launch.count * launch.n; i += all_threads()) {
        u64 polynomial = i / launch.n;
        u32 inside = i % launch.n, part = inside >> launch.log_points, j = inside & ((1u << launch.log_points) - 1);
        words(launch.out)[i] =
            static_cast<const W*>(launch.a)[polynomial * launch.n + static_cast<u64>(j) * launch.width + part];
    }
}

template <class W>
DEVICE void interleave(const Launch& launch) {
    for (u64 i = first_index(); i < launch.count * launch.n; i += all_threads()) {
        u64 polynomial = i / launch.n;
        u32 inside = i % launch.n, j = inside / launch.width, part = inside % launch.width;
        u64 source = polynomial * launch.n + (static_cast<u64>(part) << launch.log_points) + j;
        static_cast<W*>(launch.out)[i] = static_cast<W>(words(launch.a)[source]);
    }
}

KERNEL(split_u16, Launch) { split<u16>(launch); }
KERNEL(split_u32, Launch) { split<u32>(launch); }
KERNEL(split_u64, Launch) { split<u64>(launch); }
KERNEL(interleave_u16, Launch) { interleave<u16>(launch); }
KERNEL(interleave_u32, Launch) { interleave<u32>(launch); }
KERNEL(interleave_u64, Launch) { interleave<u64>(launch); }

// One block a sub-polynomial, n/2 threads, two values a thread, log2 n layers in shared memory; in place on `out`.
KERNEL(transform, Launch) {
    DYN_SHARED(Word, x);
    u32 n = 1u << launch.log_points, t = thread_index();
    Word* part = words(launch.out) + (static_cast<u64>(block_index()) << launch.log_points);
    const Shoup<Word>* zetas = static_cast<const Shoup<Word>*>(launch.zetas);
    Modulus<Word> m = modulus(launch);
    for (u32 i = t; i < n; i += thread_count()) x[i] = part[i];
    sync_block();
    for (u32 layer = 0; layer < launch.log_points; layer++) {
        u32 log_half = launch.log_points - 1 - layer, node = t >> log_half;
        u32 i = (node << (log_half + 1)) + (t & ((1u << log_half) - 1)), j = i + (1u << log_half);
        Word low = csub(x[i], 2 * m.q), product = m.mul_lazy(x[j], zetas[(1u << layer) + node]);
        x[i] = low + product;
        x[j] = low - product + 2 * m.q;
        sync_block();
    }
    for (u32 i = t; i < n; i += thread_count()) part[i] = csub(csub(x[i], 2 * m.q), m.q);
}

// The same layers backwards; n^-1 is multiplied in the final store.
KERNEL(inverse, Launch) {
    DYN_SHARED(Word, x);
    u32 n = 1u << launch.log_points, t = thread_index();
    Word* part = words(launch.out) + (static_cast<u64>(block_index()) << launch.log_points);
    const Shoup<Word>* zetas = static_cast<const Shoup<Word>*>(launch.inverse_zetas);
    Modulus<Word> m = modulus(launch);
    for (u32 i = t; i < n; i += thread_count()) x[i] = part[i];
    sync_block();
    for (u32 layer = launch.log_points; layer-- > 0;) {
        u32 log_half = launch.log_points - 1 - layer, node = t >> log_half;
        u32 i = (node << (log_half + 1)) + (t & ((1u << log_half) - 1)), j = i + (1u << log_half);
        Word low = x[i], high = x[j];
        x[i] = csub(low + high, 2 * m.q);
        x[j] = m.mul_lazy(low - high + 2 * m.q, zetas[(1u << layer) + node]);
        sync_block();
    }
    for (u32 i = t; i < n; i += thread_count()) part[i] = m.mul(x[i], launch.primes[0].scale.as<Word>());
}

// P_ii of all parts: [batch][part][n].
KERNEL(pointwise, Launch) {
    Modulus<Word> m = modulus(launch);
    for (u64 i = first_index(); i < launch.count * launch.n; i += all_threads())
        words(launch.out)[i] = m.mul(words(launch.a)[i], words(launch.b)[i], launch.primes[0].one.as<Word>());
}

// A launch block with a third operand.
struct Cross {
    Launch launch;
    const void* third;
};

static_assert(sizeof(Cross) == KARAT_SIZEOF_CROSS, "Cross is laid out differently in Rust");

// Pairs i < j in the order (0,1), (0,2), ..., (1,2), ...
DEVICE u32 pair_index(u32 parts, u32 i, u32 j) { return i * parts - i * (i + 1) / 2 + (j - i - 1); }

// P_ij for i < j by Karatsuba: [batch][pair][n]; the P_ii come in `third`.
KERNEL(cross, Cross) {
    const Launch& l = launch.launch;
    Modulus<Word> m = modulus(l);
    Shoup<Word> one = l.primes[0].one.as<Word>();
    u32 parts = l.width, pairs = parts * (parts - 1) / 2;
    for (u64 at = first_index(); at < (l.count * pairs) << l.log_points; at += all_threads()) {
        u64 row = at >> l.log_points, polynomial = row / pairs;
        u32 t = at & ((1u << l.log_points) - 1), i = 0, j = static_cast<u32>(row % pairs);
        while (j >= parts - 1 - i) j -= parts - 1 - i++;
        j += i + 1;
        u64 at_i = ((polynomial * parts + i) << l.log_points) + t, at_j = ((polynomial * parts + j) << l.log_points) + t;
        Word f = m.add(words(l.a)[at_i], words(l.a)[at_j]), g = m.add(words(l.b)[at_i], words(l.b)[at_j]);
        Word sum = m.mul(f, g, one);
        words(l.out)[at] = m.sub(m.sub(sum, words(launch.third)[at_i]), words(launch.third)[at_j]);
    }
}

// The sum over i <= j, i + j = degree of P_ij at point t.
DEVICE Word diagonal(const Launch& launch, Modulus<Word> m, u64 polynomial, u32 degree, u32 t) {
    u32 parts = launch.width, pairs = parts * (parts - 1) / 2;
    Word sum = 0;
    for (u32 i = degree < parts ? 0 : degree - (parts - 1); 2 * i <= degree; i++) {
        u32 j = degree - i;
        Word p = i == j ? words(launch.a)[((polynomial * parts + i) << launch.log_points) + t]
                        : words(launch.b)[((polynomial * pairs + pair_index(parts, i, j)) << launch.log_points) + t];
        sum = m.add(sum, p);
    }
    return sum;
}

// Z_k = Y o sum of P_ij over i + j = k + parts, k < parts - 1: [batch][k][n]. a = P_ii, b = P_ij.
KERNEL(wrap, Launch) {
    Modulus<Word> m = modulus(launch);
    const Shoup<Word>* slots = static_cast<const Shoup<Word>*>(launch.slots);
    u32 wraps = launch.width - 1;
    for (u64 at = first_index(); at < (launch.count * wraps) << launch.log_points; at += all_threads()) {
        u64 row = at >> launch.log_points;
        u32 t = at & ((1u << launch.log_points) - 1);
        Word sum = diagonal(launch, m, row / wraps, static_cast<u32>(row % wraps) + launch.width, t);
        words(launch.out)[at] = m.mul(sum, slots[t]);
    }
}

// Q_k = Z_k + sum of P_ij over i + j = k: [batch][k][n]; the Z_k come in `third`.
KERNEL(knttmul, Cross) {
    const Launch& l = launch.launch;
    Modulus<Word> m = modulus(l);
    u32 parts = l.width;
    for (u64 at = first_index(); at < l.count * l.n; at += all_threads()) {
        u64 row = at >> l.log_points, polynomial = row / parts;
        u32 t = at & ((1u << l.log_points) - 1), k = static_cast<u32>(row % parts);
        Word q = diagonal(l, m, polynomial, k, t);
        if (k + 1 < parts) {
            u64 z = ((polynomial * (parts - 1) + k) << l.log_points) + t;
            q = m.add(q, words(launch.third)[z]);
        }
        words(l.out)[at] = q;
    }
}
