// RNS transforms in two launches: columns, the first layers of lanes 2^ROW_LAYERS apart, then rows of neighbours.
// Forward by Cooley-Tukey butterflies in place, backwards by Gentleman-Sande ones; the NTT domain is in bit-reversed
// order. Between the launches lanes are lazy, in the class's own form.
//
// A block's index counts polynomials fastest: blocks that run together share twiddles. The second launch goes through
// them backwards: what was written last is read first, while the cache still holds it.

#include "rns_group.cuh"

typedef KARAT_RNS_LANES L;
typedef L::Lane Lane;
typedef L::Word Word;
typedef L::Table Table;

constexpr int COLUMN_LAYERS = KARAT_COLUMN_LAYERS, ROW_LAYERS = KARAT_ROW_LAYERS;
constexpr int COLUMN_POINTS = KARAT_COLUMN_POINTS, ROW_POINTS = KARAT_ROW_POINTS;
constexpr int COLUMNS = KARAT_COLUMNS, ROWS = KARAT_ROWS, FLY = KARAT_FLY;
constexpr u32 ROW = 1u << ROW_LAYERS, HEIGHT = 1u << COLUMN_LAYERS;
typedef Groups<COLUMN_LAYERS, COLUMN_POINTS> ColumnGroups;
typedef Groups<ROW_LAYERS, ROW_POINTS> RowGroups;
typedef Exchange<L, COLUMN_LAYERS, COLUMN_POINTS, COLUMNS> ColumnExchange;
typedef Exchange<L, ROW_LAYERS, ROW_POINTS, 1> RowExchange;
constexpr int LAST_DEPTH = RowGroups::depth(RowGroups::COUNT - 1);
constexpr u32 SLOTS = 1u << (COLUMN_LAYERS + ROW_LAYERS - LAST_DEPTH);
constexpr u32 COLUMN_THREADS = COLUMNS * ColumnGroups::THREADS, ROW_THREADS = ROWS * RowGroups::THREADS;
static_assert(COLUMN_THREADS == KARAT_COLUMN_THREADS && ROW_THREADS == KARAT_ROW_THREADS, "as Rust launches it");
static_assert(ColumnExchange::SIZE == KARAT_COLUMN_SHARED && ROWS * RowExchange::SIZE == KARAT_ROW_SHARED, "likewise");

// Where a block works.
struct Block {
    u32 poly, limb, prime, part;
    Table table;
};

DEVICE Block block_of(const RnsLaunch& launch, u32 parts, bool second) {
    u32 index = second ? block_count() - 1 - block_index() : block_index();
    u32 poly = index % launch.polys, rest = index / launch.polys;
    u32 limb = rest / parts, prime = prime_of(launch, limb);
    return Block{poly, limb, prime, rest % parts, Table(launch.tables, prime, launch.table_len)};
}

// Whether a block's limb belongs to its digit: nothing is to be transformed.
DEVICE bool is_source(const RnsLaunch& launch, const Block& at) {
    u32 begin = at.poly * launch.convert.source_step;
    return launch.convert.own && at.limb - begin < launch.convert.source_step && at.limb < launch.q_limbs;
}

// ---------------------------------------------------------------- columns

// Twiddles of a thread's unit j in a group of the columns.
template <int GROUP, bool MIRRORED>
DEVICE NaturalTwiddles<L, ColumnGroups::depth(GROUP), MIRRORED> column_twiddles(Table table, u32 thread, u32 j) {
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, GROUP> P;
    return NaturalTwiddles<L, P::DEPTH, MIRRORED>(table, 1u << P::FIRST, P::node(P::unit(thread, j)));
}

template <int GROUP, int BOUND>
DEVICE void forward_columns_from(const L& m, Lane* v, u32 thread, Table table, ColumnExchange x) {
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, GROUP> P;
    UNROLL for (int j = 0; j < P::UNITS; j++)
        forward_unit<P::DEPTH, BOUND>(m, v + j * P::LANES, column_twiddles<GROUP, false>(table, thread, j));
    if constexpr (GROUP + 1 < ColumnGroups::COUNT) {
        if (GROUP > 0) sync_block();
        x.put<GROUP>(v, thread);
        sync_block();
        x.get<GROUP + 1>(v, thread);
        forward_columns_from<GROUP + 1, bound_after<L>(BOUND, P::DEPTH, L::CENTRED)>(m, v, thread, table, x);
    }
}

