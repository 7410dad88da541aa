// Layers of butterflies over lanes in shared or global memory, up to three layers in registers at a time.
//
// Forward lanes stay in [0, 4q), inverse lanes in [0, 2q) (Harvey 2014); q < 2^(w-2).
#pragma once

#include "launch.cuh"

// Lanes in global memory.
template <class T>
struct Global {
    T* at;
    DEVICE T get(u32 i) const { return at[i]; }
    DEVICE void set(u32 i, T x) const { at[i] = x; }
};

// Lanes in shared memory, one word of padding after 16, so that strided accesses meet different banks.
template <class T>
struct Padded {
    T* at;
    DEVICE T get(u32 i) const { return at[i + (i >> 4)]; }
    DEVICE void set(u32 i, T x) const { at[i + (i >> 4)] = x; }
};

// Words of shared memory for this many lanes.
DEVICE u32 padded(u32 lanes) { return lanes + (lanes >> 4) + 1; }

// R layers on 2^R lanes, `stride` apart; `node` counts nodes of the first of these layers, offset 2^layer included.
template <int R, class T, class Lanes>
DEVICE void forward_unit(Lanes x, u32 base, u32 stride, const Shoup<T>* zetas, u32 node, Modulus<T> m) {
    T v[1 << R];
    UNROLL for (int k = 0; k < 1 << R; k++) v[k] = x.get(base + k * stride);
    UNROLL for (int r = 0; r < R; r++) {
        const int half = 1 << (R - 1 - r);
        UNROLL for (int k = 0; k < 1 << R; k++) {
            if (k & half) continue;
            Shoup<T> zeta = zetas[(node << r) + (k >> (R - r))];
            T low = csub(v[k], 2 * m.q), t = m.mul_lazy(v[k + half], zeta);
            v[k] = low + t;
            v[k + half] = low - t + 2 * m.q;
        }
    }
    UNROLL for (int k = 0; k < 1 << R; k++) x.set(base + k * stride, v[k]);
}

template <int R, class T, class Lanes>
DEVICE void inverse_unit(Lanes x, u32 base, u32 stride, const Shoup<T>* zetas, u32 node, Modulus<T> m) {
    T v[1 << R];
    UNROLL for (int k = 0; k < 1 << R; k++) v[k] = x.get(base + k * stride);
    UNROLL for (int r = R - 1; r >= 0; r--) {
        const int half = 1 << (R - 1 - r);
        UNROLL for (int k = 0; k < 1 << R; k++) {
            if (k & half) continue;
            Shoup<T> zeta = zetas[(node << r) + (k >> (R - r))];
            T low = v[k], high = v[k + half];
            v[k] = csub(low + high, 2 * m.q);
            v[k + half] = m.mul_lazy(low - high + 2 * m.q, zeta);
        }
    }
    UNROLL for (int k = 0; k < 1 << R; k++) x.set(base + k * stride, v[k]);
}

// One unit of the pass that starts at `layer` with `depth` layers. `chunk` is the node of layer `first` whose lanes
// `x` holds.
template <bool FORWARD, class T, class Lanes>
DEVICE void unit(const Launch& launch, Lanes x, u32 index, u32 chunk, u32 first, u32 layer, u32 depth,
                 const Shoup<T>* zetas, Modulus<T> m) {
    u32 shift = launch.log_points - layer - depth;
    Split place = split_by(launch, index, shift);
    u32 stride = launch.width << shift;
    u32 base = place.quotient * (stride << depth) + place.rest;
    u32 node = (1u << layer) + (chunk << (layer - first)) + place.quotient;
    if (FORWARD) {
        if (depth == 3) forward_unit<3>(x, base, stride, zetas, node, m);
        if (depth == 2) forward_unit<2>(x, base, stride, zetas, node, m);
        if (depth == 1) forward_unit<1>(x, base, stride, zetas, node, m);
    } else {
        if (depth == 3) inverse_unit<3>(x, base, stride, zetas, node, m);
        if (depth == 2) inverse_unit<2>(x, base, stride, zetas, node, m);
        if (depth == 1) inverse_unit<1>(x, base, stride, zetas, node, m);
    }
}

// Layers [first, last) of one node of layer `first`, by one block, in shared memory. Ends with a barrier.
template <class T>
DEVICE void forward_layers_of(const Launch& launch, Padded<T> x, u32 chunk, u32 first, u32 last,
                              const Shoup<T>* zetas, Modulus<T> m) {
    u32 lanes = launch.width << (launch.log_points - first);
    for (u32 layer = first; layer < last;) {
        u32 depth = last - layer < 3 ? last - layer : 3;
        for (u32 i = thread_index(); i < lanes >> depth; i += thread_count())
            unit<true>(launch, x, i, chunk, first, layer, depth, zetas, m);
        sync_block();
        layer += depth;
    }
}

template <class T>
DEVICE void inverse_layers_of(const Launch& launch, Padded<T> x, u32 chunk, u32 first, u32 last,
                              const Shoup<T>* zetas, Modulus<T> m) {
    u32 lanes = launch.width << (launch.log_points - first);
    for (u32 layer = last; layer > first;) {
        u32 depth = layer - first < 3 ? layer - first : 3;
        layer -= depth;
        for (u32 i = thread_index(); i < lanes >> depth; i += thread_count())
            unit<false>(launch, x, i, chunk, first, layer, depth, zetas, m);
        sync_block();
    }
}

// [0, 4q) to [0, q).
template <class T>
DEVICE T reduce_lazy(T x, Modulus<T> m) {
    return csub(csub(x, 2 * m.q), m.q);
}
