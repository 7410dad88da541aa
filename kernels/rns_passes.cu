// RNS transforms through global memory, one launch for every few layers: radix 2, 4, 8 or 16 in registers. For short
// polynomials, for the first layers of the mixed scheme, and to compare with.

#include "rns_group.cuh"

typedef KARAT_RNS_LANES L;
typedef L::Lane Lane;
typedef L::Word Word;

// Where a unit of 2^DEPTH lanes works.
template <int DEPTH>
struct Unit {
    u32 poly, limb, prime, node, shift, base;
    L::Table table;

    DEVICE Unit(const RnsLaunch& launch, u64 index) {
        u32 units = launch.log_n - DEPTH, unit = static_cast<u32>(index) & ((1u << units) - 1);
        u32 rest = static_cast<u32>(index >> units);
        poly = rest % launch.polys;
        limb = rest / launch.polys;
        prime = prime_of(launch, limb);
        shift = launch.log_n - launch.first - DEPTH;
        node = unit >> shift;
        base = (node << (shift + DEPTH)) + (unit & ((1u << shift) - 1));
        table = L::Table(launch.tables, prime, launch.table_len);
    }
};

DEVICE u64 unit_count(const RnsLaunch& launch) {
    return static_cast<u64>(launch.polys * launch.limbs) << (launch.log_n - launch.depth);
}

template <int DEPTH>
DEVICE void forward_pass(const RnsLaunch& launch, u64 index) {
    Unit<DEPTH> at(launch, index);
    L m(launch.primes[at.prime]);
    const Word* in = limb_of<const Word>(launch, launch.a, at.poly, at.limb) + at.base;
    Word* out = limb_of<Word>(launch, launch.out, at.poly, at.limb) + at.base;
    Lane v[1 << DEPTH];
    UNROLL for (int k = 0; k < 1 << DEPTH; k++) {
        Word x = in[k << at.shift];
        v[k] = launch.first == 0 ? L::load(x) : L::resume(x);
    }
    NaturalTwiddles<L, DEPTH, false> twiddles(at.table, 1u << launch.first, at.node);
    forward_unit<DEPTH, L::MOST>(m, v, twiddles);
    constexpr int BOUND = bound_after<L>(L::MOST, DEPTH, L::CENTRED);
    UNROLL for (int k = 0; k < 1 << DEPTH; k++)
        out[k << at.shift] = at.shift == 0 ? m.canonical(v[k], BOUND) : L::suspend(v[k]);
}

template <int DEPTH>
DEVICE void inverse_pass(const RnsLaunch& launch, u64 index) {
    Unit<DEPTH> at(launch, index);
    L m(launch.primes[at.prime]);
    const Word* in = limb_of<const Word>(launch, launch.a, at.poly, at.limb) + at.base;
    Word* out = limb_of<Word>(launch, launch.out, at.poly, at.limb) + at.base;
    Lane v[1 << DEPTH];
    UNROLL for (int k = 0; k < 1 << DEPTH; k++) {
        Word x = in[k << at.shift];
        v[k] = at.shift == 0 ? L::load(x) : L::resume(x);
    }
    NaturalTwiddles<L, DEPTH, true> twiddles(at.table, 1u << launch.first, at.node);
    inverse_unit<DEPTH, L::RESTED>(m, v, twiddles);
    L::Twiddle factor = m.twiddle(launch.factors + KARAT_SCALED * at.prime);
    UNROLL for (int k = 0; k < 1 << DEPTH; k++) {
        if (launch.first == 0) out[k << at.shift] = m.canonical(m.mul(v[k], factor, L::RESTED, L::CENTRED), L::PRODUCT);
        else out[k << at.shift] = L::suspend(v[k]);
    }
}

KERNEL(forward_pass, RnsLaunch) {
    for (u64 i = block_index() * static_cast<u64>(thread_count()) + thread_index(); i < unit_count(launch);
         i += static_cast<u64>(block_count()) * thread_count()) {
        if (launch.depth == 1) forward_pass<1>(launch, i);
        if (launch.depth == 2) forward_pass<2>(launch, i);
        if (launch.depth == 3) forward_pass<3>(launch, i);
        if (launch.depth == 4) forward_pass<4>(launch, i);
    }
}

KERNEL(inverse_pass, RnsLaunch) {
    for (u64 i = block_index() * static_cast<u64>(thread_count()) + thread_index(); i < unit_count(launch);
         i += static_cast<u64>(block_count()) * thread_count()) {
        if (launch.depth == 1) inverse_pass<1>(launch, i);
        if (launch.depth == 2) inverse_pass<2>(launch, i);
        if (launch.depth == 3) inverse_pass<3>(launch, i);
        if (launch.depth == 4) inverse_pass<4>(launch, i);
    }
}