template <bool EXTEND>
DEVICE void forward_columns(const RnsLaunch& launch) {
    DYN_SHARED(Word, shared);
    Block at = block_of(launch, ROW / COLUMNS, false);
    if (EXTEND && is_source(launch, at)) {
        wait_for_launch_before();
        return;
    }
    L m(launch.primes[at.prime]);
    u32 thread = thread_index() / COLUMNS, column = thread_index() % COLUMNS;
    u32 begin = at.part * COLUMNS + column;
    ColumnExchange x{shared + column};
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, 0> First;
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, ColumnGroups::COUNT - 1> Last;
    Lane v[1 << COLUMN_POINTS];
    wait_for_launch_before();
    const Word* in = limb_of<const Word>(launch, launch.a, at.poly, at.limb);
    UNROLL for (int j = 0; j < First::UNITS; j++) {
        const Word* first = in + First::lane(First::unit(thread, j)) * ROW + begin;
        UNROLL for (int k = 0; k < First::LANES; k++) v[j * First::LANES + k] = L::load(first[k * (ROW << First::SHIFT)]);
    }
    forward_columns_from<0, L::ENTRY>(m, v, thread, at.table, x);
    release_launch_after();
    Word* out = limb_of<Word>(launch, launch.out, at.poly, at.limb);
    UNROLL for (int j = 0; j < Last::UNITS; j++) {
        Word* first = out + Last::lane(Last::unit(thread, j)) * ROW + begin;
        UNROLL for (int k = 0; k < Last::LANES; k++) first[k * (ROW << Last::SHIFT)] = L::suspend(v[j * Last::LANES + k]);
    }
}

KERNEL_BOUNDS(forward_columns, RnsLaunch, KARAT_COLUMN_THREADS, KARAT_COLUMN_BLOCKS) { forward_columns<false>(launch); }
// Of digits: their own limbs are left out.
KERNEL_BOUNDS(extend_columns, RnsLaunch, KARAT_COLUMN_THREADS, KARAT_COLUMN_BLOCKS) { forward_columns<true>(launch); }

template <int GROUP>
DEVICE void inverse_columns_from(const L& m, Lane* v, u32 thread, Table table, ColumnExchange x,
                                 const Scaled<L>& scale) {
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, GROUP> P;
    UNROLL for (int j = 0; j < P::UNITS; j++) {
        auto twiddles = column_twiddles<GROUP, true>(table, thread, j);
        Lane* unit = v + j * P::LANES;
        if constexpr (GROUP == 0) inverse_layers<P::DEPTH, L::RESTED>(m, unit, twiddles, scale);
        else inverse_unit<P::DEPTH, L::RESTED>(m, unit, twiddles);
    }
    if constexpr (GROUP > 0) {
        if (GROUP + 1 < ColumnGroups::COUNT) sync_block();
        x.put<GROUP>(v, thread);
        sync_block();
        x.get<GROUP - 1>(v, thread);
        inverse_columns_from<GROUP - 1>(m, v, thread, table, x, scale);
    }
}

template <class First, int LANE = 0>
DEVICE void store_columns(const L& m, Word* first, const Lane* unit) {
    constexpr InverseBounds<L, First::DEPTH, L::RESTED, L::CENTRED, true> bounds;
    first[LANE * (ROW << First::SHIFT)] = m.canonical(unit[LANE], bounds.end[LANE]);
    if constexpr (LANE + 1 < First::LANES) store_columns<First, LANE + 1>(m, first, unit);
}

// Ends an inverse: canonical, times the limb's factor.
KERNEL_BOUNDS(inverse_columns, RnsLaunch, KARAT_COLUMN_THREADS, KARAT_COLUMN_BLOCKS) {
    DYN_SHARED(Word, shared);
    Block at = block_of(launch, ROW / COLUMNS, true);
    L m(launch.primes[at.prime]);
    u32 thread = thread_index() / COLUMNS, column = thread_index() % COLUMNS;
    u32 begin = at.part * COLUMNS + column;
    ColumnExchange x{shared + column};
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, 0> First;
    typedef Place<COLUMN_LAYERS, COLUMN_POINTS, ColumnGroups::COUNT - 1> Last;
    Lane v[1 << COLUMN_POINTS];
    Scaled<L> scale{launch.factors + KARAT_SCALED * at.prime};
    wait_for_launch_before();
    Word* out = limb_of<Word>(launch, launch.out, at.poly, at.limb);
    UNROLL for (int j = 0; j < Last::UNITS; j++) {
        const Word* first = out + Last::lane(Last::unit(thread, j)) * ROW + begin;
        UNROLL for (int k = 0; k < Last::LANES; k++) v[j * Last::LANES + k] = L::resume(first[k * (ROW << Last::SHIFT)]);
    }
    inverse_columns_from<ColumnGroups::COUNT - 1>(m, v, thread, at.table, x, scale);
    release_launch_after();
    UNROLL for (int j = 0; j < First::UNITS; j++) {
        Word* first = out + First::lane(First::unit(thread, j)) * ROW + begin;
        store_columns<First>(m, first, v + j * First::LANES);
    }
}

