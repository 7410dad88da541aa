//! Key switching and division by dropped primes.

use alloc::vec::Vec;
use core::ops::Range;

use super::convert::Conversion;
use super::kernels::KeyProduct;
use super::plan::RnsPlan;
use super::rows::{Rows, RowsMut};
use crate::Result;
use crate::arith::Word;
use crate::backend::Cpu;
use crate::rns::Limbs;
use crate::rns::convert::{KeySwitchTables, ModDownTables, Owner};

/// A key switch at one level, bound to the CPU.
#[derive(Debug)]
pub struct KeySwitch<W> {
    pub(super) ring: Owner,
    pub(super) limbs: Limbs,
    pub(super) digits: Vec<Digit<W>>,
    special: Vec<u64>,
}

/// A digit: its own limbs, and the conversion to all others.
#[derive(Debug)]
pub(super) struct Digit<W> {
    own: Range<usize>,
    conversion: Option<Conversion<W>>,
}

impl<W: Word> KeySwitch<W> {
    pub(super) fn new(plan: &RnsPlan<W>, tables: KeySwitchTables) -> Self {
        let digits = tables.digits.into_iter().map(|digit| Digit {
            own: digit.own,
            conversion: digit.conversion.map(|tables| Conversion::new(plan, tables)),
        });
        Self { ring: tables.ring, limbs: tables.limbs, digits: digits.collect(), special: tables.special }
    }
}

/// A division by dropped primes, bound to the CPU.
#[derive(Debug)]
pub struct ModDown<W> {
    pub(super) ring: Owner,
    pub(super) limbs: Limbs,
    pub(super) kept: Limbs,
    conversion: Conversion<W>,
    inverses: Vec<u64>,
}

impl<W: Word> ModDown<W> {
    pub(super) fn new(plan: &RnsPlan<W>, tables: ModDownTables) -> Self {
        Self {
            ring: tables.ring,
            limbs: tables.limbs,
            kept: tables.kept,
            conversion: Conversion::new(plan, tables.conversion),
            inverses: tables.inverses,
        }
    }
}

impl Cpu {
    pub(super) fn mod_up<W: Word>(
        &self,
        plan: &RnsPlan<W>,
        ks: &KeySwitch<W>,
        a: Rows<'_, W>,
        mut out: RowsMut<'_, W>,
    ) -> Result<()> {
        let (n, level) = (plan.ring.n(), ks.limbs.q);
        plan.with_workspace(level * n, |coefficients| {
            self.each_row(RowsMut::packed(coefficients, n, level), |row| {
                plan.primes[row.limb].ntt.inverse_words_from(a.get(0, row.limb), row.words);
            });
            let coefficients = Rows::packed(coefficients, n, level);
            for (j, digit) in ks.digits.iter().enumerate() {
                if let Some(conversion) = &digit.conversion {
                    let source = coefficients.skip(digit.own.start);
                    self.convert(plan, conversion, source, out.reborrow().poly(j), digit.own.clone());
                }
            }
            self.each_row(out, |row| {
                if ks.digits[row.poly].own.contains(&row.limb) {
                    row.words.copy_from_slice(a.get(0, row.limb));
                } else {
                    plan.primes[plan.index(ks.limbs, row.limb)].ntt.forward_words(row.words);
                }
            });
        })
    }

    /// The addend with how many polynomials it has.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn key_product<W: Word>(
        &self,
        plan: &RnsPlan<W>,
        ks: &KeySwitch<W>,
        g: Option<u32>,
        digits: Rows<'_, W>,
        key: Rows<'_, W>,
        addend: Option<(Rows<'_, W>, usize)>,
        out: RowsMut<'_, W>,
    ) {
        let images = g.map(|g| plan.images(g, plan.ring.indices(ks.limbs)));
        let count = ks.digits.len();
        // Both results at once, so that digits are read once.
        self.each_limb_of::<W, 2>(out, |limb, out| {
            let prime = plan.index(ks.limbs, limb);
            let addend = addend.filter(|_| limb < ks.limbs.q);
            let addends: Vec<&[W]> =
                addend.iter().flat_map(|(rows, polys)| (0..*polys).map(|i| rows.get(i, limb))).collect();
            let digits: Vec<&[W]> = (0..count).map(|d| digits.get(d, limb)).collect();
            let keys = [0, 1].map(|c| (0..count).map(|d| key.get(2 * d + c, prime)).collect::<Vec<_>>());
            let product = KeyProduct {
                digits: &digits,
                keys: [&keys[0], &keys[1]],
                addends: &addends,
                factor: ks.special.get(limb).copied().unwrap_or(0),
                places: images.as_ref().map(|images| images.of(limb)),
            };
            plan.primes[prime].kernels.key_product(&product, out);
        });
    }

    pub(super) fn mod_down<W: Word>(
        &self,
        plan: &RnsPlan<W>,
        md: &ModDown<W>,
        polys: usize,
        a: Rows<'_, W>,
        mut out: RowsMut<'_, W>,
    ) -> Result<()> {
        let (n, kept) = (plan.ring.n(), md.kept.count());
        let dropped = md.limbs.count() - kept;
        plan.with_workspace(polys * dropped * n, |coefficients| {
            if polys == 0 {
                return;
            }
            self.each_row(RowsMut::packed(coefficients, n, dropped), |row| {
                let limb = kept + row.limb;
                plan.primes[plan.index(md.limbs, limb)].ntt.inverse_words_from(a.get(row.poly, limb), row.words);
            });
            let coefficients = Rows::packed(coefficients, n, dropped);
            self.convert(plan, &md.conversion, coefficients, out.reborrow(), 0..0);
            self.each_row(out, |row| {
                let prime = &plan.primes[row.limb];
                prime.ntt.forward_words(row.words);
                prime.kernels.sub_scale(md.inverses[row.limb], a.get(row.poly, row.limb), row.words);
            });
        })
    }
}
