// RNS operations word by word: sums and products, automorphisms, base conversion, key products.

#include "rns_convert.cuh"

typedef KARAT_WORD Word;
typedef Double<Word>::type Wide;

typedef PackOf<Word> Pack;
constexpr u32 PACK = Pack::COUNT, LOG_PACK = Pack::LOG;

// One scalar a limb, by value.
struct RnsScalars {
    RnsLaunch launch;
    RnsFactor scalars[KARAT_RNS_MAX_PRIMES];
};
static_assert(sizeof(RnsScalars) == KARAT_SIZEOF_RNS_SCALARS, "RnsScalars is laid out differently in Rust");

enum Op { ADD, SUB, MUL, MUL_ADD, ADD_TO, SUB_FROM_OUT, OUT_FROM, NEG, COPY, ADD_SCALAR, MUL_SCALAR, MUL_ADD_SCALAR };

// Where a thread works: `lane` counts words, `step` of them a thread.
struct At {
    u32 poly, limb, prime, lane;
};

DEVICE At at_of(const RnsLaunch& launch, u64 index, u32 log_step) {
    u32 units = launch.log_n - log_step, rest = static_cast<u32>(index >> units), limb = rest / launch.polys;
    u32 lane = (static_cast<u32>(index) & ((1u << units) - 1)) << log_step;
    return At{rest % launch.polys, limb, prime_of(launch, limb), lane};
}

DEVICE u64 work_of(const RnsLaunch& launch, u32 log_step) {
    return static_cast<u64>(launch.polys * launch.limbs) << (launch.log_n - log_step);
}

// Every block waits, also one that has nothing to do: the end of a launch says that those before have ended.
template <class F>
DEVICE void each(const RnsLaunch& launch, u32 log_step, F work) {
    wait_for_launch_before();
    release_launch_after();
    for (u64 i = block_index() * static_cast<u64>(thread_count()) + thread_index(); i < work_of(launch, log_step);
         i += static_cast<u64>(block_count()) * thread_count())
        work(at_of(launch, i, log_step));
}

DEVICE Pack* pack_of(const RnsLaunch& launch, const RnsView& view, const At& at) {
    return reinterpret_cast<Pack*>(limb_of<Word>(launch, view, at.poly, at.limb) + at.lane);
}

DEVICE void word_by_word(const RnsLaunch& launch, const RnsFactor* scalars) {
    each(launch, LOG_PACK, [&](const At& at) {
        const RnsPrime& prime = launch.primes[at.prime];
        Modulus<Word> m = prime.modulus<Word>();
        Shoup<Word> one = prime.one.as<Word>(), scalar = scalars ? scalars[at.limb].as<Word>() : one;
        u32 op = launch.op;
        Pack a = *pack_of(launch, launch.a, at), b{}, *out = pack_of(launch, launch.out, at), old{};
        if (op <= MUL_ADD) b = *pack_of(launch, launch.b, at);
        if (op == MUL_ADD || op == ADD_TO || op == SUB_FROM_OUT || op == OUT_FROM || op == MUL_ADD_SCALAR) old = *out;
        UNROLL for (u32 i = 0; i < PACK; i++) {
            Word x = a.words[i], y = b.words[i], z = old.words[i];
            if (op == ADD) x = m.add(x, y);
            if (op == SUB) x = m.sub(x, y);
            if (op == MUL) x = m.mul(x, y, one);
            if (op == MUL_ADD) x = m.add(z, m.mul(x, y, one));
            if (op == ADD_TO) x = m.add(z, x);
            if (op == SUB_FROM_OUT) x = m.sub(z, x);
            if (op == OUT_FROM) x = m.sub(x, z);
            if (op == NEG) x = csub(m.q - x, m.q);
            if (op == ADD_SCALAR) x = m.add(x, scalar.value);
            if (op == MUL_SCALAR) x = m.mul(x, scalar);
            if (op == MUL_ADD_SCALAR) x = m.add(z, m.mul(x, scalar));
            a.words[i] = x;
        }
        *out = a;
    });
}

KERNEL(word_by_word, RnsLaunch) { word_by_word(launch, nullptr); }
KERNEL(with_scalars, RnsScalars) { word_by_word(launch.launch, launch.scalars); }

// Digits of a conversion: a times one factor a limb, whose prime is `targets[limb]`.
KERNEL(digits, RnsLaunch) {
    each(launch, 0, [&](const At& at) {
        Modulus<Word> m = launch.primes[launch.convert.targets[at.limb]].modulus<Word>();
        Word x = limb_of<const Word>(launch, launch.a, at.poly, at.limb)[at.lane];
        limb_of<Word>(launch, launch.out, at.poly, at.limb)[at.lane] = m.mul(x, launch.factors[at.limb].as<Word>());
    });
}

// The targets' primes are `targets[limb]`. Each block has a polynomial and one of `parts` parts of its targets.
KERNEL(convert, RnsLaunch) {
    DYN_SHARED(Word, shared);
    u32 packs = 1u << (launch.log_n - LOG_PACK), chunks = (packs + thread_count() - 1) / thread_count();
    u32 rest = block_index() / chunks, parts = launch.convert.parts, part = (launch.limbs + parts - 1) / parts;
    u32 first = smaller(rest % parts * part, launch.limbs), last = smaller(first + part, launch.limbs);
    Converter<Word> converter(launch, shared, rest / parts, first, last);
    converter.load_factors();
    sync_block();
    wait_for_launch_before();
    release_launch_after();
    u32 pack = block_index() % chunks * thread_count() + thread_index();
    if (pack >= packs) return;
    if (launch.convert.width <= 4) converter.convert<4>(pack << LOG_PACK);
    else if (launch.convert.width <= 8) converter.convert<8>(pack << LOG_PACK);
    else if (launch.convert.width <= 16) converter.convert<16>(pack << LOG_PACK);
    else converter.convert_many(pack << LOG_PACK);
}

