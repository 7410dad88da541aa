// Passes of layers on lanes in registers, for products of long polynomials. A class of words gives Lane, Zeta and Field.
#pragma once

#include "launch.cuh"

#if KARAT_CLASS == 53
#include "class53.cuh"
#else
#include "class_word.cuh"
#endif

// Factors of a node and those below it, as tables have them.
struct Nodes {
    const Zeta* zetas;
    u32 node;
    // Factor `i` of those `layer` layers down.
    DEVICE Zeta operator()(u32 layer, u32 i) const { return zetas[(node << layer) + i]; }
};

DEVICE const Zeta* table(const void* base) { return static_cast<const Zeta*>(base); }

// DEPTH layers on COUNT lanes: COUNT >> (LOW + DEPTH) nodes, whose lanes are pairwise 2^LOW apart in the last layer.
// Canonical lanes need not be brought down first, and of the others only those that are not multiplied at once.
template <u32 DEPTH, u32 LOW = 0, bool CANONICAL = false, u32 COUNT, class Zetas>
DEVICE void forward_pass(const Field& f, Lane (&x)[COUNT], Zetas zetas) {
    if (!CANONICAL && DEPTH > 0) {
        UNROLL for (u32 i = 0; i < COUNT; i++)
            if (!(i >> (LOW + DEPTH - 1) & 1)) x[i] = f.begin_forward(x[i]);
    }
    UNROLL for (u32 s = 0; s < DEPTH; s++) {
        const u32 half = 1 << (LOW + DEPTH - 1 - s);
        UNROLL for (u32 k = 0; k < COUNT; k++) {
            if (k & half) continue;
            f.forward(x[k], x[k + half], zetas(s, k >> (LOW + DEPTH - s)));
        }
    }
}

// The same layers backwards; LEFT of them are left.
template <u32 DEPTH, u32 LOW = 0, u32 LEFT = DEPTH, u32 COUNT, class Zetas>
DEVICE void inverse_pass(const Field& f, Lane (&x)[COUNT], Zetas zetas) {
    if constexpr (LEFT > 0) {
        const u32 half = 1 << (LOW + DEPTH - LEFT);
        UNROLL for (u32 k = 0; k < COUNT; k++) {
            if (k & half) continue;
            f.template inverse<DEPTH, LEFT>(x[k], x[k + half], zetas(LEFT - 1, k >> (LOW + DEPTH - LEFT + 1)));
        }
        inverse_pass<DEPTH, LOW, LEFT - 1>(f, x, zetas);
    } else if constexpr (DEPTH > 0) {
        // A lane that was multiplied last has not grown since; of four layers only three let it grow.
        UNROLL for (u32 k = 0; k < COUNT; k++) {
            u32 doublings = 0;
            while (doublings < DEPTH && doublings < 3 && !(k >> (LOW + DEPTH - 1 - doublings) & 1)) doublings++;
            x[k] = f.end_inverse(x[k], doublings);
        }
    }
}

DEVICE u32 padded_index(u32 i) { return i + (i >> 4); }
