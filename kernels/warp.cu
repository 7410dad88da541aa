// Whole products of small rings in registers: N / 32 lanes of a warp hold a polynomial, 32 coefficients each.
//
// The outer layers work on coefficients far apart, with factors that are the same for all lanes and stand in the code;
// one transpose through shared memory, which a warp shares with nobody, brings 32 neighbours into each lane for the
// inner layers. Ranges are tracked at compile time, in units of q.

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
static_assert(WIDTH == 1 || WIDTH == 2, "one or two coefficients at a point");

#if KARAT_SMALL
// q < 2^14. A factor z is w' = (-z * 2^32 mod q) * q^-1 mod 2^32: with t = a * w' mod 2^32, t * q is a * w plus a
// multiple m of 2^32, and m = -a * w * 2^-32 = a * z mod q, in [0, q).
typedef u32 Twiddle;
constexpr u32 GROWTH = 1;                               // a product is below GROWTH * q
constexpr u32 LIMIT = 0xffffffffu / (Q - 1) / Q;        // a factor's other operand stays below LIMIT * q
constexpr u32 START = 1;                                // products at the points are below START * q
static_assert((LAYERS + 1) * Q < 0xffffffffu / Q / (WIDTH == 2 ? 2 * (LAYERS + 1) : 1), "sums fit 32 bits");
DEVICE u32 times(u32 a, Twiddle w) { return mul_hi(a * w, Q); }
DEVICE u32 canonical(u32 a, Twiddle w) { return times(a, w); }
// -x * 2^-32 in [0, q), any x.
DEVICE u32 redc(u32 x) { return mul_hi(x * Q_INV, Q); }
DEVICE u32 point(u32 a, u32 b) { return redc(a * times(b, ONE)); }
#else
// Shoup's multiplication: any 32-bit operand, products in [0, 2q).
typedef Shoup<u32> Twiddle;
constexpr u32 GROWTH = 2;
constexpr u32 LIMIT = 0xffffffffu / Q;
constexpr u32 START = 2;
static_assert(WIDTH == 1, "one coefficient at a point");
static_assert(static_cast<u64>(1 + 2 * LAYERS) * (1 + 2 * LAYERS) * Q < (1ull << 32), "products fit the reduction");
DEVICE u32 times(u32 a, Twiddle w) { return a * w.value - mul_hi(a, w.quotient) * Q; }
DEVICE u32 canonical(u32 a, Twiddle w) { return csub(times(a, w), Q); }
// a * b * 2^-32 in [0, 2q).
DEVICE u32 point(u32 a, u32 b) {
    u64 wide = static_cast<u64>(a) * b;
    return static_cast<u32>(wide >> 32) - mul_hi(static_cast<u32>(wide) * Q_INV, Q) + Q;
}
#endif

// Bound of the inverse's operands before the layer that runs `step`th: sums double, unless the next layer's
// differences would pass the limit; then they are brought down.
DEVICE constexpr u32 inverse_bound(u32 step) {
    u32 bound = START;
    for (u32 i = 0; i < step; i++)
        if (4 * bound <= LIMIT) bound *= 2;
    return bound;
}
static_assert(2 * inverse_bound(LAYERS - 1) <= LIMIT, "the last layer's results can be multiplied");
static_assert(1 + GROWTH * LAYERS <= LIMIT, "forward lanes can be multiplied");

DEVICE void forward_butterfly(u32& x, u32& y, Twiddle zeta) {
    u32 t = times(y, zeta);
    y = x - t + GROWTH * Q;
    x = x + t;
}

// Layers are template arguments, so that every index of a register is a constant. `Step` counts the inverse's layers.
template <u32 Step>
DEVICE void inverse_butterfly(u32& x, u32& y, Twiddle zeta) {
    constexpr u32 bound = inverse_bound(Step) * Q;
    constexpr bool reduced = Step + 1 < LAYERS && inverse_bound(Step + 1) == inverse_bound(Step);
    u32 sum = x + y;
    y = times(x - y + bound, zeta);
    x = reduced ? smaller(sum, sum - bound) : sum;
}

