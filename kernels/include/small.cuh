// Transforms modulo q < 2^14 in registers, two layers at a time, for warp.cu.
//
// A factor z is w' = w * q^-1 mod 2^32 with w = -z * 2^32 mod q. For t = sum of a * w' mod 2^32, t * q is the sum of
// a * w plus m * 2^32, so that m = high word of t * q is the sum of a * z modulo q, in [0, q), where the sum of a * w is
// below 2^32: one reduction serves a sum. The sums at the points may be reduced in double precision instead, beside the
// integer multipliers.
#pragma once

// The factors of two layers of one node: of its first layer, of both nodes of the second, and their products.
struct Quad {
    u32 a, b, ab, c, minus_ac;
};

CONSTANT Quad QUADS[] = {KARAT_QUADS}, INVERSE_QUADS[] = {KARAT_INVERSE_QUADS};

constexpr bool DOUBLE_POINT = KARAT_DOUBLES;

// Any x to [0, q) in double precision: with v = RECIPROCAL * 2^-52 just above 1/q, (2^52 + x) * v + 2^52 - 1/2 rounds to
// 2^52 + RECIPROCAL + floor(x / q), and q * RECIPROCAL = EXCESS modulo 2^32.
DEVICE u32 reduce_double(u32 x) {
    const double v = static_cast<double>(RECIPROCAL) / 4503599627370496.0;  // magic: 4503599627370496 == 2^52
    double quotient = fma_rn(double_of(DOUBLE_HIGH, x), v, 4503599627370495.5);  // magic: 4503599627370495 == 2^52 - 1
    return x - low_word(quotient) * Q + EXCESS;
}

DEVICE u32 reduce(u32 t) { return mul_hi(t, Q); }
DEVICE u32 times(u32 a, u32 w) { return reduce(a * w); }
// A sum at a point to [0, q), any x: times -2^-32 by Montgomery's reduction.
DEVICE u32 reduce_point(u32 x) { return DOUBLE_POINT ? reduce_double(x) : mul_hi(x * Q_INV, Q); }

// Operands of sums of two products stay below PAIR_LIMIT * q, of one below LIMIT * q.
constexpr u32 LIMIT = 0xffffffffu / (Q - 1) / Q, PAIR_LIMIT = LIMIT / 2;
// Forward lanes before the layer t: 1 at first, one more in each layer.
constexpr u32 FORWARD = LAYERS + 1;
static_assert(LAYERS - 1 <= PAIR_LIMIT && FORWARD <= LIMIT, "forward lanes can be multiplied");
static_assert((LAYERS - OUTER) % 2 == 0, "inner layers come in pairs");

// Bound of the inverse's operands after `passes` pairs of layers: sums grow fourfold, unless the next pair's
// differences would pass the limit; then they are brought down.
DEVICE constexpr u32 inverse_bound(u32 passes) {
    u32 bound = 1;
    for (u32 i = 0; i < passes; i++) bound = 2 * 4 * bound <= PAIR_LIMIT ? 4 * bound : 1;
    return bound;
}
constexpr u32 PASSES = LAYERS / 2;
// Where the number of outer layers is odd, the first stands alone.
constexpr u32 ALONE = OUTER % 2;
static_assert(4 * inverse_bound(PASSES - 1) <= LIMIT, "the last sums can be multiplied");

DEVICE void forward_quad(u32& x0, u32& x1, u32& x2, u32& x3, Quad z) {
    u32 s = reduce(x2 * z.a);
    u32 left = reduce(x1 * z.b + x3 * z.ab);
    u32 right = reduce(x1 * z.c + x3 * z.minus_ac);
    u32 sum = x0 + s, difference = x0 - s + Q;
    x0 = sum + left;
    x1 = sum - left + Q;
    x2 = difference + right;
    x3 = difference - right + Q;
}

// `Pass` counts the pairs of layers from the points.
template <u32 Pass>
DEVICE void inverse_quad(u32& x0, u32& x1, u32& x2, u32& x3, Quad z) {
    constexpr u32 bound = inverse_bound(Pass) * Q;
    constexpr bool reduced = Pass + 1 < PASSES + ALONE && inverse_bound(Pass + 1) == 1;
    u32 left = x0 + x1, right = x2 + x3, d1 = x0 - x1 + bound, d3 = x2 - x3 + bound;
    x0 = reduced ? times(left + right, ONE) : left + right;
    x1 = reduce(d1 * z.b + d3 * z.c);
    x2 = reduce((left - right + 2 * bound) * z.a);
    x3 = reduce(d1 * z.ab + d3 * z.minus_ac);
}

// Layers are template arguments, so that every index of a register is a constant.
template <u32 T>
DEVICE void forward_outer_pairs(u32 (&x)[32]) {
    constexpr u32 step = 8 >> T;
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 r = i % step + i / step * 4 * step;
        forward_quad(x[r], x[r + step], x[r + 2 * step], x[r + 3 * step], QUADS[(1 << T) + i / step]);
    }
    if constexpr (T + 2 < OUTER) forward_outer_pairs<T + 2>(x);
}

DEVICE void forward_outer(u32 (&x)[32]) {
    if constexpr (ALONE) {
        UNROLL for (u32 r = 0; r < 16; r++) {
            u32 t = times(x[r + 16], FIRST_ZETA);
            x[r + 16] = x[r] - t + Q;
            x[r] = x[r] + t;
        }
    }
    forward_outer_pairs<ALONE>(x);
}

