// Lanes of RNS transforms: how residues of one word class are multiplied by twiddles and kept in range.
//
// Bounds are counted in UNIT-ths of q, as compile-time constants once loops are unrolled: a class says where a lane is
// after each step and when it has to be reduced. Nothing branches on a residue.
#pragma once

#include "rns.cuh"
#include "split.cuh"

// Fractions of q in which bounds are counted.
constexpr int UNIT = 64;

// Twiddles of one prime, `len` of them a prime.
template <class Twiddle>
struct PlainTable {
    const Twiddle* at;
    PlainTable() = default;
    DEVICE PlainTable(const void* tables, u32 prime, u64 len) : at(static_cast<const Twiddle*>(tables) + prime * len) {}
    DEVICE explicit PlainTable(const Twiddle* at) : at(at) {}
    DEVICE PlainTable from(u32 index) const { return PlainTable(at + index); }
    DEVICE Twiddle get(u32 index) const { return load_constant(at + index); }
};

// Words of which LIMIT times q fits, Shoup's twiddles; lanes in [0, LIMIT * q). LIMIT = 2 keeps [0, q).
template <class T, int LIMIT>
struct ShoupLanes {
    typedef T Lane;
    typedef T Word;
    typedef Shoup<T> Twiddle;
    typedef PlainTable<Twiddle> Table;
    static constexpr bool FULL = LIMIT == 2, ABSORBS = sizeof(T) == 8;
    static constexpr bool SQUARES = false;
    static constexpr int ENTRY = UNIT, CENTRED = UNIT, COMPUTED = UNIT, MOST = LIMIT * UNIT;
    // Bound of a product of any lane and a whole twiddle; of lanes between groups of layers backwards.
    static constexpr int PRODUCT = (FULL ? 1 : 2) * UNIT, RESTED = PRODUCT;
    T q, minus_q;
    u32 estimate, estimate_down, estimate_shift;

    DEVICE explicit ShoupLanes(const RnsPrime& prime)
        : q(static_cast<T>(prime.q)), minus_q(0 - q), estimate(prime.estimate), estimate_down(prime.estimate_down),
          estimate_shift(prime.estimate_shift) {}
    DEVICE static Twiddle twiddle(const RnsFactor* factor) { return load_constant(factor).template as<T>(); }
    DEVICE static Lane load(Word x) { return x; }
    DEVICE static Lane resume(Word x) { return x; }
    DEVICE static Word suspend(Lane x) { return x; }

    // Whether x must be reduced before a forward butterfly, and the bound after it.
    DEVICE static constexpr bool forward_reduces(int bound, int) { return !FULL && bound + PRODUCT > MOST; }
    DEVICE static constexpr int forward_bound(int bound, int factor) {
        return FULL ? UNIT : (forward_reduces(bound, factor) ? MOST / 2 : bound) + PRODUCT;
    }
    DEVICE Lane lower(Lane x) const { return csub(x, static_cast<T>(LIMIT / 2) * q); }
    // Backwards: to 2q by a quotient, or to half the bound, in whole multiples of q, by one subtraction.
    DEVICE static constexpr bool far(int bound) { return bound > 4 * UNIT; }
    DEVICE static constexpr int halved(int bound) { return (bound / UNIT + 1) / 2 * UNIT; }
    DEVICE Lane reduce(Lane x, int bound) const {
        return far(bound) ? reduce_far(x) : csub(x, static_cast<T>(halved(bound) / UNIT) * q);
    }
    DEVICE static constexpr int reduced(int bound) { return far(bound) ? 2 * UNIT : halved(bound); }
    DEVICE Lane mul(Lane x, Twiddle w, int, int) const {
        T r = x * w.value + mul_hi(x, w.quotient) * minus_q;
        return FULL ? csub(r, q) : r;
    }
    DEVICE static constexpr int product(int, int) { return PRODUCT; }
    DEVICE Lane add(Lane x, Lane y) const { return FULL ? csub(x + y, q) : x + y; }
    // Forward: y is a product.
    DEVICE Lane sub_product(Lane x, Lane y) const { return FULL ? borrow(x, y) : x - y + 2 * q; }
    DEVICE Lane sub(Lane x, Lane y, int bound) const {
        return FULL ? borrow(x, y) : x - y + static_cast<T>(bound / UNIT) * q;
    }
    // Backwards: whether lanes of these bounds can be added, and the bound of their sum and difference.
    DEVICE static constexpr bool too_large(int a, int b) { return !FULL && a + b > MOST; }
    DEVICE static constexpr int sum(int a, int b) { return FULL ? UNIT : a + b; }

