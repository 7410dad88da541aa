// Products modulo x^N + 1 in one launch, each by a cluster of blocks that holds both factors in shared memory.
//
// A thread holds LANES = 2^POINTS lanes and does up to POINTS layers on them at a time. The first pass reads coefficients
// N / LANES apart; its nodes are then whole in one block each, so lanes change blocks here and nowhere else: once in
// either factor's transform, and once on the way back. All layers between stay inside blocks, exchanging through shared
// memory, down to 2^WIDTH lanes at a point: the k-NTT's cross terms are sums over registers of one thread.

#include "passes.cuh"

constexpr u32 LOG = KARAT_LOG, POINTS = KARAT_POINTS, WIDTH = KARAT_WIDTH, CLUSTER = KARAT_CLUSTER;
constexpr u32 LANES = 1 << POINTS;
constexpr u32 SHARES = 1 << (LOG - POINTS);          // threads of a product
constexpr u32 THREADS = SHARES >> CLUSTER;           // of a block
constexpr u32 NODES = LANES >> CLUSTER;              // nodes of the first pass that a block holds
constexpr u32 BLOCK_LANES = LANES * THREADS, REGION = BLOCK_LANES + (BLOCK_LANES >> 4) + 1;
constexpr u32 LAST = LOG - POINTS;                   // the layer whose nodes are a thread's lanes side by side
constexpr u32 FINAL = POINTS - WIDTH;                // layers of the last pass
static_assert(CLUSTER <= POINTS && WIDTH <= POINTS && 2 * POINTS < LOG, "the shape of a pass");
// Threads of a multiprocessor, so that each may have 128 registers, or 64 where it holds half the lanes.
constexpr u32 RESIDENT = 8192 / LANES;  // magic: 8192 == 512 * 16
constexpr u32 BLOCKS = THREADS >= RESIDENT ? 1 : RESIDENT / THREADS;

// Layers of the pass at a layer: as even as can be.
DEVICE constexpr u32 depth_at(u32 layer) {
    u32 left = LAST - layer, passes = (left + POINTS - 1) / POINTS;
    return (left + passes - 1) / passes;
}

// Layers since lanes were brought down, before the last pass.
DEVICE constexpr u32 before_last() {
    u32 before = POINTS;
    for (u32 layer = POINTS; layer < LAST; layer += depth_at(layer)) before = layers_after(before, depth_at(layer));
    return before;
}

// A thread's lanes in the pass at a layer, `distance` apart: lanes of one node.
template <u32 LAYER>
struct Place {
    static constexpr u32 SHIFT = LOG - LAYER - POINTS;
    u32 node, base;
    DEVICE explicit Place(u32 thread) {
        node = thread >> SHIFT;
        base = (node << (SHIFT + POINTS)) + (thread & ((1u << SHIFT) - 1));
    }
    DEVICE u32 index(u32 i) const { return padded_index(base + (i << SHIFT)); }
    // Counted over all blocks, and with those of the layers before.
    DEVICE u32 global_node() const { return (1u << LAYER) + cluster_rank() * (THREADS >> SHIFT) + node; }
    DEVICE void get(const Lane* region, Lane (&x)[LANES]) const {
        UNROLL for (u32 i = 0; i < LANES; i++) x[i] = region[index(i)];
    }
    DEVICE void put(Lane* region, const Lane (&x)[LANES]) const {
        UNROLL for (u32 i = 0; i < LANES; i++) region[index(i)] = x[i];
    }
};

// Factors of the last pass: those that a thread needs lie SHARES apart, so that threads read side by side.
struct Spread {
    Zetas zetas;
    u32 share;
    DEVICE Zeta operator()(u32 layer, u32 i) const { return zetas[((1u << layer) + i) * SHARES + share]; }
};

// Passes inside a block, in place, from the second to the one before the last. Each ends with a barrier.
template <u32 LAYER = POINTS, u32 BEFORE = POINTS>
DEVICE void forward_middle(const Field& f, Lane (&x)[LANES], Lane* region, Zetas zetas) {
    if constexpr (LAYER < LAST) {
        constexpr u32 depth = depth_at(LAYER);
        Place<LAYER> at(thread_index());
        at.get(region, x);
        forward_pass<depth, POINTS - depth, BEFORE>(f, x, Nodes{zetas, at.global_node()});
        at.put(region, x);
        sync_block();
        forward_middle<LAYER + depth, layers_after(BEFORE, depth)>(f, x, region, zetas);
    }
}

// And back; the lanes of the second pass stay in registers.
template <u32 LAYER = POINTS>
DEVICE void inverse_middle(const Field& f, Lane (&x)[LANES], Lane* region, Zetas zetas) {
    constexpr u32 depth = depth_at(LAYER);
    if constexpr (LAYER + depth < LAST) inverse_middle<LAYER + depth>(f, x, region, zetas);
    Place<LAYER> at(thread_index());
    at.get(region, x);
    inverse_pass<depth, POINTS - depth>(f, x, Nodes{zetas, at.global_node()});
    if constexpr (LAYER > POINTS) {
        at.put(region, x);
        sync_block();
    }
}

