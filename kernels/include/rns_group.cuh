// Groups of layers in registers: a thread takes 2^POINTS lanes of a node through as many layers as they hold, then
// threads exchange lanes through shared memory.
#pragma once

#include "rns_arith.cuh"

// How LAYERS layers of 2^LAYERS lanes split into groups: POINTS layers in the last one, the others as even as can be.
template <int LAYERS, int POINTS>
struct Groups {
    static constexpr int COUNT = (LAYERS + POINTS - 1) / POINTS;
    static constexpr int THREADS = 1 << (LAYERS - POINTS);
    DEVICE static constexpr int first(int group) {
        if (group == COUNT) return LAYERS;
        int layer = 0;
        for (int i = 0; i < group; i++) layer += (LAYERS - POINTS - layer) / (COUNT - 1 - i);
        return layer;
    }
    DEVICE static constexpr int depth(int group) { return first(group + 1) - first(group); }
    static_assert(LAYERS >= POINTS, "a thread has lanes of one node");
};

template <class A, class B>
constexpr bool same_type = false;
template <class A>
constexpr bool same_type<A, A> = true;

// Where a thread's lanes lie in a node: lane k of unit j.
template <int LAYERS, int POINTS, int GROUP>
struct Place {
    typedef Groups<LAYERS, POINTS> G;
    static constexpr int FIRST = G::first(GROUP), DEPTH = G::depth(GROUP), SHIFT = LAYERS - FIRST - DEPTH;
    static constexpr int UNITS = 1 << (POINTS - DEPTH), LANES = 1 << DEPTH;
    DEVICE static u32 unit(u32 thread, u32 j) { return thread + j * G::THREADS; }
    // The node of the group's first layer that a unit belongs to.
    DEVICE static u32 node(u32 unit) { return unit >> SHIFT; }
    // The first lane of a unit; the others follow every 2^SHIFT lanes.
    DEVICE static u32 lane(u32 unit) { return ((unit >> SHIFT) << (SHIFT + DEPTH)) + (unit & ((1u << SHIFT) - 1)); }
    static_assert(SHIFT == 0 || SHIFT >= POINTS, "padding is even between the lanes of a unit");
};

// A factor, or the product of two.
template <class L>
struct Factors {
    typename L::Twiddle first, second;
    bool two;
    DEVICE typename L::Lane mul(const L& m, typename L::Lane x, int bound, int factor) const {
        x = m.mul(x, first, bound, factor);
        return two ? m.mul(x, second, bound, factor) : x;
    }
};

// Twiddles of a group from the table in its natural order: entry (node << j) + k for node k of layer j. Mirrored, they
// are the negated inverses: gamma^-brv(i) = -gamma^brv(i') with i' the mirror image of i in its layer.
template <class L, int DEPTH, bool MIRRORED>
struct NaturalTwiddles {
    static constexpr int FACTOR = L::CENTRED;
    typename L::Table table;
    u32 node;
    DEVICE NaturalTwiddles(typename L::Table table, u32 layer_first, u32 node)
        : table(table), node(MIRRORED ? 2 * layer_first - 1 - node : layer_first + node) {}
    DEVICE Factors<L> at(const L&, int j, int k) const {
        typename L::Table layer = table.from(node << j);
        return Factors<L>{layer.get(MIRRORED ? (1 << j) - 1 - k : k), {}, false};
    }
};

// Twiddles of the last group from arrays of one entry a thread. On the last FLY layers entries are factored on the fly:
// gamma^brv((x << j) + k) = gamma^brv(x << j) * gamma^brv(k). Where twiddles multiply to twiddles, FLY = DEPTH loads
// one and squares: gamma^brv(x << j)^2 = gamma^brv(x << (j - 1)).
template <class L, int DEPTH, int FLY, bool MIRRORED>
struct LastTwiddles {
    static constexpr int WHOLE = DEPTH > FLY ? DEPTH - FLY : 0;
    static constexpr bool SQUARES = L::SQUARES && WHOLE == 0;
    static constexpr int ENTRIES = SQUARES ? 1 : (1 << WHOLE) - 1 + DEPTH - WHOLE;
    static constexpr int FACTOR = WHOLE == DEPTH ? L::CENTRED : L::COMPUTED;
    typename L::Table table;
    typename L::Twiddle entries[ENTRIES], powers[SQUARES ? DEPTH : 1];