    DEVICE Word canonical(Lane x, int bound) const {
        if (far(bound)) return csub(reduce_far(x), q);
        UNROLL for (int limit = LIMIT / 2; limit >= 1; limit /= 2) {
            if (!FULL && bound > limit * UNIT) x = csub(x, static_cast<T>(limit) * q);
        }
        return x;
    }

private:
    // To [0, 2q): the leading bits of x < 16 q and of q give the quotient or one less.
    DEVICE Lane reduce_far(Lane x) const {
        u32 high = static_cast<u32>(x >> estimate_down), quotient = mul_hi(high, estimate) >> estimate_shift;
        return x + quotient * minus_q;
    }
    // x - y modulo q for canonical operands.
    DEVICE Lane borrow(Lane x, Lane y) const {
        T d = x - y;
        return smaller_word(d, d + q);
    }
    DEVICE static u32 smaller_word(u32 a, u32 b) { return smaller(a, b); }
    DEVICE static u64 smaller_word(u64 a, u64 b) { return a < b ? a : b; }
};

// Split words, whose bounds are followed: a little less than LIMIT / 2 times q.
template <int LIMIT>
struct SplitLanes : SplitModulus {
    typedef long long Lane;
    typedef u64 Word;
    typedef SplitTwiddle Twiddle;
    struct Table : SplitTable {
        Table() = default;
        DEVICE Table(const void* tables, u32 prime, u64 len)
            : SplitTable(static_cast<const Twiddle*>(tables) + prime * len, len) {}
        DEVICE explicit Table(const SplitTable& table) : SplitTable(table) {}
        DEVICE Table from(u32 index) const { return Table(SplitTable::from(index)); }
    };
    static constexpr bool ABSORBS = true, SQUARES = false;
    static constexpr int ENTRY = UNIT, CENTRED = UNIT, COMPUTED = UNIT, MOST = LIMIT / 2 * UNIT - 1;
    // At rest a little below 2q: sums of two layers need not be brought down first.
    static constexpr int PRODUCT = UNIT, RESTED = 2 * UNIT - 1;

    DEVICE explicit SplitLanes(const RnsPrime& prime)
        : SplitModulus(prime.q, prime.estimate >> 1, prime.estimate_down, prime.estimate_shift - 1) {}
    DEVICE static Twiddle twiddle(const RnsFactor* factor) {
        RnsFactor own = load_constant(factor);
        return Twiddle{own.value, load_constant(&factor[KARAT_SCALED / 2].value), own.quotient};
    }
    DEVICE static Lane load(Word x) { return static_cast<Lane>(x); }
    DEVICE static Lane resume(Word x) { return static_cast<Lane>(x); }
    DEVICE static Word suspend(Lane x) { return static_cast<Word>(x); }

