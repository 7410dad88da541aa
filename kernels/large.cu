// Products modulo x^N + 1 for N = 2^12 to 2^16 in three launches: columns of both factors; rows of both, the products at
// their points and the way back; columns of the result. A thread holds 16 lanes and does up to four layers on them at a
// time; two such passes with an exchange through shared memory make a column or a row.
//
// Layer FIRST has 2^FIRST nodes, the rows, of 2^(LOG - FIRST) lanes; a column takes one lane of each. Lanes between the
// launches are lazy.

#include "passes.cuh"

constexpr u32 LOG = KARAT_LOG, FIRST = KARAT_FIRST, REST = LOG - FIRST;
constexpr u32 COLUMNS = KARAT_COLUMNS;            // of a block
constexpr u32 ROWS_THREADS = KARAT_ROWS_THREADS;  // of a block of rows, for one factor
// Whether threads of their own transform the first factor's rows: sooner done where products are few.
constexpr u32 FACTORS = KARAT_APART ? 2 : 1;
// Blocks of rows that a multiprocessor holds at once: bounds the registers.
constexpr u32 ROWS_BLOCKS = (KARAT_CLASS == 53 ? 4 : 3) * 128 / ROWS_THREADS;
static_assert(FIRST >= 5 && FIRST <= 8 && REST >= 5 && REST <= 8, "two passes of at most four layers");

// What forward columns leave.
constexpr u32 COLUMN_LAYERS = layers_after(4, FIRST - 4);

// Where a thread of a column works: lane i of the first pass is row i * PART + part, of the second row 16 * part + i.
constexpr u32 PART = 1 << (FIRST - 4);
struct Column {
    u64 polynomial;
    u32 column, part, inside;
    DEVICE Column() {
        constexpr u32 blocks = (1 << REST) / COLUMNS;
        polynomial = block_index() / blocks;
        inside = thread_index() % COLUMNS;
        column = block_index() % blocks * COLUMNS + inside;
        part = thread_index() / COLUMNS;
    }
    DEVICE static u64 at(u32 row) { return static_cast<u64>(row) << REST; }
};

// Both factors, `count` polynomials each; the results lie one behind the other.
KERNEL_BOUNDS(forward_columns, Launch, COLUMNS * PART, 2) {
    DYN_SHARED(Lane, shared);
    release_launch_after();
    Field f(launch);
    wait_for_launch_before();
    Column c;
    // Both factors of a product one behind the other: rows, which go backwards, find the last ones in the cache.
    const u64 product = c.polynomial / 2, factor = c.polynomial % 2;
    const u64* from = static_cast<const u64*>(factor ? launch.b : launch.a) + (product << LOG) + c.column;
    Lane x[16];
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = f.enter(from[Column::at(i * PART + c.part)]);
    forward_pass<4, 0, 0>(f, x, Nodes{table(launch.zetas, LOG), 1});
    UNROLL for (u32 i = 0; i < 16; i++) shared[(i * PART + c.part) * COLUMNS + c.inside] = x[i];
    sync_block();
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = shared[(16 * c.part + i) * COLUMNS + c.inside];
    forward_pass<FIRST - 4, 0, 4>(f, x, Nodes{table(launch.zetas, LOG), 16 + (16 * c.part >> (FIRST - 4))});
    Lane* to = static_cast<Lane*>(launch.out) + ((factor * launch.count + product) << LOG) + c.column;
    UNROLL for (u32 i = 0; i < 16; i++) to[Column::at(16 * c.part + i)] = x[i];
}

