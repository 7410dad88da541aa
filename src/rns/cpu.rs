//! RNS rings on the CPU.

mod arith;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx512;
mod convert;
mod entry;
mod kernels;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod long;
mod ops;
mod plan;
mod rows;
mod switch;

pub use convert::Conversion;
pub use plan::RnsPlan;
pub use switch::{KeySwitch, ModDown};

use alloc::vec::Vec;

use self::rows::{Row, Rows, RowsMut};
use super::convert::{ConversionTables, KeySwitchTables, ModDownTables};
use super::{
    Addend, Assign, Combine, Domain, Drop, Limbs, RnsMul, RnsRing, Rounding, Scalar, View, ViewMut, check, galois,
};
use crate::Result;
use crate::arith::Word;
use crate::backend::{Cpu, HostBuffer};

type In<'a, W> = View<'a, HostBuffer<W>>;
type Out<'a, W> = ViewMut<'a, HostBuffer<W>>;

impl Cpu {
    /// Checks an operand of `limbs`.
    fn rows<'a, W: Word>(
        &self,
        plan: &RnsPlan<W>,
        what: &'static str,
        limbs: Limbs,
        polys: usize,
        view: In<'a, W>,
    ) -> Result<Rows<'a, W>> {
        plan.ring.check(limbs)?;
        Rows::new(what, view, plan.ring.n(), polys, plan.moduli(limbs))
    }

    /// Checks a result of `limbs`.
    fn rows_mut<'a, W: Word>(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        view: Out<'a, W>,
    ) -> Result<RowsMut<'a, W>> {
        plan.ring.check(limbs)?;
        RowsMut::new(view, plan.ring.n(), limbs.count(), polys)
    }

    /// Calls `work` with the prime of each limb of `out`.
    fn each_limb<W: Word>(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        out: RowsMut<'_, W>,
        work: impl Fn(&plan::Prime<W>, Row<'_, W>) + Send + Sync,
    ) {
        self.each_row(out, |row| work(&plan.primes[plan.index(limbs, row.limb)], row));
    }
}

impl<W: Word> RnsMul<W> for Cpu {
    type RnsPlan = RnsPlan<W>;
    type Conversion = Conversion<W>;
    type KeySwitch = KeySwitch<W>;
    type ModDown = ModDown<W>;

    fn rns_plan(&self, ring: &RnsRing<W>) -> Result<RnsPlan<W>> {
        RnsPlan::new(self.level(), ring)
    }

