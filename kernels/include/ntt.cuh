// Layers of butterflies over lanes in shared or global memory, several layers in registers at a time.
//
// Without ROOMY, forward lanes stay in [0, 4q) and inverse lanes in [0, 2q), reduced in every butterfly (Harvey 2014);
// q < 2^(w-2). With ROOMY, q < 2^(w-4): forward lanes stay in [0, 16q) and are reduced once in a unit; inverse
// lanes are in [0, 2q) between units and grow to at most 16q inside one of three layers.
#pragma once

#include "launch.cuh"

// Lanes in global memory, in words of type S there.
template <class T, class S = T>
struct Global {
    S* at;
    DEVICE T get(u32 i) const { return at[i]; }
    DEVICE void set(u32 i, T x) const { at[i] = static_cast<S>(x); }
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

// R <= 3 layers on 2^R lanes, `stride` apart; `node` counts nodes of the first of these layers, offset 2^layer
// included.
template <int R, bool ROOMY, class T, class Lanes>
DEVICE void forward_unit(Lanes x, u32 base, u32 stride, const Shoup<T>* zetas, u32 node, Modulus<T> m) {
    T v[1 << R];
    UNROLL for (int k = 0; k < 1 << R; k++) {
        v[k] = x.get(base + k * stride);
        if (ROOMY) v[k] = csub(v[k], 8 * m.q);
    }
    UNROLL for (int r = 0; r < R; r++) {
        const int half = 1 << (R - 1 - r);
        UNROLL for (int k = 0; k < 1 << R; k++) {
            if (k & half) continue;
            Shoup<T> zeta = zetas[(node << r) + (k >> (R - r))];
            T low = ROOMY ? v[k] : csub(v[k], 2 * m.q), t = m.mul_lazy(v[k + half], zeta);
            v[k] = low + t;
            v[k + half] = low - t + 2 * m.q;
        }
    }
    UNROLL for (int k = 0; k < 1 << R; k++) x.set(base + k * stride, v[k]);
}

// R <= 3 layers backwards.
template <int R, bool ROOMY, class T, class Lanes>
DEVICE void inverse_unit(Lanes x, u32 base, u32 stride, const Shoup<T>* zetas, u32 node, Modulus<T> m) {
    T v[1 << R];
    UNROLL for (int k = 0; k < 1 << R; k++) v[k] = x.get(base + k * stride);
    UNROLL for (int r = R - 1; r >= 0; r--) {
        const int half = 1 << (R - 1 - r);
        const T bound = (ROOMY ? 2 << (R - 1 - r) : 2) * m.q;
        UNROLL for (int k = 0; k < 1 << R; k++) {
            if (k & half) continue;
            Shoup<T> zeta = zetas[(node << r) + (k >> (R - r))];
            T low = v[k], high = v[k + half];
            v[k] = ROOMY ? low + high : csub(low + high, 2 * m.q);
            v[k + half] = m.mul_lazy(low - high + bound, zeta);
        }
    }
    if (ROOMY) {
        // A lane that was never multiplied holds a sum below 2q * 2^R; each bit of its index below which it was not
        // multiplied since doubles 2q once.
        UNROLL for (int k = 0; k < 1 << R; k++) {
            UNROLL for (int doubled = R; doubled > 0; doubled--) {
                if (k >> (R - doubled) == 0) v[k] = csub(v[k], (static_cast<T>(1) << doubled) * m.q);
            }
        }
    }
    UNROLL for (int k = 0; k < 1 << R; k++) x.set(base + k * stride, v[k]);
}

// One unit of the pass that starts at `layer` with `depth` layers of a transform of 2^log_points points with `width`
// lanes each. `chunk` is the node of layer `first` whose lanes `x` holds.
template <bool FORWARD, bool ROOMY, class T, class Lanes>
DEVICE void unit(const Geometry& g, Lanes x, u32 index, u32 chunk, u32 first, u32 layer, u32 depth,
                 const Shoup<T>* zetas, Modulus<T> m) {
    u32 shift = g.log_points - layer - depth;
    Split place = split_by(g, index, shift);
    u32 stride = g.width << shift;
    u32 base = place.quotient * (stride << depth) + place.rest;
    u32 node = (1u << layer) + (chunk << (layer - first)) + place.quotient;
    if (FORWARD) {
        if (depth == 3) forward_unit<3, ROOMY>(x, base, stride, zetas, node, m);
        if (depth == 2) forward_unit<2, ROOMY>(x, base, stride, zetas, node, m);
        if (depth == 1) forward_unit<1, ROOMY>(x, base, stride, zetas, node, m);
    } else {
        if (depth == 3) inverse_unit<3, ROOMY>(x, base, stride, zetas, node, m);
        if (depth == 2) inverse_unit<2, ROOMY>(x, base, stride, zetas, node, m);
        if (depth == 1) inverse_unit<1, ROOMY>(x, base, stride, zetas, node, m);
    }
}

// Layers of the next pass where `left` are left: at most three, and as even as can be. Four cost more registers than
// they save passes: 157 against 128 us for the nodes of 45 products of 2^16 60-bit words on an H200.
DEVICE u32 pass_depth(u32 left) { return left <= 3 ? left : left < 6 ? (left + 1) / 2 : 3; }

template <bool ROOMY, class T>
DEVICE void forward_range(const Geometry& g, Padded<T> x, u32 chunk, u32 first, u32 last, const Shoup<T>* zetas,
                          Modulus<T> m) {
    u32 lanes = g.width << (g.log_points - first);
    for (u32 layer = first; layer < last;) {
        u32 depth = pass_depth(last - layer);
        for (u32 i = thread_index(); i < lanes >> depth; i += thread_count())
            unit<true, ROOMY>(g, x, i, chunk, first, layer, depth, zetas, m);
        sync_block();
        layer += depth;
    }
}

template <bool ROOMY, class T>
DEVICE void inverse_range(const Geometry& g, Padded<T> x, u32 chunk, u32 first, u32 last, const Shoup<T>* zetas,
                          Modulus<T> m) {
    u32 lanes = g.width << (g.log_points - first);
    for (u32 layer = last; layer > first;) {
        u32 depth = pass_depth(layer - first);
        layer -= depth;
        for (u32 i = thread_index(); i < lanes >> depth; i += thread_count())
            unit<false, ROOMY>(g, x, i, chunk, first, layer, depth, zetas, m);
        sync_block();
    }
}

// Layers [first, last) of one node of layer `first`, by one block, in shared memory. Ends with a barrier.
template <class T>
DEVICE void forward_layers_of(const Launch& launch, const Geometry& g, Padded<T> x, u32 chunk, u32 first, u32 last,
                              const Shoup<T>* zetas, Modulus<T> m) {
    if (launch.flags & FLAG_ROOMY) forward_range<true>(g, x, chunk, first, last, zetas, m);
    else forward_range<false>(g, x, chunk, first, last, zetas, m);
}

template <class T>
DEVICE void inverse_layers_of(const Launch& launch, const Geometry& g, Padded<T> x, u32 chunk, u32 first, u32 last,
                              const Shoup<T>* zetas, Modulus<T> m) {
    if (launch.flags & FLAG_ROOMY) inverse_range<true>(g, x, chunk, first, last, zetas, m);
    else inverse_range<false>(g, x, chunk, first, last, zetas, m);
}

// Lanes after forward layers to [0, q).
template <class T>
DEVICE T reduce_lazy(const Launch& launch, T x, Modulus<T> m) {
    return launch.flags & FLAG_ROOMY ? m.reduce(x) : csub(csub(x, 2 * m.q), m.q);
}