    // `slot` counts units of the whole polynomial, `slots` of them.
    DEVICE LastTwiddles(typename L::Table table, u32 slots, u32 slot) : table(table) {
        u32 own = MIRRORED ? slots - 1 - slot : slot;
        typename L::Table mine = table.from(own);
        UNROLL for (int e = 0; e < ENTRIES; e++) entries[e] = mine.get((1 + e) * slots);
    }
    DEVICE void prepare(const L& m) {
        if constexpr (SQUARES) {
            powers[DEPTH - 1] = entries[0];
            UNROLL for (int j = DEPTH - 1; j > 0; j--) powers[j - 1] = m.mul(powers[j], powers[j], L::COMPUTED, L::COMPUTED);
        }
    }
    DEVICE Factors<L> at(const L& m, int j, int k) const {
        k = MIRRORED ? (1 << j) - 1 - k : k;
        if (j < WHOLE) return Factors<L>{entries[(1 << j) - 1 + k], {}, false};
        if constexpr (L::SQUARES) {
            typename L::Twiddle base = SQUARES ? powers[SQUARES ? j : 0] : entries[ENTRIES - DEPTH + j < 0 ? 0 : ENTRIES - DEPTH + j];
            return Factors<L>{k == 0 ? base : m.mul(base, table.get(k), L::COMPUTED, L::CENTRED), {}, false};
        }
        typename L::Twiddle base = entries[ENTRIES - DEPTH + j < 0 ? 0 : ENTRIES - DEPTH + j];
        return Factors<L>{base, k == 0 ? base : table.get(k), k != 0};
    }
};

// The bound of lanes after some forward layers.
template <class L>
DEVICE constexpr int bound_after(int bound, int layers, int factor) {
    for (int i = 0; i < layers; i++) bound = L::forward_bound(bound, factor);
    return bound;
}

// One unit of 2^DEPTH lanes forwards, from layer J on; lanes start below BOUND.
template <int DEPTH, int BOUND, int J = 0, class L, class T>
DEVICE void forward_unit(const L& m, typename L::Lane* v, const T& twiddles) {
    constexpr int HALF = 1 << (DEPTH - 1 - J);
    constexpr bool REDUCES = L::forward_reduces(BOUND, T::FACTOR);
    UNROLL for (int k = 0; k < 1 << J; k++) {
        Factors<L> factors = twiddles.at(m, J, k);
        UNROLL for (int i = 0; i < HALF; i++) {
            typename L::Lane x = v[2 * k * HALF + i];
            typename L::Lane t = factors.mul(m, v[2 * k * HALF + i + HALF], BOUND, T::FACTOR);
            if (REDUCES) x = m.lower(x);
            v[2 * k * HALF + i] = m.add(x, t);
            v[2 * k * HALF + i + HALF] = m.sub_product(x, t);
        }
    }
    if constexpr (J + 1 < DEPTH) forward_unit<DEPTH, L::forward_bound(BOUND, T::FACTOR), J + 1>(m, v, twiddles);
}

// No scaling in this unit.
struct Unscaled {};

// The factor of the whole transform, alone and times the twiddles of the first layers: entry i is the factor times
// entry i of the table.
template <class L>
struct Scaled {
    const RnsFactor* factors;
    DEVICE typename L::Twiddle alone(const L& m) const { return m.twiddle(factors); }
    DEVICE typename L::Twiddle mirrored(const L& m, int j, int k) const {
        return m.twiddle(factors + (2 << j) - 1 - k);
    }
};

// Where lanes of a scaled unit take the factor: with the twiddle that they are multiplied by first, and the one lane that
// is a sum through all layers at the end; or all of them in the last layer, where a product costs no more than the
// twiddles that this takes.
template <class L>
DEVICE constexpr bool takes_factor(int j, int low) {
    return L::ABSORBS ? low == 0 : j == 0;
}

// The bounds of lanes in a unit backwards: before each layer, after what has to be reduced there, and at the end. Lanes
// start below BOUND; twiddles are below FACTOR.
template <class L, int DEPTH, int BOUND, int FACTOR, bool SCALED>
struct InverseBounds {
    int before[DEPTH][1 << DEPTH], ready[DEPTH][1 << DEPTH], end[1 << DEPTH];

    DEVICE constexpr InverseBounds() : before{}, ready{}, end{} {
        for (int& lane : end) lane = BOUND;
        for (int j = DEPTH - 1; j >= 0; j--) {
            const int half = 1 << (DEPTH - 1 - j);
            for (int low = 0; low < 1 << DEPTH; low++) {
                const int high = low + half;
                if (low & half) continue;
                before[j][low] = end[low];
                before[j][high] = end[high];
                // The larger one first: often it is enough.
                int large = end[low] > end[high] ? low : high, small = low + high - large;
                if (L::too_large(end[low], end[high])) end[large] = L::reduced(end[large]);
                if (L::too_large(end[low], end[high])) end[small] = L::reduced(end[small]);
                ready[j][low] = end[low];
                ready[j][high] = end[high];
                const bool scaled = SCALED && takes_factor<L>(j, low % half);
                const int sum = L::sum(ready[j][low], ready[j][high]);
                end[low] = scaled && j == 0 ? L::product(sum, L::CENTRED) : sum;
                end[high] = L::product(sum, scaled ? L::CENTRED : FACTOR);
            }
        }
    }
};