    fn rns_ring<'a>(&self, plan: &'a RnsPlan<W>) -> &'a RnsRing<W> {
        &plan.ring
    }

    fn rns_order(&self, plan: &RnsPlan<W>, prime: usize) -> Result<Vec<u32>> {
        check::prime(&plan.ring, prime)?;
        Ok(plan.order(prime))
    }

    fn rns_ntt(&self, plan: &RnsPlan<W>, limbs: Limbs, polys: usize, x: Out<'_, W>) -> Result<()> {
        self.rows(plan, "the operand", limbs, polys, x.as_view())?;
        let x = self.rows_mut(plan, limbs, polys, x)?;
        self.each_limb(plan, limbs, x, |prime, row| prime.ntt.forward_words(row.words));
        Ok(())
    }

    fn rns_intt(&self, plan: &RnsPlan<W>, limbs: Limbs, polys: usize, x: Out<'_, W>) -> Result<()> {
        self.rows(plan, "the operand", limbs, polys, x.as_view())?;
        let x = self.rows_mut(plan, limbs, polys, x)?;
        self.each_limb(plan, limbs, x, |prime, row| prime.ntt.inverse_words(row.words));
        Ok(())
    }

    fn rns_ntt_from(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        src: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let src = self.rows(plan, "the operand", limbs, polys, src)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        self.each_limb(plan, limbs, out, |prime, row| {
            prime.ntt.forward_words_from(src.get(row.poly, row.limb), row.words);
        });
        Ok(())
    }

    fn rns_intt_from(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        src: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let src = self.rows(plan, "the operand", limbs, polys, src)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        self.each_limb(plan, limbs, out, |prime, row| {
            prime.ntt.inverse_words_from(src.get(row.poly, row.limb), row.words);
        });
        Ok(())
    }

    fn rns_copy(&self, plan: &RnsPlan<W>, limbs: Limbs, polys: usize, a: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        let a = self.rows(plan, "the operand", limbs, polys, a)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        self.each_row(out, |row| row.words.copy_from_slice(a.get(row.poly, row.limb)));
        Ok(())
    }

    fn rns_neg(&self, plan: &RnsPlan<W>, limbs: Limbs, polys: usize, a: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        let a = self.rows(plan, "the operand", limbs, polys, a)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        self.each_limb(plan, limbs, out, |prime, row| prime.kernels.neg(a.get(row.poly, row.limb), row.words));
        Ok(())
    }

    fn rns_combine(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        op: Combine,
        a: In<'_, W>,
        b: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let a = self.rows(plan, "the first operand", limbs, polys, a)?;
        let b = self.rows(plan, "the second operand", limbs, polys, b)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        self.each_limb(plan, limbs, out, |prime, row| {
            let (poly, limb) = (row.poly, row.limb);
            prime.kernels.combine(op, a.get(poly, limb), b.get(poly, limb), row.words);
        });
        Ok(())
    }

    fn rns_assign(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        op: Assign,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let a = self.rows(plan, "the operand", limbs, polys, a)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        self.each_limb(plan, limbs, out, |prime, row| prime.kernels.assign(op, a.get(row.poly, row.limb), row.words));
        Ok(())
    }

    fn rns_scalar(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        op: Scalar,
        scalars: &[W],
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let a = self.rows(plan, "the operand", limbs, polys, a)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        check::scalars(&plan.ring, limbs, scalars)?;
        self.each_limb(plan, limbs, out, |prime, row| {
            prime.kernels.scalar(op, scalars[row.limb].to_u64(), a.get(row.poly, row.limb), row.words);
        });
        Ok(())
    }

    fn rns_tensor(&self, plan: &RnsPlan<W>, limbs: Limbs, a: In<'_, W>, b: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        let a = self.rows(plan, "the first operand", limbs, 2, a)?;
        let b = self.rows(plan, "the second operand", limbs, 2, b)?;
        let out = self.rows_mut(plan, limbs, 3, out)?;
        self.each_limb_of::<W, 3>(out, |limb, out| {
            let kernels = &plan.primes[plan.index(limbs, limb)].kernels;
            kernels.tensor([a.get(0, limb), a.get(1, limb)], [b.get(0, limb), b.get(1, limb)], out);
        });
        Ok(())
    }

    fn rns_automorphism(
        &self,
        plan: &RnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        g: u32,
        domain: Domain,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let n = plan.ring.n();
        let g = check::galois(n, g)?;
        let a = self.rows(plan, "the operand", limbs, polys, a)?;
        let out = self.rows_mut(plan, limbs, polys, out)?;
        match domain {
            Domain::Ntt => {
                let images = plan.images(g, plan.ring.indices(limbs));
                self.each_row(out, |row| {
                    let a = a.get(row.poly, row.limb);
                    for (out, source) in row.words.iter_mut().zip(images.of(row.limb)) {
                        *out = a[*source as usize];
                    }
                });
            }
            Domain::Coefficient => {
                let inverse = galois::inverse(g, n);
                self.each_row(out, |row| {
                    let a = a.get(row.poly, row.limb);
                    let q = plan.ring.prime(plan.index(limbs, row.limb));
                    for (j, out) in row.words.iter_mut().enumerate() {
                        let (i, negative) = galois::coefficient(j as u32, inverse, n);
                        let x = a[i as usize].to_u64();
                        // q - x for x > 0, without a branch on x.
                        let nonzero = 0u64.wrapping_sub((x | x.wrapping_neg()) >> 63);
                        *out = W::from_u64(if negative { (q - x) & nonzero } else { x });
                    }
                });
            }
        }
        Ok(())
    }

    fn rns_conversion(
        &self,
        plan: &RnsPlan<W>,
        from: &[usize],
        to: &[usize],
        rounding: Rounding,
    ) -> Result<Conversion<W>> {
        Ok(Conversion::new(plan, ConversionTables::new(&plan.ring, from, to, rounding)?))
    }

    fn rns_convert(
        &self,
        plan: &RnsPlan<W>,
        conversion: &Conversion<W>,
        polys: usize,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let tables = &conversion.tables;
        tables.ring.check(&plan.ring)?;
        let primes = tables.from.iter().map(|index| plan.ring.prime(*index));
        let a = Rows::new("the operand", a, plan.ring.n(), polys, primes)?;
        let out = RowsMut::new(out, plan.ring.n(), tables.to.len(), polys)?;
        self.convert(plan, conversion, a, out, 0..0);
        Ok(())
    }

    fn rns_key_switch(
        &self,
        plan: &RnsPlan<W>,
        level: usize,
        alpha: usize,
        rounding: Rounding,
    ) -> Result<KeySwitch<W>> {
        Ok(KeySwitch::new(plan, KeySwitchTables::new(&plan.ring, level, alpha, rounding)?))
    }

    fn rns_digits(&self, key_switch: &KeySwitch<W>) -> usize {
        key_switch.digits.len()
    }

    fn rns_mod_up(&self, plan: &RnsPlan<W>, ks: &KeySwitch<W>, a: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        ks.ring.check(&plan.ring)?;
        let own = Limbs { q: ks.limbs.q, p: 0 };
        let a = self.rows(plan, "the operand", own, 1, a)?;
        let out = self.rows_mut(plan, ks.limbs, ks.digits.len(), out)?;
        self.mod_up(plan, ks, a, out)
    }

    fn rns_key_product(
        &self,
        plan: &RnsPlan<W>,
        ks: &KeySwitch<W>,
        g: Option<u32>,
        digits: In<'_, W>,
        key: In<'_, W>,
        addend: Option<Addend<'_, HostBuffer<W>>>,
        out: Out<'_, W>,
    ) -> Result<()> {
        ks.ring.check(&plan.ring)?;
        let g = g.map(|g| check::galois(plan.ring.n(), g)).transpose()?;
        let count = ks.digits.len();
        let digits = self.rows(plan, "the digits", ks.limbs, count, digits)?;
        let key = self.rows(plan, "the key", plan.ring.full(), 2 * count, key)?;
        let addend = addend.map(|Addend { view, polys }| {
            check::addend(polys)?;
            Ok((self.rows(plan, "the addend", Limbs { p: 0, ..ks.limbs }, polys, view)?, polys))
        });
        let addend = addend.transpose()?;
        let out = self.rows_mut(plan, ks.limbs, 2, out)?;
        self.key_product(plan, ks, g, digits, key, addend, out);
        Ok(())
    }

    fn rns_mod_down_tables(&self, plan: &RnsPlan<W>, level: usize, drop: Drop) -> Result<ModDown<W>> {
        Ok(ModDown::new(plan, ModDownTables::new(&plan.ring, level, drop)?))
    }

    fn rns_mod_down(
        &self,
        plan: &RnsPlan<W>,
        md: &ModDown<W>,
        polys: usize,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        md.ring.check(&plan.ring)?;
        let a = self.rows(plan, "the operand", md.limbs, polys, a)?;
        let out = self.rows_mut(plan, md.kept, polys, out)?;
        self.mod_down(plan, md, polys, a, out)
    }
}
