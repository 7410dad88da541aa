// The general path, pass by pass: any ring, any width, any length. Lanes lie as [batch][prime][len], `stride` lanes a
// polynomial.

#include "lift.cuh"
#include "ntt.cuh"
#include "points.cuh"

typedef KARAT_WORD Word;
// How lanes are stored.
typedef KARAT_LANE Lane;

struct Place {
    u64 polynomial;
    u32 prime, index;
};

// A flat index over [batch][prime][lanes].
DEVICE Place place_of(const Launch& launch, u64 flat, u32 lanes) {
    u64 row = flat / lanes;
    return Place{row / launch.prime_count, static_cast<u32>(row % launch.prime_count), static_cast<u32>(flat % lanes)};
}

DEVICE u64 offset_of(const Launch& launch, Place place) {
    return place.polynomial * launch.stride + static_cast<u64>(place.prime) * launch.len;
}

DEVICE const Shoup<Word>* table(const Launch& launch, const void* base, u32 prime) {
    return static_cast<const Shoup<Word>*>(base) + (static_cast<u64>(prime) << launch.log_points);
}

DEVICE u64 first_index() { return static_cast<u64>(block_index()) * thread_count() + thread_index(); }
DEVICE u64 all_threads() { return static_cast<u64>(block_count()) * thread_count(); }

// Coefficients to lanes, zero where a lane has none.
template <class W>
DEVICE void load(const Launch& launch) {
    for (u64 i = first_index(); i < launch.count * launch.prime_count * launch.len; i += all_threads()) {
        Place place = place_of(launch, i, launch.len);
        const Prime& prime = launch.primes[place.prime];
        Word x = 0;
        if (place.index < launch.n)
            x = load_residue<Word>(launch, prime, prime.modulus<Word>(),
                                   static_cast<const W*>(launch.a)[place.polynomial * launch.n + place.index]);
        static_cast<Lane*>(launch.out)[offset_of(launch, place) + place.index] = static_cast<Lane>(x);
    }
}

// Canonical lanes of one modulus to coefficients.
template <class W>
DEVICE void store(const Launch& launch) {
    for (u64 i = first_index(); i < launch.count * launch.n; i += all_threads()) {
        Word x = static_cast<const Lane*>(launch.a)[i / launch.n * launch.stride + i % launch.n];
        static_cast<W*>(launch.out)[i] = static_cast<W>(x);
    }
}

// Canonical residues of all primes to coefficients of the ring, one block a polynomial. `a` is used up.
template <class W>
DEVICE void finish(const Launch& launch) {
    Lane* lanes = static_cast<Lane*>(const_cast<void*>(launch.a)) + block_index() * static_cast<u64>(launch.stride);
    W* out = static_cast<W*>(launch.out) + block_index() * static_cast<u64>(launch.n);
    u32 used = launch.tail_terms ? 2 * launch.n - 1 : launch.n;
    for (u32 i = thread_index(); i < used; i += thread_count())
        lanes[i] = static_cast<Lane>(garner<Word>(launch, [&](u32 prime) { return lanes[static_cast<u64>(prime) * launch.len + i]; }));
    sync_block();
    reduce_by_f<Word>(launch, Global<Word, Lane>{lanes});
    for (u32 i = thread_index(); i < launch.n; i += thread_count()) out[i] = static_cast<W>(lanes[i]);
}

KERNEL(load_u16, Launch) { load<u16>(launch); }
KERNEL(load_u32, Launch) { load<u32>(launch); }
KERNEL(load_u64, Launch) { load<u64>(launch); }
KERNEL(store_u16, Launch) { store<u16>(launch); }
KERNEL(store_u32, Launch) { store<u32>(launch); }
KERNEL(store_u64, Launch) { store<u64>(launch); }
KERNEL(finish_u16, Launch) { finish<u16>(launch); }
KERNEL(finish_u32, Launch) { finish<u32>(launch); }
KERNEL(finish_u64, Launch) { finish<u64>(launch); }

// Lanes times n^-1, canonical.
DEVICE Shoup<Word> scaling(const Launch& launch, const Prime& prime) {
    return (launch.flags & FLAG_MONT ? prime.mont_scale : prime.scale).as<Word>();
}

