// Passes of layers on lanes in registers, for products of long polynomials. A class of words gives Lane, Zeta and Field.
#pragma once

#include "launch.cuh"

#if KARAT_CLASS == 53
#include "class53.cuh"
#elif KARAT_CLASS == 64
#include "class_split.cuh"
#else
#include "class_word.cuh"
#endif

// Factors of a node and those below it, as tables have them.
struct Nodes {
    Zetas zetas;
    u32 node;
    // Factor `i` of those `layer` layers down.
    DEVICE Zeta operator()(u32 layer, u32 i) const { return zetas[(node << layer) + i]; }
};

// DEPTH layers on COUNT lanes: COUNT >> (LOW + DEPTH) nodes, whose lanes are pairwise 2^LOW apart in the last layer.
// Lanes that went through BEFORE layers since they were canonical or reduced need not be brought down while they are
// free, and of the others only those that are not multiplied at once.
template <u32 DEPTH, u32 LOW, u32 BEFORE, u32 COUNT, class Factors>
DEVICE void forward_pass(const Field& f, Lane (&x)[COUNT], Factors zetas) {
    if (DEPTH > 0 && BEFORE + DEPTH > Field::FREE) {
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

// The layers that lanes have gone through after that.
DEVICE constexpr u32 layers_after(u32 before, u32 depth) { return before + depth > Field::FREE ? depth : before + depth; }

// The same layers backwards; LEFT of them are left.
template <u32 DEPTH, u32 LOW = 0, u32 LEFT = DEPTH, u32 COUNT, class Factors>
DEVICE void inverse_pass(const Field& f, Lane (&x)[COUNT], Factors zetas) {
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
            x[k] = f.template end_inverse<DEPTH>(x[k], doublings);
        }
    }
}

DEVICE u32 padded_index(u32 i) { return i + (i >> 4); }
