// Base conversion of one coefficient.
#pragma once

#include "rns.cuh"

// The coefficient `lane` of polynomial `poly`, modulo the prime of target `target`, in [0, q).
template <class W>
DEVICE W converted(const RnsLaunch& launch, const RnsPrime& prime, u32 poly, u32 target, u32 lane) {
    typedef typename Double<W>::type Wide;
    const RnsConvert& c = launch.convert;
    u32 begin = poly * c.source_step, count = smaller(c.width, c.source_total - begin);
    const W* digits = static_cast<const W*>(c.digits) + (static_cast<u64>(poly * c.digit_stride) << launch.log_n) + lane;
    u32 row = poly * c.table_step + target;
    const u64* factors = c.factors + row * c.width;
    Modulus<W> m = prime.modulus<W>();
    W total = 0;
    double fraction = 0.0;
    u64 above = 0;
    for (u32 first = 0; first < count; first += c.room) {
        u32 end = smaller(first + c.room, count);
        Wide sum = 0;
        for (u32 i = first; i < end; i++) {
            W y = digits[static_cast<u64>(i) << launch.log_n];
            sum += static_cast<Wide>(y) * static_cast<W>(load_constant(factors + i));
            if (c.exact) {
                // Every backend adds in this order, each step rounded once.
                fraction = add_rn(fraction, mul_rn(static_cast<double>(y), load_constant(c.reciprocals + begin + i)));
                above = c.halves[begin + i] < y;
            }
        }
        total = m.add(total, m.redc(sum));
    }
    if (c.exact) {
        u64 multiple = count == 1 ? above : static_cast<u64>(add_rn(fraction, 0.5));
        total = m.add(total, m.redc(static_cast<Wide>(static_cast<W>(multiple)) * static_cast<W>(c.minus_products[row])));
    }
    return total;
}