DEVICE u32 reversed(u32 x, u32 bits) { return reverse_bits(x) >> (32 - bits); }

// The slot that slot `t` of x -> x^g takes its value from.
DEVICE u32 image(u32 t, u32 g, u32 log_n) {
    u32 exponent = g * (2 * reversed(t, log_n) + 1) & ((2u << log_n) - 1);
    return reversed(exponent >> 1, log_n);
}

KERNEL(automorphism_values, RnsLaunch) {
    each(launch, 0, [&](const At& at) {
        const Word* a = limb_of<const Word>(launch, launch.a, at.poly, at.limb);
        limb_of<Word>(launch, launch.out, at.poly, at.limb)[at.lane] = a[image(at.lane, launch.galois, launch.log_n)];
    });
}

// `galois` is the inverse of g modulo 2N.
KERNEL(automorphism_coefficients, RnsLaunch) {
    each(launch, 0, [&](const At& at) {
        Word q = static_cast<Word>(launch.primes[at.prime].q);
        u32 n = 1u << launch.log_n, from = at.lane * launch.galois & (2 * n - 1);
        Word x = limb_of<const Word>(launch, launch.a, at.poly, at.limb)[from & (n - 1)];
        limb_of<Word>(launch, launch.out, at.poly, at.limb)[at.lane] = from < n ? x : csub(q - x, q);
    });
}

// Launched for one polynomial: two in a and b each, three out.
KERNEL(tensor, RnsLaunch) {
    each(launch, LOG_PACK, [&](const At& at) {
        const RnsPrime& prime = launch.primes[at.prime];
        Modulus<Word> m = prime.modulus<Word>();
        Shoup<Word> one = prime.one.as<Word>();
        At second = at, third = at;
        second.poly = 1;
        third.poly = 2;
        Pack a0 = *pack_of(launch, launch.a, at), a1 = *pack_of(launch, launch.a, second);
        Pack b0 = *pack_of(launch, launch.b, at), b1 = *pack_of(launch, launch.b, second), x, y, z;
        UNROLL for (u32 i = 0; i < PACK; i++) {
            x.words[i] = m.mul(a0.words[i], b0.words[i], one);
            // Below 2 q^2, and 2 q fits a word.
            Wide sum = static_cast<Wide>(a0.words[i]) * b1.words[i] + static_cast<Wide>(a1.words[i]) * b0.words[i];
            y.words[i] = m.mul(m.redc(sum), one);
            z.words[i] = m.mul(a1.words[i], b1.words[i], one);
        }
        *pack_of(launch, launch.out, at) = x;
        *pack_of(launch, launch.out, second) = y;
        *pack_of(launch, launch.out, third) = z;
    });
}

// Launched for one polynomial: `terms` digits in a, twice as many polynomials of all primes in b, two out. To the limbs
// of Q `op` polynomials of c are added, times the limb's factor.
KERNEL(key_product, RnsLaunch) {
    each(launch, LOG_PACK, [&](const At& at) {
        const RnsPrime& prime = launch.primes[at.prime];
        Modulus<Word> m = prime.modulus<Word>();
        Shoup<Word> one = prime.one.as<Word>();
        u32 from[PACK];
        UNROLL for (u32 l = 0; l < PACK; l++) from[l] = image(at.lane + l, launch.galois, launch.log_n);
        auto read = [&](const RnsView& view, u32 poly) {
            const Word* words = limb_of<const Word>(launch, view, poly, at.limb);
            if (launch.galois == 1) return *reinterpret_cast<const Pack*>(words + at.lane);
            Pack pack;
            UNROLL for (u32 l = 0; l < PACK; l++) pack.words[l] = words[from[l]];
            return pack;
        };
        auto key = [&](u32 poly) {
            return *reinterpret_cast<const Pack*>(limb_of<const Word>(launch, launch.b, poly, at.prime) + at.lane);
        };
        Sum<Word> sums[2][PACK];
        for (u32 first = 0; first < launch.terms; first += Sum<Word>::ROOM) {
            // All that is read first, so that loads wait together.
            Pack digits[Sum<Word>::ROOM], keys[2][Sum<Word>::ROOM];
            UNROLL for (u32 i = 0; i < Sum<Word>::ROOM; i++) {
                if (first + i >= launch.terms) continue;
                digits[i] = read(launch.a, first + i);
                UNROLL for (u32 c = 0; c < 2; c++) keys[c][i] = key(2 * (first + i) + c);
            }
            UNROLL for (u32 i = 0; i < Sum<Word>::ROOM; i++) {
                if (first + i >= launch.terms) continue;
                UNROLL for (u32 c = 0; c < 2; c++)
                    UNROLL for (u32 l = 0; l < PACK; l++) sums[c][l].add(digits[i].words[l], keys[c][i].words[l]);
            }
            UNROLL for (u32 c = 0; c < 2; c++)
                UNROLL for (u32 l = 0; l < PACK; l++) sums[c][l].settle(m.q);
        }
        UNROLL for (u32 c = 0; c < 2; c++) {
            Pack total, addend;
            bool added = c < launch.op && at.limb < launch.q_limbs;
            if (added) addend = read(launch.c, c);
            UNROLL for (u32 l = 0; l < PACK; l++) {
                total.words[l] = m.mul(m.redc(sums[c][l].value), one);
                if (added)
                    total.words[l] = m.add(total.words[l], m.mul(addend.words[l], launch.factors[at.limb].as<Word>()));
            }
            *pack_of(launch, launch.out, At{c, at.limb, at.prime, at.lane}) = total;
        }
    });
}