// ---------------------------------------------------------------- rows

DEVICE void sync_row() {
    if (RowGroups::THREADS <= 32) sync_warp();
    else sync_block();
}

// The bounds of lanes before the rows, before their last group, and after it.
constexpr int ROW_BOUND = KARAT_LOOSE ? L::MOST : bound_after<L>(L::ENTRY, COLUMN_LAYERS, L::CENTRED);
constexpr int LAST_BOUND = bound_after<L>(ROW_BOUND, ROW_LAYERS - LAST_DEPTH, L::CENTRED);

typedef LastTwiddles<L, LAST_DEPTH, FLY, false> ForwardLast;
typedef LastTwiddles<L, LAST_DEPTH, FLY, true> InverseLast;
typedef Place<ROW_LAYERS, ROW_POINTS, RowGroups::COUNT - 1> RowLast;
static_assert(RowLast::UNITS == 1 && RowLast::SHIFT == 0, "a thread's last lanes are neighbours");
constexpr int END_BOUND = bound_after<L>(LAST_BOUND, LAST_DEPTH, ForwardLast::FACTOR);

template <int GROUP, int BOUND>
DEVICE void forward_rows_from(const L& m, Lane* v, u32 thread, u32 row, Table table, ForwardLast& last,
                              RowExchange x) {
    typedef Place<ROW_LAYERS, ROW_POINTS, GROUP> P;
    if constexpr (GROUP + 1 < RowGroups::COUNT) {
        UNROLL for (int j = 0; j < P::UNITS; j++) {
            u32 node = (row << P::FIRST) + P::node(P::unit(thread, j));
            NaturalTwiddles<L, P::DEPTH, false> twiddles(table, HEIGHT << P::FIRST, node);
            forward_unit<P::DEPTH, BOUND>(m, v + j * P::LANES, twiddles);
        }
        if (GROUP > 0) sync_row();
        x.put<GROUP>(v, thread);
        sync_row();
        x.get<GROUP + 1>(v, thread);
        forward_rows_from<GROUP + 1, bound_after<L>(BOUND, P::DEPTH, L::CENTRED)>(m, v, thread, row, table, last, x);
    } else {
        static_assert(BOUND == LAST_BOUND, "bounds follow the layers");
        last.prepare(m);
        forward_unit<P::DEPTH, BOUND>(m, v, last);
    }
}

// Lane thread + k * THREADS of a row: what threads beside each other move together.
DEVICE Word& neighbour(RowExchange x, u32 thread, int k) {
    constexpr u32 THREADS = RowGroups::THREADS;
    // Padding is even where a step is a multiple of the lanes that it follows.
    if constexpr (THREADS % (1 << ROW_POINTS) == 0) return x.at[RowExchange::offset(thread) + k * RowExchange::offset(THREADS)];
    else return x.at[RowExchange::offset(thread + k * THREADS)];
}

// What becomes of the values of a forward transform.
enum Finish { STORE, SUBTRACT, EXTEND };

template <Finish FINISH>
DEVICE void forward_rows(const RnsLaunch& launch) {
    DYN_SHARED(Word, shared);
    Block at = block_of(launch, HEIGHT / ROWS, true);
    const RnsPrime& prime = launch.primes[at.prime];
    L m(prime);
    u32 thread = thread_index() % RowGroups::THREADS, local = thread_index() / RowGroups::THREADS;
    u32 row = at.part * ROWS + local;
    Word* out = limb_of<Word>(launch, launch.out, at.poly, at.limb) + row * ROW;
    if (FINISH == EXTEND && is_source(launch, at)) {
        wait_for_launch_before();
        const Word* own = limb_of<const Word>(launch, launch.a, 0, at.limb) + row * ROW;
        // All is read first: the compiler does not know that nothing of it is written.
        Word words[1 << ROW_POINTS];
        UNROLL for (int k = 0; k < 1 << ROW_POINTS; k++) words[k] = own[thread + k * RowGroups::THREADS];
        UNROLL for (int k = 0; k < 1 << ROW_POINTS; k++) out[thread + k * RowGroups::THREADS] = words[k];
        return;
    }
    RowExchange x{shared + local * RowExchange::SIZE};
    typedef Place<ROW_LAYERS, ROW_POINTS, 0> First;
    Lane v[1 << ROW_POINTS];
    ForwardLast last(at.table, SLOTS, (row << RowLast::FIRST) + thread);
    wait_for_launch_before();
    UNROLL for (int j = 0; j < First::UNITS; j++) {
        const Word* first = out + First::lane(First::unit(thread, j));
        UNROLL for (int k = 0; k < First::LANES; k++) v[j * First::LANES + k] = L::resume(first[k << First::SHIFT]);
    }
    forward_rows_from<0, ROW_BOUND>(m, v, thread, row, at.table, last, x);
    release_launch_after();
    // Through shared memory once more: neighbours write neighbours.
    sync_row();
    Word* mine = x.at + RowExchange::offset(RowLast::lane(thread));
    UNROLL for (int k = 0; k < RowLast::LANES; k++) mine[k] = m.canonical(v[k], END_BOUND);
    sync_row();
    Word values[1 << ROW_POINTS];
    UNROLL for (int k = 0; k < 1 << ROW_POINTS; k++) values[k] = neighbour(x, thread, k);
    if (FINISH == SUBTRACT) {
        const Word* a = limb_of<const Word>(launch, launch.a, at.poly, at.limb) + row * ROW + thread;
        Modulus<Word> modulus = prime.modulus<Word>();
        Shoup<Word> factor = launch.factors[at.prime].as<Word>();
        UNROLL for (int k = 0; k < 1 << ROW_POINTS; k++)
            values[k] = modulus.mul(a[k * RowGroups::THREADS] - values[k] + modulus.q, factor);
    }
    UNROLL for (int k = 0; k < 1 << ROW_POINTS; k++) out[thread + k * RowGroups::THREADS] = values[k];
}