    DEVICE static constexpr int product(int bound, int) { return UNIT / 2 + UNIT / 4 + bound / (2 * LIMIT) + 1; }
    DEVICE static constexpr bool forward_reduces(int bound, int factor) { return bound + product(bound, factor) > MOST; }
    DEVICE static constexpr int forward_bound(int bound, int factor) {
        return (forward_reduces(bound, factor) ? reduced(bound) : bound) + product(bound, factor);
    }
    DEVICE Lane mul(Lane x, Twiddle w, int, int) const { return SplitModulus::mul(x, w); }
    DEVICE Lane reduce(Lane x, int) const { return SplitModulus::reduce(x); }
    DEVICE Lane lower(Lane x) const { return SplitModulus::reduce(x); }
    DEVICE static constexpr int reduced(int) { return UNIT / 2 + 1; }
    DEVICE Lane add(Lane x, Lane y) const { return x + y; }
    DEVICE Lane sub_product(Lane x, Lane y) const { return x - y; }
    DEVICE Lane sub(Lane x, Lane y, int) const { return x - y; }
    DEVICE static constexpr bool too_large(int a, int b) { return a + b > MOST; }
    DEVICE static constexpr int sum(int a, int b) { return a + b; }
    DEVICE Word canonical(Lane x, int bound) const { return SplitModulus::canonical(bound > UNIT ? SplitModulus::reduce(x) : x); }
};

// Primes to 50 bits in double precision: signed lanes, products by two fused multiply-adds, the quotient rounded by
// adding 1.5 * 2^52 or, where it reaches 2^51, 1.5 * 2^53. With |x| < X q and |w| <= F q the product is below
// (1/2 + X F / 4) q, or (1 + X F / 4) q with the second constant: two roundings of x * w / q, relative 2^-53 each, and
// q <= 2^50.
struct DoubleLanes {
    typedef double Lane;
    typedef u64 Word;
    typedef double Twiddle;
    typedef PlainTable<Twiddle> Table;
    static constexpr bool SQUARES = true, ABSORBS = true;
    // Centred twiddles; those that are computed from others (a fixed point of 1/2 + F^2 / 4 is 0.586).
    static constexpr int ENTRY = UNIT, CENTRED = UNIT / 2, COMPUTED = 39, MOST = 8 * UNIT;
    static constexpr int RESTED = UNIT, PRODUCT = UNIT;
    double q, q_inv;
    u64 modulus;

    DEVICE explicit DoubleLanes(const RnsPrime& prime) : q(prime.real_q), q_inv(prime.real_q_inv), modulus(prime.q) {}
    DEVICE static Twiddle twiddle(const RnsFactor* factor) { return as_double(load_constant(&factor->value)); }
    DEVICE static Lane load(Word x) { return add_rn(as_double(x | 0x4330000000000000ull), -4503599627370496.0); }  // magic: 4503599627370496 == 2^52
    DEVICE static Lane resume(Word x) { return as_double(x); }
    DEVICE static Word suspend(Lane x) { return as_word(x); }

    // The largest |x| for a factor of this bound: the quotient stays below 2^52.
    DEVICE static constexpr int largest(int factor) { return 4 * UNIT * UNIT / factor; }
    DEVICE static constexpr bool wide(int bound, int factor) { return bound * factor > 2 * UNIT * UNIT; }
    DEVICE static constexpr int product(int bound, int factor) {
        return (wide(bound, factor) ? UNIT : UNIT / 2) + (bound * factor + 4 * UNIT - 1) / (4 * UNIT) + 1;
    }
    // The next butterfly must still be able to multiply.
    DEVICE static constexpr bool forward_reduces(int bound, int factor) {
        return bound + product(bound, factor) > (largest(factor) < MOST ? largest(factor) : MOST);
    }
    DEVICE static constexpr int forward_bound(int bound, int factor) {
        return (forward_reduces(bound, factor) ? reduced(bound) : bound) + product(bound, factor);
    }
    DEVICE double rounded(double x, double magic) const { return add_rn(fma_rn(x, q_inv, magic), -magic); }
    DEVICE Lane reduce(Lane x) const { return fma_rn(-rounded(x, 6755399441055744.0), q, x); }  // magic: 6755399441055744 == 3 * 2^51
    DEVICE Lane reduce(Lane x, int) const { return reduce(x); }
    DEVICE Lane lower(Lane x) const { return reduce(x); }
    DEVICE static constexpr int reduced(int) { return UNIT / 2 + 1; }
    DEVICE Lane mul(Lane x, Twiddle w, int bound, int factor) const {
        double high = mul_rn(x, w), low = fma_rn(x, w, -high);
        // magic: 13510798882111488 == 3 * 2^52
        double b = rounded(high, wide(bound, factor) ? 13510798882111488.0 : 6755399441055744.0);  // magic: 6755399441055744 == 3 * 2^51
        return add_rn(fma_rn(-b, q, high), low);
    }
    DEVICE Lane add(Lane x, Lane y) const { return add_rn(x, y); }
    DEVICE Lane sub_product(Lane x, Lane y) const { return add_rn(x, -y); }
    DEVICE Lane sub(Lane x, Lane y, int) const { return add_rn(x, -y); }
    DEVICE static constexpr bool too_large(int a, int b) { return a + b > 6 * UNIT; }
    DEVICE static constexpr int sum(int a, int b) { return a + b; }
    DEVICE Word canonical(Lane x, int) const {
        const double big = 6755399441055744.0;  // magic: 6755399441055744 == 3 * 2^51
        u64 word = as_word(add_rn(reduce(x), big)) - as_word(big);
        return word + (modulus & (0 - (word >> 63)));
    }
};