KERNEL_BOUNDS(inverse_columns, Launch, COLUMNS * PART, 2) {
    DYN_SHARED(Lane, shared);
    release_launch_after();
    Field f(launch);
    wait_for_launch_before();
    Column c;
    const Lane* from = static_cast<const Lane*>(launch.a) + (c.polynomial << LOG) + c.column;
    Lane x[16];
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = from[Column::at(16 * c.part + i)];
    inverse_pass<FIRST - 4>(f, x, Nodes{table(launch.inverse_zetas, LOG), 16 + (16 * c.part >> (FIRST - 4))});
    UNROLL for (u32 i = 0; i < 16; i++) shared[(16 * c.part + i) * COLUMNS + c.inside] = x[i];
    sync_block();
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = shared[(i * PART + c.part) * COLUMNS + c.inside];
    inverse_pass<4>(f, x, Nodes{table(launch.inverse_zetas, LOG), 1});
    u64* to = static_cast<u64*>(launch.out) + (c.polynomial << LOG) + c.column;
    UNROLL for (u32 i = 0; i < 16; i++) to[Column::at(i * PART + c.part)] = f.leave(x[i]);
}

// A row lies with a fraction of a warp: lane i of the first pass is lane i * SHARE + part of the row, of the second
// 16 * part + i.
constexpr u32 SHARE = 1 << (REST - 4);
constexpr u32 REGION = (1 << REST) + (1 << (REST - 4)) + 1;

KERNEL_BOUNDS(product_rows, Launch, FACTORS * ROWS_THREADS, ROWS_BLOCKS / FACTORS) {
    DYN_SHARED(Lane, shared);
    release_launch_after();
    Field f(launch);
    wait_for_launch_before();
    u32 thread = thread_index() % ROWS_THREADS, own = thread_index() / ROWS_THREADS, part = thread % SHARE;
    Lane* region = shared + thread / SHARE * 2 * REGION;
    Lane* kept = region + REGION;
    Lane* mine = KARAT_APART && own == 0 ? kept : region;
    u64 row = static_cast<u64>(block_count() - 1 - block_index()) * (ROWS_THREADS / SHARE) + thread / SHARE;
    u32 node = static_cast<u32>(row) & ((1u << FIRST) - 1);
    u32 outer = (1u << FIRST) + node, inner = (outer << 4) + (16 * part >> (REST - 4));
    Lane x[16];
    ROLL for (u32 factor = KARAT_APART ? own : 0; factor < (KARAT_APART ? own + 1 : 2); factor++) {
        const Lane* from = static_cast<const Lane*>(factor ? launch.b : launch.a) + (row << REST);
        UNROLL for (u32 i = 0; i < 16; i++) x[i] = from[i * SHARE + part];
        forward_pass<4, 0, COLUMN_LAYERS>(f, x, Nodes{table(launch.zetas, LOG), outer});
        sync_warp();
        UNROLL for (u32 i = 0; i < 16; i++) mine[padded_index(i * SHARE + part)] = x[i];
        sync_warp();
        UNROLL for (u32 i = 0; i < 16; i++) x[i] = mine[padded_index(16 * part + i)];
        forward_pass<REST - 4, 0, layers_after(COLUMN_LAYERS, 4)>(f, x, Nodes{table(launch.zetas, LOG), inner});
        if (factor == 0) {
            if (KARAT_APART) sync_warp();
            UNROLL for (u32 i = 0; i < 16; i++) kept[padded_index(16 * part + i)] = x[i];
        }
    }
    if (KARAT_APART) {
        sync_block();
        if (own == 0) return;
    }
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = f.point(x[i], kept[padded_index(16 * part + i)]);
    inverse_pass<REST - 4>(f, x, Nodes{table(launch.inverse_zetas, LOG), inner});
    sync_warp();
    UNROLL for (u32 i = 0; i < 16; i++) region[padded_index(16 * part + i)] = x[i];
    sync_warp();
    UNROLL for (u32 i = 0; i < 16; i++) x[i] = region[padded_index(i * SHARE + part)];
    inverse_pass<4>(f, x, Nodes{table(launch.inverse_zetas, LOG), outer});
    Lane* to = static_cast<Lane*>(launch.out) + (row << REST);
    UNROLL for (u32 i = 0; i < 16; i++) to[i * SHARE + part] = x[i];
}