// Layers [first, last) in global memory, at most three, in place on `out`: for nodes that no block can hold.
KERNEL(forward_pass, Launch) {
    u32 depth = launch.last - launch.first, units = launch.len >> depth;
    for (u64 i = first_index(); i < launch.count * launch.prime_count * units; i += all_threads()) {
        Place place = place_of(launch, i, units);
        Global<Word, Lane> lanes{static_cast<Lane*>(launch.out) + offset_of(launch, place)};
        unit<true, false>(geometry(launch), lanes, place.index, 0, launch.first, launch.first, depth,
                          table(launch, launch.zetas, place.prime), launch.primes[place.prime].modulus<Word>());
    }
}

KERNEL(inverse_pass, Launch) {
    u32 depth = launch.last - launch.first, units = launch.len >> depth;
    for (u64 i = first_index(); i < launch.count * launch.prime_count * units; i += all_threads()) {
        Place place = place_of(launch, i, units);
        Global<Word, Lane> lanes{static_cast<Lane*>(launch.out) + offset_of(launch, place)};
        unit<false, false>(geometry(launch), lanes, place.index, 0, launch.first, launch.first, depth,
                           table(launch, launch.inverse_zetas, place.prime), launch.primes[place.prime].modulus<Word>());
    }
}

// Lazy lanes to canonical ones, in place on `out`: after a forward transform that ends in global memory.
KERNEL(reduce, Launch) {
    for (u64 i = first_index(); i < launch.count * launch.prime_count * launch.len; i += all_threads()) {
        Place place = place_of(launch, i, launch.len);
        Lane* lane = static_cast<Lane*>(launch.out) + offset_of(launch, place) + place.index;
        Modulus<Word> m = launch.primes[place.prime].modulus<Word>();
        *lane = static_cast<Lane>(csub(csub(static_cast<Word>(*lane), 2 * m.q), m.q));
    }
}

// Lanes times n^-1, canonical, in place on `out`.
KERNEL(scale, Launch) {
    for (u64 i = first_index(); i < launch.count * launch.prime_count * launch.len; i += all_threads()) {
        Place place = place_of(launch, i, launch.len);
        const Prime& prime = launch.primes[place.prime];
        Lane* lane = static_cast<Lane*>(launch.out) + offset_of(launch, place) + place.index;
        *lane = static_cast<Lane>(prime.modulus<Word>().mul(*lane, scaling(launch, prime)));
    }
}

// Matrices [rows][columns] times vectors [columns] in the transform domain, a thread a lane; `count` matrix products.
KERNEL(mat_vec, Launch) {
    u64 lanes = launch.count * launch.rows * launch.prime_count * launch.len;
    for (u64 i = first_index(); i < lanes; i += all_threads()) {
        Place place = place_of(launch, i, launch.len);
        u64 item = place.polynomial / launch.rows, row = launch.shared ? place.polynomial % launch.rows : place.polynomial;
        const Prime& prime = launch.primes[place.prime];
        Modulus<Word> m = prime.modulus<Word>();
        u32 point = place.index / launch.width, k = place.index % launch.width;
        u64 inside = static_cast<u64>(place.prime) * launch.len + static_cast<u64>(point) * launch.width;
        const Lane* a = static_cast<const Lane*>(launch.a) + row * launch.columns * launch.stride + inside;
        const Lane* b = static_cast<const Lane*>(launch.b) + item * launch.columns * launch.stride + inside;
        Word x = coefficient<Word>(
            launch.width, launch.columns, k,
            [=](u32 column, u32 j) -> Word { return a[static_cast<u64>(column) * launch.stride + j]; },
            [=](u32 column, u32 j) -> Word { return b[static_cast<u64>(column) * launch.stride + j]; },
            table(launch, launch.slots, place.prime)[point], prime, m);
        if (launch.flags & FLAG_FIX) x = m.mul(x, prime.one.as<Word>());
        static_cast<Lane*>(launch.out)[offset_of(launch, place) + place.index] = static_cast<Lane>(x);
    }
}

// Four lanes of 16 bits.
DEVICE void load_four(const Lane* at, u32 (&x)[4]) {
    Two two = *reinterpret_cast<const Two*>(at);
    x[0] = two.a & 0xffff, x[1] = two.a >> 16, x[2] = two.b & 0xffff, x[3] = two.b >> 16;
}