// For comparison: products reduced by Barrett's method or by the machine's division, canonical lanes.
template <class T, bool DIVIDE>
struct PlainLanes {
    typedef T Lane;
    typedef T Word;
    typedef T Twiddle;
    typedef PlainTable<Twiddle> Table;
    typedef typename Double<T>::type Wide;
    static constexpr bool SQUARES = false, ABSORBS = false;
    static constexpr int ENTRY = UNIT, CENTRED = UNIT, COMPUTED = UNIT, MOST = UNIT, RESTED = UNIT, PRODUCT = UNIT;
    T q, factor;
    u32 shift;

    DEVICE explicit PlainLanes(const RnsPrime& prime)
        : q(static_cast<T>(prime.q)), factor(static_cast<T>(prime.product_factor)), shift(prime.product_shift) {}
    DEVICE static Twiddle twiddle(const RnsFactor* factor) { return static_cast<T>(load_constant(&factor->value)); }
    DEVICE static Lane load(Word x) { return x; }
    DEVICE static Lane resume(Word x) { return x; }
    DEVICE static Word suspend(Lane x) { return x; }
    DEVICE static constexpr bool forward_reduces(int, int) { return false; }
    DEVICE static constexpr int forward_bound(int, int) { return UNIT; }
    DEVICE static constexpr int product(int, int) { return UNIT; }
    DEVICE Lane reduce(Lane x, int) const { return x; }
    DEVICE Lane lower(Lane x) const { return x; }
    DEVICE static constexpr int reduced(int bound) { return bound; }
    DEVICE Lane mul(Lane x, Twiddle w, int, int) const {
        Wide product = static_cast<Wide>(x) * w;
        if (DIVIDE) return static_cast<T>(product % q);
        // The quotient is too small by two at most (Barrett 1986, with bits(q) - 1 and bits(q) + 1 for the shifts).
        T high = static_cast<T>(product >> shift);
        T quotient = static_cast<T>(static_cast<Wide>(high) * factor >> (shift + 2));
        T r = static_cast<T>(product) - quotient * q;
        return csub(csub(r, 2 * q), q);
    }
    DEVICE Lane add(Lane x, Lane y) const { return csub(x + y, q); }
    DEVICE Lane sub_product(Lane x, Lane y) const { return csub(x - y + q, q); }
    DEVICE Lane sub(Lane x, Lane y, int) const { return csub(x - y + q, q); }
    DEVICE static constexpr bool too_large(int, int) { return false; }
    DEVICE static constexpr int sum(int, int) { return UNIT; }
    DEVICE Word canonical(Lane x, int) const { return x; }
};