KERNEL_BOUNDS(forward_rows, RnsLaunch, KARAT_ROW_THREADS, KARAT_ROW_BLOCKS) { forward_rows<STORE>(launch); }
// Of a difference: out = (a - transform) * factor.
KERNEL_BOUNDS(subtract_rows, RnsLaunch, KARAT_ROW_THREADS, KARAT_ROW_BLOCKS) { forward_rows<SUBTRACT>(launch); }
// Of digits: their own limbs are copied.
KERNEL_BOUNDS(extend_rows, RnsLaunch, KARAT_ROW_THREADS, KARAT_ROW_BLOCKS) { forward_rows<EXTEND>(launch); }

template <int GROUP>
DEVICE void inverse_rows_from(const L& m, Lane* v, u32 thread, u32 row, Table table, InverseLast& last,
                              RowExchange x) {
    typedef Place<ROW_LAYERS, ROW_POINTS, GROUP> P;
    if constexpr (GROUP + 1 < RowGroups::COUNT) {
        UNROLL for (int j = 0; j < P::UNITS; j++) {
            u32 node = (row << P::FIRST) + P::node(P::unit(thread, j));
            NaturalTwiddles<L, P::DEPTH, true> twiddles(table, HEIGHT << P::FIRST, node);
            inverse_unit<P::DEPTH, L::RESTED>(m, v + j * P::LANES, twiddles);
        }
    } else {
        last.prepare(m);
        inverse_unit<P::DEPTH, L::ENTRY>(m, v, last);
    }
    if constexpr (GROUP > 0) {
        sync_row();
        x.put<GROUP>(v, thread);
        sync_row();
        x.get<GROUP - 1>(v, thread);
        inverse_rows_from<GROUP - 1>(m, v, thread, row, table, last, x);
    }
}

// From canonical words `a` to lazy lanes `out`.
KERNEL_BOUNDS(inverse_rows, RnsLaunch, KARAT_ROW_THREADS, KARAT_ROW_BLOCKS) {
    DYN_SHARED(Word, shared);
    Block at = block_of(launch, HEIGHT / ROWS, false);
    L m(launch.primes[at.prime]);
    u32 thread = thread_index() % RowGroups::THREADS, local = thread_index() / RowGroups::THREADS;
    u32 row = at.part * ROWS + local;
    RowExchange x{shared + local * RowExchange::SIZE};
    typedef Place<ROW_LAYERS, ROW_POINTS, 0> First;
    Lane v[1 << ROW_POINTS];
    InverseLast last(at.table, SLOTS, (row << RowLast::FIRST) + thread);
    wait_for_launch_before();
    const Word* in = limb_of<const Word>(launch, launch.a, at.poly, at.limb) + row * ROW;
    UNROLL for (int k = 0; k < 1 << ROW_POINTS; k++)
        neighbour(x, thread, k) = L::suspend(L::load(in[thread + k * RowGroups::THREADS]));
    sync_row();
    x.get<RowGroups::COUNT - 1>(v, thread);
    inverse_rows_from<RowGroups::COUNT - 1>(m, v, thread, row, at.table, last, x);
    release_launch_after();
    Word* out = limb_of<Word>(launch, launch.out, at.poly, at.limb) + row * ROW;
    UNROLL for (int j = 0; j < First::UNITS; j++) {
        Word* first = out + First::lane(First::unit(thread, j));
        UNROLL for (int k = 0; k < First::LANES; k++) first[k << First::SHIFT] = L::suspend(v[j * First::LANES + k]);
    }
}
