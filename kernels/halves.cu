// Transforms and products in two halves, for polynomials that one block cannot hold: the first layers by columns, the
// others by nodes. A product takes four launches: columns of both factors, nodes of both with the products at their
// points and the way back, columns of the result.
//
// Layer `first` has 2^first nodes of L lanes. A column takes one lane of each: the first layers of `rows` = 2^first
// lanes, L apart. Lanes between the halves are lazy.

#include "lift.cuh"
#include "ntt.cuh"
#include "points.cuh"

typedef KARAT_WORD Word;

// Where a block of columns works: `columns` of them, side by side.
struct Columns {
    u64 polynomial;
    u32 prime, begin, count, rows, distance;
    Geometry geometry;
};

DEVICE Columns columns_of(const Launch& launch) {
    u32 distance = launch.width << (launch.log_points - launch.first);
    u32 blocks = (distance + launch.columns - 1) / launch.columns;
    u32 row = block_index() / blocks, begin = block_index() % blocks * launch.columns;
    u32 count = distance - begin < launch.columns ? distance - begin : launch.columns;
    bool whole = count == launch.columns && (count & (count - 1)) == 0;
    u32 log_count = 0;
    while (whole && (1u << log_count) < count) log_count++;
    return Columns{row / launch.prime_count, row % launch.prime_count, begin, count, 1u << launch.first, distance,
                   Geometry{launch.first, count, whole ? log_count : NOT_A_POWER}};
}

DEVICE const Shoup<Word>* table(const Launch& launch, const void* base, u32 prime) {
    return static_cast<const Shoup<Word>*>(base) + (static_cast<u64>(prime) << launch.log_points);
}

DEVICE u64 offset_of(const Launch& launch, u64 polynomial, u32 prime) {
    return polynomial * launch.stride + static_cast<u64>(prime) * launch.len;
}

// The index of a lane of a column in the polynomial.
DEVICE u32 lane_index(const Columns& c, u32 i) {
    Split place = split_by(c.geometry, i, 0);
    return place.quotient * c.distance + c.begin + place.rest;
}

template <class W>
DEVICE void forward_columns(const Launch& launch) {
    DYN_SHARED(Word, shared);
    Padded<Word> x{shared};
    Columns c = columns_of(launch);
    const Prime& prime = launch.primes[c.prime];
    Modulus<Word> m = prime.modulus<Word>();
    const W* coefficients = static_cast<const W*>(launch.a) + c.polynomial * launch.n;
    for (u32 i = thread_index(); i < c.rows * c.count; i += thread_count()) {
        u32 lane = lane_index(c, i);
        x.set(i, lane < launch.n ? load_residue<Word>(launch, prime, m, coefficients[lane]) : 0);
    }
    sync_block();
    forward_layers_of(launch, c.geometry, x, 0, 0, launch.first, table(launch, launch.zetas, c.prime), m);
    Word* out = static_cast<Word*>(launch.out) + offset_of(launch, c.polynomial, c.prime);
    for (u32 i = thread_index(); i < c.rows * c.count; i += thread_count()) out[lane_index(c, i)] = x.get(i);
}

// Ends an inverse: scaled, canonical. Without a lift the results are coefficients, else residues on `out`.
template <class W>
DEVICE void inverse_columns(const Launch& launch) {
    DYN_SHARED(Word, shared);
    Padded<Word> x{shared};
    Columns c = columns_of(launch);
    const Prime& prime = launch.primes[c.prime];
    Modulus<Word> m = prime.modulus<Word>();
    u64 offset = offset_of(launch, c.polynomial, c.prime);
    const Word* lanes = static_cast<const Word*>(launch.a) + offset;
    for (u32 i = thread_index(); i < c.rows * c.count; i += thread_count()) x.set(i, lanes[lane_index(c, i)]);
    sync_block();
    inverse_layers_of(launch, c.geometry, x, 0, 0, launch.first, table(launch, launch.inverse_zetas, c.prime), m);
    Shoup<Word> factor = (launch.flags & FLAG_MONT ? prime.mont_scale : prime.scale).as<Word>();
    for (u32 i = thread_index(); i < c.rows * c.count; i += thread_count()) {
        Word result = m.mul(x.get(i), factor);
        u32 lane = lane_index(c, i);
        if (launch.flags & FLAG_LIFT) static_cast<Word*>(launch.out)[offset + lane] = result;
        else static_cast<W*>(launch.out)[c.polynomial * launch.n + lane] = static_cast<W>(result);
    }
}

KERNEL(forward_columns_u16, Launch) { forward_columns<u16>(launch); }
KERNEL(forward_columns_u32, Launch) { forward_columns<u32>(launch); }
KERNEL(forward_columns_u64, Launch) { forward_columns<u64>(launch); }
KERNEL(inverse_columns_u16, Launch) { inverse_columns<u16>(launch); }
KERNEL(inverse_columns_u32, Launch) { inverse_columns<u32>(launch); }
KERNEL(inverse_columns_u64, Launch) { inverse_columns<u64>(launch); }