template <u32 T>
DEVICE void inverse_outer_pairs(u32 (&x)[32]) {
    constexpr u32 step = 8 >> T, pass = (LAYERS - T) / 2 - 1;
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 r = i % step + i / step * 4 * step;
        inverse_quad<pass>(x[r], x[r + step], x[r + 2 * step], x[r + 3 * step], INVERSE_QUADS[(1 << T) + i / step]);
        // The factors of the last pair of layers hold the scaling.
        if constexpr (T == 0) x[r] = times(x[r], SCALE);
    }
    if constexpr (T > ALONE) inverse_outer_pairs<T - 2>(x);
}

DEVICE void inverse_outer(u32 (&x)[32]) {
    inverse_outer_pairs<OUTER - 2>(x);
    if constexpr (ALONE) {
        constexpr u32 bound = inverse_bound(PASSES) * Q;
        UNROLL for (u32 r = 0; r < 16; r++) {
            u32 low = x[r], high = x[r + 16];
            x[r] = times(low + high, SCALE);
            x[r + 16] = times(low - high + bound, SCALE_ZETA);
        }
    }
}

// Tables of the inner layers: for each pair of layers and lane its nodes' factors, a multiple of four words.
DEVICE constexpr u32 inner_nodes(u32 t) { return (1u << t) / LANES; }
DEVICE constexpr u32 inner_words(u32 t) { return (5 * inner_nodes(t) + 3) / 4 * 4; }
DEVICE constexpr u32 inner_offset(u32 t) {
    u32 offset = 0;
    for (u32 layer = OUTER; layer < t; layer += 2) offset += LANES * inner_words(layer);
    return offset;
}

template <u32 T>
struct Inner {
    static constexpr u32 NODES = inner_nodes(T), WORDS = inner_words(T), STEP = N >> (T + 2);
    u32 words[WORDS];

    DEVICE Inner(const void* table, u32 lane) {
        const Four* at = reinterpret_cast<const Four*>(static_cast<const u32*>(table) + inner_offset(T) + lane * WORDS);
        UNROLL for (u32 i = 0; i < WORDS / 4; i++) {
            Four four = at[i];
            words[4 * i] = four.a, words[4 * i + 1] = four.b, words[4 * i + 2] = four.c, words[4 * i + 3] = four.d;
        }
    }

    DEVICE Quad quad(u32 node) const {
        const u32* z = words + 5 * node;
        return Quad{z[0], z[1], z[2], z[3], z[4]};
    }

    DEVICE void forward(u32 (&x)[32]) const {
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 r = i % STEP + i / STEP * 4 * STEP;
            forward_quad(x[r], x[r + STEP], x[r + 2 * STEP], x[r + 3 * STEP], quad(i / STEP));
        }
    }

    DEVICE void inverse(u32 (&x)[32]) const {
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 r = i % STEP + i / STEP * 4 * STEP;
            inverse_quad<(LAYERS - T) / 2 - 1>(x[r], x[r + STEP], x[r + 2 * STEP], x[r + 3 * STEP], quad(i / STEP));
        }
    }
};

// Whether the second factor must be brought below q, so that sums at a point fit.
constexpr bool REDUCE_FACTOR = static_cast<u64>(WIDTH) * FORWARD * FORWARD * Q * Q >= (1ull << 32);
static_assert(static_cast<u64>(WIDTH) * FORWARD * Q * Q < (1ull << 32), "sums at a point fit 32 bits");

// a * b modulo x^WIDTH - z, or x^WIDTH + z where NEGATIVE, into a.
template <bool NEGATIVE>
DEVICE void multiply_point(u32* a, const u32* b, u32 z) {
    u32 factor[WIDTH], wrapped[WIDTH], out[WIDTH];
    UNROLL for (u32 k = 0; k < WIDTH; k++) {
        factor[k] = REDUCE_FACTOR ? times(b[k], ONE) : b[k];
        wrapped[k] = reduce(b[k] * z);
        if (NEGATIVE) wrapped[k] = Q - wrapped[k];
    }
    UNROLL for (u32 k = 0; k < WIDTH; k++) {
        u32 sum = 0;
        UNROLL for (u32 i = 0; i < WIDTH; i++)
            sum += a[i] * (i <= k ? factor[(k - i) % WIDTH] : wrapped[(k + WIDTH - i) % WIDTH]);
        out[k] = reduce_point(sum);
    }
    UNROLL for (u32 k = 0; k < WIDTH; k++) a[k] = out[k];
}

DEVICE void multiply_points(u32 (&a)[32], const u32 (&b)[32], const Inner<LAYERS - 2>& z) {
    UNROLL for (u32 i = 0; i < 32 / WIDTH; i += 4) {
        Quad quad = z.quad(i / 4);
        multiply_point<false>(a + i * WIDTH, b + i * WIDTH, quad.b);
        multiply_point<true>(a + (i + 1) * WIDTH, b + (i + 1) * WIDTH, quad.b);
        multiply_point<false>(a + (i + 2) * WIDTH, b + (i + 2) * WIDTH, quad.c);
        multiply_point<true>(a + (i + 3) * WIDTH, b + (i + 3) * WIDTH, quad.c);
    }
}

// Inner layers of both factors, products at the points, and the way back.
template <u32 T = OUTER>
DEVICE void inner_product(u32 (&a)[32], u32 (&b)[32], const void* zetas, const void* inverse_zetas, u32 lane) {
    Inner<T> z(zetas, lane);
    z.forward(a);
    z.forward(b);
    if constexpr (T + 2 < LAYERS) inner_product<T + 2>(a, b, zetas, inverse_zetas, lane);
    else multiply_points(a, b, z);
    Inner<T>(inverse_zetas, lane).inverse(a);
}