template <u32 T = 0>
DEVICE void forward_outer(u32 (&x)[32]) {
    UNROLL for (u32 i = 0; i < 16; i++) {
        // Spreads the bits of i around the bit that pairs the registers.
        const u32 r = i % (16 >> T) + i / (16 >> T) * (32 >> T);
        forward_butterfly(x[r], x[r + (16 >> T)], ZETAS[(1 << T) + i / (16 >> T)]);
    }
    if constexpr (T + 1 < OUTER) forward_outer<T + 1>(x);
}

// The last layer scales by n^-1 and what the products left.
template <u32 T = OUTER - 1>
DEVICE void inverse_outer(u32 (&x)[32]) {
    if constexpr (T > 0) {
        UNROLL for (u32 i = 0; i < 16; i++) {
            const u32 r = i % (16 >> T) + i / (16 >> T) * (32 >> T);
            inverse_butterfly<LAYERS - 1 - T>(x[r], x[r + (16 >> T)], INVERSE_ZETAS[(1 << T) + i / (16 >> T)]);
        }
        inverse_outer<T - 1>(x);
    } else {
        constexpr u32 bound = inverse_bound(LAYERS - 1) * Q;
        UNROLL for (u32 r = 0; r < 16; r++) {
            u32 low = x[r], high = x[r + 16];
            x[r] = canonical(low + high, SCALE);
            x[r + 16] = canonical(low - high + bound, SCALE_ZETA);
        }
    }
}

// The first inner node of a lane in layer t; 16 / half nodes a lane.
DEVICE const Twiddle* inner_zetas(const void* table, u32 t, u32 lane) {
    return static_cast<const Twiddle*>(table) + (1 << t) + lane * ((1 << t) / LANES);
}

template <u32 T = OUTER>
DEVICE void forward_inner(u32 (&x)[32], const void* zetas, u32 lane) {
    constexpr u32 half = N >> (T + 1);
    const Twiddle* z = inner_zetas(zetas, T, lane);
    UNROLL for (u32 i = 0; i < 16; i++) {
        const u32 r = i % half + i / half * 2 * half;
        forward_butterfly(x[r], x[r + half], z[i / half]);
    }
    if constexpr (T + 1 < LAYERS) forward_inner<T + 1>(x, zetas, lane);
}

template <u32 T = LAYERS - 1>
DEVICE void inverse_inner(u32 (&x)[32], const void* zetas, u32 lane) {
    constexpr u32 half = N >> (T + 1);
    const Twiddle* z = inner_zetas(zetas, T, lane);
    UNROLL for (u32 i = 0; i < 16; i++) {
        const u32 r = i % half + i / half * 2 * half;
        inverse_butterfly<LAYERS - 1 - T>(x[r], x[r + half], z[i / half]);
    }
    if constexpr (T > OUTER) inverse_inner<T - 1>(x, zetas, lane);
}

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

// a * b at the points of a lane, into a.
template <u32 Width>
struct Points {
    DEVICE static void multiply(u32 (&a)[32], const u32 (&b)[32], const void*, u32) {
        UNROLL for (u32 i = 0; i < 32; i++) a[i] = point(a[i], b[i]);
    }
};

#if KARAT_SMALL
// Pairs modulo x^2 - z and x^2 + z, z the factor of the last layer's node.
template <>
struct Points<2> {
    DEVICE static void multiply(u32 (&a)[32], const u32 (&b)[32], const void* zetas, u32 lane) {
        const Twiddle* z = inner_zetas(zetas, LAYERS - 1, lane);
        UNROLL for (u32 i = 0; i < 32; i += 2) {
            u32 wrapped = times(b[i + 1], z[i / 4]);
            if (i & 2) wrapped = Q - wrapped;
            u32 low = a[i] * b[i] + a[i + 1] * wrapped, high = a[i] * b[i + 1] + a[i + 1] * b[i];
            a[i] = redc(low);
            a[i + 1] = redc(high);
        }
    }
};
#endif

// Five blocks a multiprocessor: at most 96 registers.
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
    forward_inner(a, launch.zetas, lane);
    forward_inner(b, launch.zetas, lane);
    Points<WIDTH>::multiply(a, b, launch.zetas, lane);
    inverse_inner(a, launch.inverse_zetas, lane);
    sync_warp();
    store_inner(a, region, lane);
    sync_warp();
    load_outer(a, region, lane);
    inverse_outer(a);
    if (index < launch.count) store(a, static_cast<Store*>(launch.out) + polynomial * N, lane);
}
