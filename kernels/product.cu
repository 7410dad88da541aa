// Transforms and products of whole polynomials in one launch each: a block holds a polynomial in shared memory.

#include "lift.cuh"
#include "ntt.cuh"
#include "points.cuh"

typedef KARAT_WORD Word;
// How lanes are stored.
typedef KARAT_LANE Lane;

DEVICE const Shoup<Word>* table(const Launch& launch, const void* base, u32 prime) {
    return static_cast<const Shoup<Word>*>(base) + (static_cast<u64>(prime) << launch.log_points);
}

template <class W>
DEVICE void load(const Launch& launch, const W* coefficients, const Prime& prime, Modulus<Word> m, Padded<Word> x) {
    for (u32 i = thread_index(); i < launch.len; i += thread_count())
        x.set(i, i < launch.n ? load_residue<Word>(launch, prime, m, coefficients[i]) : 0);
}

// Scaled lanes of all primes to coefficients; `region` words apart.
template <class W>
DEVICE void unload(const Launch& launch, Word* shared, u32 region, W* out) {
    Padded<Word> x{shared};
    if (launch.flags & FLAG_LIFT) {
        u32 used = launch.tail_terms ? 2 * launch.n - 1 : launch.n;
        for (u32 i = thread_index(); i < used; i += thread_count())
            x.set(i, garner<Word>(launch, [&](u32 prime) { return Padded<Word>{shared + prime * region}.get(i); }));
        sync_block();
        reduce_by_f<Word>(launch, x);
    }
    for (u32 i = thread_index(); i < launch.n; i += thread_count()) out[i] = static_cast<W>(x.get(i));
}

DEVICE void scale(const Launch& launch, const Prime& prime, Modulus<Word> m, Padded<Word> x) {
    Shoup<Word> factor = (launch.flags & FLAG_MONT ? prime.mont_scale : prime.scale).as<Word>();
    for (u32 i = thread_index(); i < launch.len; i += thread_count()) x.set(i, m.mul(x.get(i), factor));
    sync_block();
}

// Forward transform, one block for each polynomial and prime.
template <class W>
DEVICE void forward(const Launch& launch) {
    DYN_SHARED(Word, shared);
    Padded<Word> x{shared};
    u64 polynomial = block_index() / launch.prime_count;
    u32 index = block_index() % launch.prime_count;
    const Prime& prime = launch.primes[index];
    Modulus<Word> m = prime.modulus<Word>();
    load(launch, static_cast<const W*>(launch.a) + polynomial * launch.n, prime, m, x);
    sync_block();
    forward_layers_of(launch, geometry(launch), x, 0, 0, launch.log_points, table(launch, launch.zetas, index), m);
    Lane* out = static_cast<Lane*>(launch.out) + polynomial * launch.stride + static_cast<u64>(index) * launch.len;
    for (u32 i = thread_index(); i < launch.len; i += thread_count()) out[i] = static_cast<Lane>(reduce_lazy(launch, x.get(i), m));
}

// Inverse transform, one block for each polynomial with all its primes.
template <class W>
DEVICE void inverse(const Launch& launch) {
    DYN_SHARED(Word, shared);
    u32 region = padded(launch.len);
    const Lane* lanes = static_cast<const Lane*>(launch.a) + block_index() * static_cast<u64>(launch.stride);
    for (u32 p = 0; p < launch.prime_count; p++) {
        Padded<Word> x{shared + p * region};
        const Prime& prime = launch.primes[p];
        Modulus<Word> m = prime.modulus<Word>();
        for (u32 i = thread_index(); i < launch.len; i += thread_count())
            x.set(i, lanes[static_cast<u64>(p) * launch.len + i]);
        sync_block();
        inverse_layers_of(launch, geometry(launch), x, 0, 0, launch.log_points, table(launch, launch.inverse_zetas, p), m);
        scale(launch, prime, m, x);
    }
    unload(launch, shared, region, static_cast<W*>(launch.out) + block_index() * static_cast<u64>(launch.n));
}

// Whole product, one block a product. Shared memory: a region for each prime, one for the second factor, and where
// the width is above 1 one for the result.
template <class W>
DEVICE void product(const Launch& launch) {
    DYN_SHARED(Word, shared);
    u32 region = padded(launch.len), count = launch.prime_count;
    u64 first = block_index() * static_cast<u64>(launch.n);
    Padded<Word> b{shared + count * region};
    for (u32 p = 0; p < count; p++) {
        Padded<Word> out{shared + p * region};
        Padded<Word> a = launch.width == 1 ? out : Padded<Word>{shared + (count + 1) * region};
        const Prime& prime = launch.primes[p];
        Modulus<Word> m = prime.modulus<Word>();
        const Shoup<Word>* zetas = table(launch, launch.zetas, p);
        load(launch, static_cast<const W*>(launch.a) + first, prime, m, a);
        load(launch, static_cast<const W*>(launch.b) + first, prime, m, b);
        sync_block();
        forward_layers_of(launch, geometry(launch), a, 0, 0, launch.log_points, zetas, m);
        forward_layers_of(launch, geometry(launch), b, 0, 0, launch.log_points, zetas, m);
        for (u32 i = thread_index(); i < launch.len; i += thread_count()) {
            a.set(i, reduce_lazy(launch, a.get(i), m));
            b.set(i, reduce_lazy(launch, b.get(i), m));
        }
        sync_block();
        const Shoup<Word>* slots = table(launch, launch.slots, p);
        for (u32 i = thread_index(); i < launch.len; i += thread_count()) {
            Split place = split_by(geometry(launch), i, 0);
            u32 base = i - place.rest;
            out.set(i, coefficient<Word>(
                           launch.width, 1, place.rest, [=](u32, u32 j) { return a.get(base + j); },
                           [=](u32, u32 j) { return b.get(base + j); }, slots[place.quotient], prime, m));
        }
        sync_block();
        inverse_layers_of(launch, geometry(launch), out, 0, 0, launch.log_points, table(launch, launch.inverse_zetas, p), m);
        scale(launch, prime, m, out);
    }
    unload(launch, shared, region, static_cast<W*>(launch.out) + first);
}

KERNEL(forward_u16, Launch) { forward<u16>(launch); }
KERNEL(forward_u32, Launch) { forward<u32>(launch); }
KERNEL(forward_u64, Launch) { forward<u64>(launch); }
KERNEL(inverse_u16, Launch) { inverse<u16>(launch); }
KERNEL(inverse_u32, Launch) { inverse<u32>(launch); }
KERNEL(inverse_u64, Launch) { inverse<u64>(launch); }
KERNEL(product_u16, Launch) { product<u16>(launch); }
KERNEL(product_u32, Launch) { product<u32>(launch); }
KERNEL(product_u64, Launch) { product<u64>(launch); }
