// Transforms modulo q < 2^31 in registers for warp.cu: products in [0, 2q) by Shoup's multiplication. A part of them
// with quotients in double precision lost on an H200: 249 us for 2^18 products of ML-DSA's ring, 272 with a quarter.
#pragma once

typedef Shoup<u32> Twiddle;

CONSTANT Twiddle ZETAS[] = {KARAT_ZETAS}, INVERSE_ZETAS[] = {KARAT_INVERSE_ZETAS};
// n^-1 with what the products leave, and the same times the last layer's factor.
CONSTANT Twiddle SCALES[] = {KARAT_SCALES};

constexpr u32 GROWTH = 2;                        // a product is below GROWTH * q
constexpr u32 LIMIT = 0xffffffffu / Q;           // any operand is below LIMIT * q
constexpr u32 START = 2;                         // products at the points are below START * q
constexpr u32 FORWARD = 1 + GROWTH * LAYERS;     // forward lanes at the points
static_assert(WIDTH == 1 || WIDTH == 2, "one or two coefficients at a point");
static_assert(static_cast<u64>(WIDTH) * FORWARD * FORWARD * Q < (1ull << 32), "products fit the reduction");

DEVICE u32 times(u32 a, Twiddle z) { return a * z.value - mul_hi(a, z.quotient) * Q; }

// x * 2^-32 in [0, 2q). Bounds: x < q * 2^32.
DEVICE u32 reduce_point(u64 x) { return static_cast<u32>(x >> 32) - mul_hi(static_cast<u32>(x) * Q_INV, Q) + Q; }

// Bound of the inverse's operands before the layer that runs `step`th: sums double, unless the next layer's
// differences would pass the limit; then they are brought down.
DEVICE constexpr u32 inverse_bound(u32 step) {
    u32 bound = START;
    for (u32 i = 0; i < step; i++)
        if (4 * bound <= LIMIT) bound *= 2;
    return bound;
}
static_assert(2 * inverse_bound(LAYERS - 1) <= LIMIT, "the last layer's results can be multiplied");
static_assert(FORWARD <= LIMIT, "forward lanes can be multiplied");

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
        const u32 node = i / (16 >> T), r = i % (16 >> T) + node * (32 >> T);
        forward_butterfly(x[r], x[r + (16 >> T)], ZETAS[(1 << T) + node]);
    }
    if constexpr (T + 1 < OUTER) forward_outer<T + 1>(x);
}

// The last layer scales by n^-1 and what the products left.
template <u32 T = OUTER - 1>
DEVICE void inverse_outer(u32 (&x)[32]) {
    if constexpr (T > 0) {
        UNROLL for (u32 i = 0; i < 16; i++) {
            const u32 node = i / (16 >> T), r = i % (16 >> T) + node * (32 >> T);
            inverse_butterfly<LAYERS - 1 - T>(x[r], x[r + (16 >> T)], INVERSE_ZETAS[(1 << T) + node]);
        }
        inverse_outer<T - 1>(x);
    } else {
        constexpr u32 bound = inverse_bound(LAYERS - 1) * Q;
        UNROLL for (u32 r = 0; r < 16; r++) {
            u32 low = x[r], high = x[r + 16];
            x[r] = csub(times(low + high, SCALES[0]), Q);
            x[r + 16] = csub(times(low - high + bound, SCALES[1]), Q);
        }
    }
}

// Factors of the inner layers [layer][node], as many nodes a lane as there are.
DEVICE constexpr u32 inner_nodes(u32 t) { return (1u << t) / LANES; }
DEVICE const Twiddle* inner_zetas(const void* table, u32 t, u32 lane) {
    return static_cast<const Twiddle*>(table) + (1 << t) + lane * inner_nodes(t);
}

template <u32 T>
struct Inner {
    static constexpr u32 HALF = N >> (T + 1);

    DEVICE static void forward(u32 (&a)[32], u32 (&b)[32], const void* zetas, u32 lane) {
        const Twiddle* z = inner_zetas(zetas, T, lane);
        UNROLL for (u32 node = 0; node < 16 / HALF; node++) {
            Twiddle zeta = z[node];
            UNROLL for (u32 r = 2 * HALF * node; r < 2 * HALF * node + HALF; r++) {
                forward_butterfly(a[r], a[r + HALF], zeta);
                forward_butterfly(b[r], b[r + HALF], zeta);
            }
        }
    }

    DEVICE static void inverse(u32 (&a)[32], const void* zetas, u32 lane) {
        const Twiddle* z = inner_zetas(zetas, T, lane);
        UNROLL for (u32 node = 0; node < 16 / HALF; node++) {
            Twiddle zeta = z[node];
            UNROLL for (u32 r = 2 * HALF * node; r < 2 * HALF * node + HALF; r++)
                inverse_butterfly<LAYERS - 1 - T>(a[r], a[r + HALF], zeta);
        }
    }
};

// a * b at the points of a lane, into a.
template <u32 Width>
struct Points {
    DEVICE static void multiply(u32 (&a)[32], const u32 (&b)[32], const void*, u32) {
        UNROLL for (u32 i = 0; i < 32; i++) a[i] = reduce_point(static_cast<u64>(a[i]) * b[i]);
    }
};

// Pairs modulo x^2 - z and x^2 + z, z the factor of the last layer's node.
template <>
struct Points<2> {
    DEVICE static void multiply(u32 (&a)[32], const u32 (&b)[32], const void* zetas, u32 lane) {
        const Twiddle* z = inner_zetas(zetas, LAYERS - 1, lane);
        UNROLL for (u32 i = 0; i < 32; i += 2) {
            u32 wrapped = times(b[i + 1], z[i / 4]);
            if (i & 2) wrapped = GROWTH * Q - wrapped;
            u64 low = static_cast<u64>(a[i]) * b[i] + static_cast<u64>(a[i + 1]) * wrapped;
            u64 high = static_cast<u64>(a[i]) * b[i + 1] + static_cast<u64>(a[i + 1]) * b[i];
            a[i] = reduce_point(low);
            a[i + 1] = reduce_point(high);
        }
    }
};

// Inner layers of both factors, products at the points, and the way back.
template <u32 T = OUTER>
DEVICE void inner_product(u32 (&a)[32], u32 (&b)[32], const void* zetas, const void* inverse_zetas, u32 lane) {
    Inner<T>::forward(a, b, zetas, lane);
    if constexpr (T + 1 < LAYERS) inner_product<T + 1>(a, b, zetas, inverse_zetas, lane);
    else Points<WIDTH>::multiply(a, b, zetas, lane);
    Inner<T>::inverse(a, inverse_zetas, lane);
}