// Reduces x from one bound to another in as many steps as it takes.
template <int BOUND, int TO, class L>
DEVICE typename L::Lane brought_down(const L& m, typename L::Lane x) {
    if constexpr (BOUND <= TO) return x;
    else return brought_down<L::reduced(BOUND), TO>(m, m.reduce(x, BOUND));
}

// The butterflies of node k of layer J, from pair LOW on.
template <int DEPTH, int BOUND, int J, int LOW = 0, class L, class T, class S>
DEVICE void inverse_node(const L& m, typename L::Lane* node, int k, const Factors<L>& factors, const T& twiddles,
                         const S& scale) {
    constexpr bool SCALED = !same_type<S, Unscaled>;
    constexpr int HALF = 1 << (DEPTH - 1 - J), HIGH = LOW + HALF;
    // Those of the first node stand for all.
    constexpr InverseBounds<L, DEPTH, BOUND, T::FACTOR, SCALED> bounds;
    constexpr int X = bounds.ready[J][LOW], Y = bounds.ready[J][HIGH], SUM = L::sum(X, Y);
    typename L::Lane x = brought_down<bounds.before[J][LOW], X>(m, node[LOW]);
    typename L::Lane y = brought_down<bounds.before[J][HIGH], Y>(m, node[HIGH]);
    node[LOW] = m.add(x, y);
    y = m.sub(y, x, X);
    if constexpr (SCALED && takes_factor<L>(J, LOW)) {
        node[HIGH] = m.mul(y, scale.mirrored(m, J, k), SUM, L::CENTRED);
        if (J == 0) node[LOW] = m.mul(node[LOW], scale.alone(m), SUM, L::CENTRED);
    } else {
        node[HIGH] = factors.mul(m, y, SUM, T::FACTOR);
    }
    if constexpr (LOW + 1 < HALF) inverse_node<DEPTH, BOUND, J, LOW + 1>(m, node, k, factors, twiddles, scale);
}

// One unit backwards, from layer J on.
template <int DEPTH, int BOUND, int J = DEPTH - 1, class L, class T, class S>
DEVICE void inverse_layers(const L& m, typename L::Lane* v, const T& twiddles, const S& scale) {
    UNROLL for (int k = 0; k < 1 << J; k++)
        inverse_node<DEPTH, BOUND, J>(m, v + (k << (DEPTH - J)), k, twiddles.at(m, J, k), twiddles, scale);
    if constexpr (J > 0) inverse_layers<DEPTH, BOUND, J - 1>(m, v, twiddles, scale);
}

// The same without a factor; lanes end below L::RESTED.
template <int DEPTH, int BOUND, int LANE = 0, class L, class T>
DEVICE void inverse_unit(const L& m, typename L::Lane* v, const T& twiddles) {
    if constexpr (LANE == 0) inverse_layers<DEPTH, BOUND>(m, v, twiddles, Unscaled{});
    constexpr InverseBounds<L, DEPTH, BOUND, T::FACTOR, false> bounds;
    v[LANE] = brought_down<bounds.end[LANE], L::RESTED>(m, v[LANE]);
    if constexpr (LANE + 1 < 1 << DEPTH) inverse_unit<DEPTH, BOUND, LANE + 1>(m, v, twiddles);
}

// Lanes of one node in shared memory, PITCH words apart, padded so that groups meet different banks.
template <class L, int LAYERS, int POINTS, int PITCH>
struct Exchange {
    static constexpr u32 SIZE = ((1u << LAYERS) + (1u << (LAYERS - POINTS))) * PITCH;
    typename L::Word* at;
    DEVICE static u32 offset(u32 lane) { return (lane + (lane >> POINTS)) * PITCH; }
    // From one lane of a unit to the next: a constant, which a load holds without an addition.
    template <int GROUP>
    DEVICE static constexpr u32 step() {
        constexpr int SHIFT = Place<LAYERS, POINTS, GROUP>::SHIFT;
        return ((1u << SHIFT) + (SHIFT == 0 ? 0 : 1u << (SHIFT - POINTS))) * PITCH;
    }

    template <int GROUP>
    DEVICE void put(const typename L::Lane* v, u32 thread) const {
        typedef Place<LAYERS, POINTS, GROUP> P;
        UNROLL for (int j = 0; j < P::UNITS; j++) {
            typename L::Word* first = at + offset(P::lane(P::unit(thread, j)));
            UNROLL for (int k = 0; k < P::LANES; k++) first[k * step<GROUP>()] = L::suspend(v[j * P::LANES + k]);
        }
    }
    template <int GROUP>
    DEVICE void get(typename L::Lane* v, u32 thread) const {
        typedef Place<LAYERS, POINTS, GROUP> P;
        UNROLL for (int j = 0; j < P::UNITS; j++) {
            const typename L::Word* first = at + offset(P::lane(P::unit(thread, j)));
            UNROLL for (int k = 0; k < P::LANES; k++) v[j * P::LANES + k] = L::resume(first[k * step<GROUP>()]);
        }
    }
};