// As mat_vec for one modulus, lanes of 16 bits and 1, 2 or 4 of them at a point, a thread for four lanes of all rows;
// `count` items, and few enough columns for sums without a reduction between. COLUMNS is their number where it is known,
// so that loads do not wait for each other, else 0.
template <u32 WIDTH, u32 COLUMNS>
DEVICE void mat_vec_of_four(const Launch& launch) {
    const u32 columns = COLUMNS ? COLUMNS : launch.columns;
    const Prime& prime = launch.primes[0];
    Modulus<u32> m = prime.modulus<u32>();
    Shoup<u32> one = prime.one.as<u32>();
    u32 fours = launch.len / 4;
    for (u64 i = first_index(); i < launch.count * fours; i += all_threads()) {
        u64 item = i / fours;
        u32 inside = i % fours * 4;
        const Lane* vector = static_cast<const Lane*>(launch.b) + item * columns * launch.stride + inside;
        u32 kept[COLUMNS ? COLUMNS : 1][4];
        UNROLL for (u32 column = 0; column < COLUMNS; column++) load_four(vector + column * launch.stride, kept[column]);
        for (u32 row = 0; row < launch.rows; row++) {
            u64 entry = ((launch.shared ? 0 : item * launch.rows) + row) * columns;
            const Lane* matrix = static_cast<const Lane*>(launch.a) + entry * launch.stride + inside;
            u64 low[4] = {}, wrapped[4] = {};
            UNROLL for (u32 column = 0; column < columns; column++) {
                u32 a[4], b[4];
                load_four(matrix + static_cast<u64>(column) * launch.stride, a);
                if (!COLUMNS) load_four(vector + static_cast<u64>(column) * launch.stride, b);
                UNROLL for (u32 k = 0; k < 4; k++) {
                    UNROLL for (u32 j = 0; j < WIDTH; j++) {
                        const u32 base = k / WIDTH * WIDTH, other = base + (k % WIDTH + WIDTH - j) % WIDTH;
                        u64 product = static_cast<u64>(a[base + j]) * (COLUMNS ? kept[COLUMNS ? column : 0][other] : b[other]);
                        if (j <= k % WIDTH) low[k] += product;
                        else wrapped[k] += product;
                    }
                }
            }
            u32 out[4];
            UNROLL for (u32 k = 0; k < 4; k++) {
                out[k] = m.redc(low[k]);
                if (k % WIDTH + 1 < WIDTH) {
                    Shoup<u32> slot = static_cast<const Shoup<u32>*>(launch.slots)[(inside + k) / WIDTH];
                    out[k] = m.add(out[k], m.mul(m.redc(wrapped[k]), slot));
                }
                if (launch.flags & FLAG_FIX) out[k] = m.mul(out[k], one);
            }
            Lane* to = static_cast<Lane*>(launch.out) + (item * launch.rows + row) * launch.stride + inside;
            *reinterpret_cast<Two*>(to) = Two{out[0] | out[1] << 16, out[2] | out[3] << 16};
        }
    }
}

template <u32 WIDTH>
DEVICE void mat_vec_of_width(const Launch& launch) {
    if (launch.columns == 2) mat_vec_of_four<WIDTH, 2>(launch);
    else if (launch.columns == 3) mat_vec_of_four<WIDTH, 3>(launch);
    else if (launch.columns == 4) mat_vec_of_four<WIDTH, 4>(launch);
    else mat_vec_of_four<WIDTH, 0>(launch);
}

KERNEL(mat_vec_four, Launch) {
    if constexpr (sizeof(Lane) == 2) {
        if (launch.width == 1) mat_vec_of_width<1>(launch);
        if (launch.width == 2) mat_vec_of_width<2>(launch);
        if (launch.width == 4) mat_vec_of_width<4>(launch);
    }
}

// Factors times 2^w, for products that need no correction.
KERNEL(prepare, Launch) {
    for (u64 i = first_index(); i < launch.count * launch.prime_count * launch.len; i += all_threads()) {
        Place place = place_of(launch, i, launch.len);
        const Prime& prime = launch.primes[place.prime];
        u64 at = offset_of(launch, place) + place.index;
        static_cast<Lane*>(launch.out)[at] = static_cast<Lane>(
            prime.modulus<Word>().mul(static_cast<const Lane*>(launch.a)[at], prime.one.as<Word>()));
    }
}

// 64-bit words, `count` of them.
KERNEL(copy, Launch) {
    for (u64 i = first_index(); i < launch.count; i += all_threads())
        static_cast<u64*>(launch.out)[i] = static_cast<const u64*>(launch.a)[i];
}