// y = x * y at the points of a thread: modulo x^w - slot with w = 2^WIDTH, slots as the last layer's nodes split.
DEVICE void multiply(const Field& f, Lane (&x)[LANES], Lane (&y)[LANES], Zetas zetas, u32 share) {
    if constexpr (WIDTH == 0) {
        UNROLL for (u32 i = 0; i < LANES; i++) y[i] = f.point(x[i], y[i]);
    } else {
        constexpr u32 width = 1 << WIDTH;
        UNROLL for (u32 point = 0; point < LANES / width; point++) {
            Zeta zeta;
            bool negative;
            if constexpr (FINAL > 0) {
                zeta = Spread{zetas, share}(FINAL - 1, point / 2);
                negative = point % 2;
            } else {
                zeta = zetas[SHARES / 2 + share / 2];
                negative = share % 2;
            }
            Field::Factor a[width], b[width], wrapped[width];
            UNROLL for (u32 i = 0; i < width; i++) {
                a[i] = f.factor(x[point * width + i]), b[i] = f.factor(y[point * width + i]);
                wrapped[i] = f.wrapped(b[i], zeta, negative);
            }
            UNROLL for (u32 k = 0; k < width; k++) {
                Field::Sum sum;
                UNROLL for (u32 i = 0; i < width; i++) sum.add(f, a[i], i <= k ? b[k - i] : wrapped[width + k - i]);
                y[point * width + k] = sum.finish(f);
            }
        }
    }
}

KERNEL_BOUNDS(product, Launch, THREADS, BLOCKS) {
    DYN_SHARED(Lane, shared);
    typedef KARAT_COEFFICIENT Coefficient;
    cluster_arrive();
    Field f(launch);
    const Zetas zetas = table(launch.zetas, LOG - WIDTH), inverse_zetas = table(launch.inverse_zetas, LOG - WIDTH);
    const u32 thread = thread_index(), share = cluster_rank() * THREADS + thread;
    const u64 polynomial = static_cast<u64>(block_index() >> CLUSTER) << LOG;
    Lane x[LANES], y[LANES];

    ROLL for (u32 factor = 0; factor < 2; factor++) {
        const Coefficient* from = static_cast<const Coefficient*>(factor ? launch.b : launch.a) + polynomial + share;
        UNROLL for (u32 i = 0; i < LANES; i++) x[i] = f.enter(from[i * SHARES]);
        forward_pass<POINTS, 0, 0>(f, x, Nodes{zetas, 1});
        // Every block is there.
        if (factor == 0) cluster_wait();
        Lane* region = shared + factor * REGION;
        UNROLL for (u32 i = 0; i < LANES; i++)
            store_in_block(region + padded_index(i % NODES * SHARES + share), i / NODES, x[i]);
    }
    cluster_arrive();
    cluster_wait();
    Place<LAST> last(thread);
    ROLL for (u32 factor = 0; factor < 2; factor++) {
        Lane* region = shared + factor * REGION;
        forward_middle(f, y, region, zetas);
        last.get(region, y);
        forward_pass<FINAL, WIDTH, before_last()>(f, y, Spread{zetas, share});
        if (factor == 0) last.put(region, y);
    }
    last.get(shared, x);
    // The first factor's region is free for the way back.
    cluster_arrive();
    multiply(f, x, y, zetas, share);
    inverse_pass<FINAL, WIDTH>(f, y, Spread{inverse_zetas, share});
    Lane* region = shared + REGION;
    last.put(region, y);
    sync_block();
    inverse_middle(f, y, region, inverse_zetas);
    cluster_wait();
    Place<POINTS> second(thread);
    const u32 node = cluster_rank() * NODES + second.node, inside = thread & ((1u << Place<POINTS>::SHIFT) - 1);
    UNROLL for (u32 i = 0; i < LANES; i++) {
        u32 column = (i << Place<POINTS>::SHIFT) + inside;
        store_in_block(shared + padded_index(node * THREADS + column % THREADS), i / NODES, y[i]);
    }
    cluster_arrive();
    cluster_wait();
    UNROLL for (u32 i = 0; i < LANES; i++) x[i] = shared[padded_index(i * THREADS + thread)];
    inverse_pass<POINTS>(f, x, Nodes{inverse_zetas, 1});
    Coefficient* to = static_cast<Coefficient*>(launch.out) + polynomial + share;
    UNROLL for (u32 i = 0; i < LANES; i++) to[i * SHARES] = static_cast<Coefficient>(f.leave(x[i]));
}