// Where a block works on a node.
struct Node {
    u32 prime, node, lanes;
    u64 offset;
};

DEVICE Node node_of(const Launch& launch) {
    u32 node = block_index() & ((1u << launch.first) - 1), row = block_index() >> launch.first;
    u32 lanes = launch.width << (launch.log_points - launch.first), prime = row % launch.prime_count;
    return Node{prime, node, lanes, offset_of(launch, row / launch.prime_count, prime) + static_cast<u64>(node) * lanes};
}

DEVICE void fetch(const Node& at, const void* lanes, Padded<Word> x) {
    const Word* global = static_cast<const Word*>(lanes) + at.offset;
    for (u32 i = thread_index(); i < at.lanes; i += thread_count()) x.set(i, global[i]);
}

// The layers from `first` on, in place on `out`, canonical.
KERNEL(forward_nodes, Launch) {
    DYN_SHARED(Word, shared);
    Padded<Word> x{shared};
    Node at = node_of(launch);
    Modulus<Word> m = launch.primes[at.prime].modulus<Word>();
    fetch(at, launch.out, x);
    sync_block();
    forward_layers_of(launch, geometry(launch), x, at.node, launch.first, launch.log_points,
                      table(launch, launch.zetas, at.prime), m);
    Word* out = static_cast<Word*>(launch.out) + at.offset;
    for (u32 i = thread_index(); i < at.lanes; i += thread_count()) out[i] = reduce_lazy(launch, x.get(i), m);
}

// From canonical lanes `a` to lazy ones on `out`.
KERNEL(inverse_nodes, Launch) {
    DYN_SHARED(Word, shared);
    Padded<Word> x{shared};
    Node at = node_of(launch);
    Modulus<Word> m = launch.primes[at.prime].modulus<Word>();
    fetch(at, launch.a, x);
    sync_block();
    inverse_layers_of(launch, geometry(launch), x, at.node, launch.first, launch.log_points,
                      table(launch, launch.inverse_zetas, at.prime), m);
    Word* out = static_cast<Word*>(launch.out) + at.offset;
    for (u32 i = thread_index(); i < at.lanes; i += thread_count()) out[i] = x.get(i);
}

// Both factors' layers, the products at the points, and the way back, on `out`. Regions of shared memory: the factors,
// and the result where the width is above 1.
KERNEL(product_nodes, Launch) {
    DYN_SHARED(Word, shared);
    Node at = node_of(launch);
    u32 region = padded(at.lanes);
    Padded<Word> a{shared}, b{shared + region}, c{launch.width == 1 ? shared : shared + 2 * region};
    const Prime& prime = launch.primes[at.prime];
    Modulus<Word> m = prime.modulus<Word>();
    Geometry g = geometry(launch);
    fetch(at, launch.a, a);
    fetch(at, launch.b, b);
    sync_block();
    const Shoup<Word>* zetas = table(launch, launch.zetas, at.prime);
    forward_layers_of(launch, g, a, at.node, launch.first, launch.log_points, zetas, m);
    forward_layers_of(launch, g, b, at.node, launch.first, launch.log_points, zetas, m);
    if (launch.width > 1) {
        for (u32 i = thread_index(); i < at.lanes; i += thread_count()) {
            a.set(i, reduce_lazy(launch, a.get(i), m));
            b.set(i, reduce_lazy(launch, b.get(i), m));
        }
        sync_block();
    }
    const Shoup<Word>* slots = table(launch, launch.slots, at.prime) + (at.node << (launch.log_points - launch.first));
    for (u32 i = thread_index(); i < at.lanes; i += thread_count()) {
        if (launch.width == 1) {
            Word x = reduce_lazy(launch, a.get(i), m), y = reduce_lazy(launch, b.get(i), m);
            c.set(i, m.redc(static_cast<Double<Word>::type>(x) * y));
            continue;
        }
        Split place = split_by(g, i, 0);
        u32 base = i - place.rest;
        c.set(i, coefficient<Word>(
                     launch.width, 1, place.rest, [=](u32, u32 j) { return a.get(base + j); },
                     [=](u32, u32 j) { return b.get(base + j); }, slots[place.quotient], prime, m));
    }
    sync_block();
    inverse_layers_of(launch, g, c, at.node, launch.first, launch.log_points,
                      table(launch, launch.inverse_zetas, at.prime), m);
    Word* out = static_cast<Word*>(launch.out) + at.offset;
    for (u32 i = thread_index(); i < at.lanes; i += thread_count()) out[i] = c.get(i);
}
