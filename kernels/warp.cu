// Whole products of small rings in registers: N / 32 lanes of a warp hold a polynomial, 32 coefficients each.
//
// The outer layers work on coefficients far apart, with factors that are the same for all lanes and stand in the code;
// one transpose through shared memory, which a warp shares with nobody, brings 32 neighbours into each lane for the
// inner layers. The transform stops where WIDTH coefficients are left at a point. Ranges are tracked at compile time,
// in units of q.

#include "launch.cuh"
#include "constants.cuh"

constexpr u32 LANES = N / 32;
// Neighbours that a lane holds in the outer layout: register r is coefficient PAIR * LANES * (r / PAIR) + PAIR * lane
// + r % PAIR, so that layer t pairs registers 16 >> t apart.
constexpr u32 PAIR = LANES == 32 ? 1 : 2;
constexpr u32 WARPS = KARAT_WARPS;
static_assert(LANES == 8 || LANES == 16 || LANES == 32, "N is 256, 512 or 1024");
static_assert((N >> (OUTER + 1)) <= 16, "inner layers fit a lane");
static_assert(OUTER == (PAIR == 1 ? 5 : 4), "outer layers fit the registers");
static_assert(WIDTH << LAYERS == N, "a transform of WIDTH coefficients a point");

#if KARAT_SMALL
#include "small.cuh"
#else
#include "shoup.cuh"
#endif

// Shared words of one polynomial: four of padding after 32, and regions half the banks apart.
constexpr u32 REGION = N + N / 8 + 16;
DEVICE u32 padded_index(u32 i) { return i + (i >> 5) * 4; }

DEVICE u32 outer_index(u32 k, u32 lane) { return PAIR * (LANES * k + lane); }

DEVICE void store_outer(const u32 (&x)[32], u32* region, u32 lane) {
    UNROLL for (u32 k = 0; k < 32 / PAIR; k++) {
        u32* at = region + padded_index(outer_index(k, lane));
        if (PAIR == 2) *reinterpret_cast<Two*>(at) = Two{x[PAIR * k], x[PAIR * k + PAIR - 1]};
        else *at = x[k];
    }
}

DEVICE void load_outer(u32 (&x)[32], const u32* region, u32 lane) {
    UNROLL for (u32 k = 0; k < 32 / PAIR; k++) {
        const u32* at = region + padded_index(outer_index(k, lane));
        if (PAIR == 2) {
            Two two = *reinterpret_cast<const Two*>(at);
            x[PAIR * k] = two.a;
            x[PAIR * k + PAIR - 1] = two.b;
        } else {
            x[k] = *at;
        }
    }
}

DEVICE void load_inner(u32 (&x)[32], const u32* region, u32 lane) {
    UNROLL for (u32 r = 0; r < 32; r += 4) {
        Four four = *reinterpret_cast<const Four*>(region + padded_index(32 * lane) + r);
        x[r] = four.a, x[r + 1] = four.b, x[r + 2] = four.c, x[r + 3] = four.d;
    }
}

DEVICE void store_inner(const u32 (&x)[32], u32* region, u32 lane) {
    UNROLL for (u32 r = 0; r < 32; r += 4)
        *reinterpret_cast<Four*>(region + padded_index(32 * lane) + r) = Four{x[r], x[r + 1], x[r + 2], x[r + 3]};
}

typedef KARAT_STORE Store;

DEVICE void load(u32 (&x)[32], const Store* coefficients, u32 lane) {
    UNROLL for (u32 k = 0; k < 32 / PAIR; k++) {
        const Store* at = coefficients + outer_index(k, lane);
        if (PAIR == 1) {
            x[k] = *at;
        } else if (sizeof(Store) == 2) {
            u32 both = *reinterpret_cast<const u32*>(at);
            x[PAIR * k] = both & 0xffff;
            x[PAIR * k + PAIR - 1] = both >> 16;
        } else {
            Two two = *reinterpret_cast<const Two*>(at);
            x[PAIR * k] = two.a;
            x[PAIR * k + PAIR - 1] = two.b;
        }
    }
}

DEVICE void store(const u32 (&x)[32], Store* coefficients, u32 lane) {
    UNROLL for (u32 k = 0; k < 32 / PAIR; k++) {
        Store* at = coefficients + outer_index(k, lane);
        u32 low = x[PAIR * k], high = x[PAIR * k + PAIR - 1];
        if (PAIR == 1) *at = static_cast<Store>(low);
        else if (sizeof(Store) == 2) *reinterpret_cast<u32*>(at) = low | (high << 16);
        else *reinterpret_cast<Two*>(at) = Two{low, high};
    }
}

KERNEL_BOUNDS(product, Launch, 32 * WARPS, KARAT_BLOCKS) {
    DYN_SHARED(u32, shared);
    u32 lane = thread_index() % LANES;
    u32* region = shared + thread_index() / LANES * REGION;
    u64 index = static_cast<u64>(block_index()) * (32 * WARPS / LANES) + thread_index() / LANES;
    // Lanes without a polynomial repeat the last one and store nothing.
    u64 polynomial = index < launch.count ? index : launch.count - 1;
    u32 a[32], b[32];
    load(a, static_cast<const Store*>(launch.a) + polynomial * N, lane);
    load(b, static_cast<const Store*>(launch.b) + polynomial * N, lane);
    forward_outer(a);
    store_outer(a, region, lane);
    sync_warp();
    load_inner(a, region, lane);
    forward_outer(b);
    sync_warp();
    store_outer(b, region, lane);
    sync_warp();
    load_inner(b, region, lane);
    inner_product(a, b, launch.zetas, launch.inverse_zetas, lane);
    sync_warp();
    store_inner(a, region, lane);
    sync_warp();
    load_outer(a, region, lane);
    inverse_outer(a);
    if (index < launch.count) store(a, static_cast<Store*>(launch.out) + polynomial * N, lane);
}
