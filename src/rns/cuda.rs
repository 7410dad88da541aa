//! RNS rings on CUDA devices.
//!
//! The NTT domain is in canonical bit-reversed order. Nothing here copies from the host or allocates once the stream's
//! work space is large enough, so that any sequence of operations can be recorded.

mod blob;
mod geometry;
mod plan;
mod switch;
mod transform;
mod tune;

pub use plan::RnsPlan;
pub use switch::{Conversion, KeySwitch, ModDown};
pub use transform::Traffic;
pub use tune::{NttCase, NttMeasured};

use alloc::vec::Vec;

use self::plan::factor;
use self::switch::Op;
use super::convert::{ConversionTables, KeySwitchTables, ModDownTables};
use super::{
    Addend, Assign, Combine, Domain, Drop, Limbs, RnsMul, RnsRing, Rounding, Scalar, View, ViewMut, check, galois,
};
use crate::arith::Word;
use crate::backend::cuda::rns::{MAX_PRIMES, RnsFactor, RnsLaunch, RnsScalars, RnsView};
use crate::backend::cuda::{Device, DeviceBuffer, Gpu, Memory};
use crate::{Error, Result};

type In<'a, D, W> = View<'a, DeviceBuffer<D, W>>;
type Out<'a, D, W> = ViewMut<'a, DeviceBuffer<D, W>>;

/// Where an operand lies: checked, and kept for what is started next.
fn place<D: Device, W: Word>(
    gpu: &Gpu<D>,
    plan: &RnsPlan<D, W>,
    what: &'static str,
    limbs: usize,
    polys: usize,
    view: In<'_, D, W>,
) -> Result<RnsView> {
    place_as(gpu, plan, what, limbs, polys, view, false)
}

fn place_as<D: Device, W: Word>(
    gpu: &Gpu<D>,
    plan: &RnsPlan<D, W>,
    what: &'static str,
    limbs: usize,
    polys: usize,
    view: In<'_, D, W>,
    write: bool,
) -> Result<RnsView> {
    let n = plan.ring.n();
    check::view(what, view.words.len(), n, (view.first, view.stride), limbs, polys, write)?;
    let device = gpu.device();
    if !device.owns(view.words.memory()) || !device.owns(&plan.memory) {
        return Err(Error::Foreign("streams"));
    }
    device.keep(view.words.memory());
    device.keep(&plan.memory);
    // Of no polynomials the first may lie anywhere; nothing is read there.
    let offset = if polys == 0 { 0 } else { view.first * n * size_of::<W>() };
    let words = view.words.memory().address() + offset as u64;
    Ok(RnsView { words, stride: view.stride.unwrap_or(limbs) as u64 })
}

fn place_mut<D: Device, W: Word>(
    gpu: &Gpu<D>,
    plan: &RnsPlan<D, W>,
    limbs: usize,
    polys: usize,
    view: Out<'_, D, W>,
) -> Result<RnsView> {
    place_as(gpu, plan, "the result", limbs, polys, view.as_view(), true)
}

/// Words that a thread of an element-wise kernel moves together.
const fn pack<W>() -> usize {
    16 / size_of::<W>()
}

impl<D: Device> Gpu<D> {
    /// Starts an element-wise kernel, unless there is nothing to do.
    fn element_wise<W: Word>(&self, plan: &RnsPlan<D, W>, op: Op, launch: RnsLaunch) -> Result<()> {
        match launch.polys {
            0 => Ok(()),
            _ => self.rns_words(plan, "word_by_word", pack::<W>(), &RnsLaunch { op: op as u32, ..launch }),
        }
    }
}

impl<D: Device, W: Word> RnsMul<W> for Gpu<D> {
    type RnsPlan = RnsPlan<D, W>;
    type Conversion = Conversion<D>;
    type KeySwitch = KeySwitch<D>;
    type ModDown = ModDown<D>;

    fn rns_plan(&self, ring: &RnsRing<W>) -> Result<RnsPlan<D, W>> {
        RnsPlan::new(self, ring)
    }

    fn rns_ring<'a>(&self, plan: &'a RnsPlan<D, W>) -> &'a RnsRing<W> {
        &plan.ring
    }

    fn rns_order(&self, plan: &RnsPlan<D, W>, prime: usize) -> Result<Vec<u32>> {
        check::prime(&plan.ring, prime)?;
        Ok((0..plan.ring.n() as u32).collect())
    }

    fn rns_ntt(&self, plan: &RnsPlan<D, W>, limbs: Limbs, polys: usize, x: Out<'_, D, W>) -> Result<()> {
        plan.ring.check(limbs)?;
        let x = place_mut(self, plan, limbs.count(), polys, x)?;
        match polys {
            0 => Ok(()),
            _ => self.rns_forward(plan, &RnsLaunch { a: x, out: x, ..plan.launch(limbs, polys) }),
        }
    }

    fn rns_intt(&self, plan: &RnsPlan<D, W>, limbs: Limbs, polys: usize, x: Out<'_, D, W>) -> Result<()> {
        plan.ring.check(limbs)?;
        let x = place_mut(self, plan, limbs.count(), polys, x)?;
        match polys {
            0 => Ok(()),
            _ => self.rns_inverse(plan, &RnsLaunch { a: x, out: x, ..plan.launch(limbs, polys) }),
        }
    }

    fn rns_ntt_from(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        src: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, src)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        match polys {
            0 => Ok(()),
            _ => self.rns_forward(plan, &RnsLaunch { a, out, ..plan.launch(limbs, polys) }),
        }
    }

    fn rns_intt_from(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        src: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, src)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        match polys {
            0 => Ok(()),
            _ => self.rns_inverse(plan, &RnsLaunch { a, out, ..plan.launch(limbs, polys) }),
        }
    }

    fn rns_copy(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, a)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        self.element_wise(plan, Op::Copy, RnsLaunch { a, out, ..plan.launch(limbs, polys) })
    }

    fn rns_neg(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, a)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        self.element_wise(plan, Op::Neg, RnsLaunch { a, out, ..plan.launch(limbs, polys) })
    }

    fn rns_combine(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        op: Combine,
        a: In<'_, D, W>,
        b: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the first operand", limbs.count(), polys, a)?;
        let b = place(self, plan, "the second operand", limbs.count(), polys, b)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        let op = match op {
            Combine::Add => Op::Add,
            Combine::Sub => Op::Sub,
            Combine::Mul => Op::Mul,
            Combine::MulAdd => Op::MulAdd,
        };
        self.element_wise(plan, op, RnsLaunch { a, b, out, ..plan.launch(limbs, polys) })
    }

    fn rns_assign(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        op: Assign,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, a)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        let op = match op {
            Assign::Add => Op::AddTo,
            Assign::Sub => Op::SubFromOut,
            Assign::SubFrom => Op::OutFrom,
        };
        self.element_wise(plan, op, RnsLaunch { a, out, ..plan.launch(limbs, polys) })
    }

    fn rns_scalar(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        op: Scalar,
        scalars: &[W],
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, a)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        check::scalars(&plan.ring, limbs, scalars)?;
        if polys == 0 {
            return Ok(());
        }
        let op = match op {
            Scalar::Add => Op::AddScalar,
            Scalar::Mul => Op::MulScalar,
            Scalar::MulAdd => Op::MulAddScalar,
        };
        let mut factors = [RnsFactor::default(); MAX_PRIMES];
        for ((out, scalar), prime) in factors.iter_mut().zip(scalars).zip(plan.ring.indices(limbs)) {
            *out = factor(plan.lanes.word(), scalar.to_u64(), plan.ring.prime(prime));
        }
        let launch = RnsLaunch { a, out, op: op as u32, ..plan.launch(limbs, polys) };
        self.scalars(plan, &RnsScalars { launch, scalars: factors })
    }

    fn rns_tensor(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        a: In<'_, D, W>,
        b: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let a = place(self, plan, "the first operand", limbs.count(), 2, a)?;
        let b = place(self, plan, "the second operand", limbs.count(), 2, b)?;
        let out = place_mut(self, plan, limbs.count(), 3, out)?;
        self.rns_words(plan, "tensor", pack::<W>(), &RnsLaunch { a, b, out, ..plan.launch(limbs, 1) })
    }

    fn rns_automorphism(
        &self,
        plan: &RnsPlan<D, W>,
        limbs: Limbs,
        polys: usize,
        g: u32,
        domain: Domain,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        plan.ring.check(limbs)?;
        let g = check::galois(plan.ring.n(), g)?;
        let a = place(self, plan, "the operand", limbs.count(), polys, a)?;
        let out = place_mut(self, plan, limbs.count(), polys, out)?;
        let (kernel, galois) = match domain {
            Domain::Ntt => ("automorphism_values", g),
            Domain::Coefficient => ("automorphism_coefficients", galois::inverse(g, plan.ring.n())),
        };
        match polys {
            0 => Ok(()),
            _ => self.rns_words(plan, kernel, 1, &RnsLaunch { a, out, galois, ..plan.launch(limbs, polys) }),
        }
    }

    fn rns_conversion(
        &self,
        plan: &RnsPlan<D, W>,
        from: &[usize],
        to: &[usize],
        rounding: Rounding,
    ) -> Result<Conversion<D>> {
        Conversion::new(self, plan, &ConversionTables::new(&plan.ring, from, to, rounding)?)
    }

    fn rns_convert(
        &self,
        plan: &RnsPlan<D, W>,
        conversion: &Conversion<D>,
        polys: usize,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        conversion.ring.check(&plan.ring)?;
        let a = place(self, plan, "the operand", conversion.from, polys, a)?;
        let out = place_mut(self, plan, conversion.to, polys, out)?;
        if polys == 0 { Ok(()) } else { self.convert(plan, conversion, polys, a, out) }
    }

    fn rns_key_switch(
        &self,
        plan: &RnsPlan<D, W>,
        level: usize,
        alpha: usize,
        rounding: Rounding,
    ) -> Result<KeySwitch<D>> {
        let tables = KeySwitchTables::new(&plan.ring, level, alpha, rounding)?;
        KeySwitch::new(self, plan, alpha, tables, rounding)
    }

    fn rns_digits(&self, key_switch: &KeySwitch<D>) -> usize {
        key_switch.own.len()
    }

    fn rns_mod_up(
        &self,
        plan: &RnsPlan<D, W>,
        key_switch: &KeySwitch<D>,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        key_switch.ring.check(&plan.ring)?;
        let a = place(self, plan, "the operand", key_switch.limbs.q, 1, a)?;
        let out = place_mut(self, plan, key_switch.limbs.count(), key_switch.own.len(), out)?;
        self.mod_up(plan, key_switch, a, out)
    }

    fn rns_key_product(
        &self,
        plan: &RnsPlan<D, W>,
        key_switch: &KeySwitch<D>,
        g: Option<u32>,
        digits: In<'_, D, W>,
        key: In<'_, D, W>,
        addend: Option<Addend<'_, DeviceBuffer<D, W>>>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        key_switch.ring.check(&plan.ring)?;
        let galois = g.map_or(Ok(1), |g| check::galois(plan.ring.n(), g))?;
        let (limbs, count) = (key_switch.limbs, key_switch.own.len());
        let a = place(self, plan, "the digits", limbs.count(), count, digits)?;
        let b = place(self, plan, "the key", plan.ring.full().count(), 2 * count, key)?;
        let (c, added) = match addend {
            None => (RnsView::default(), 0),
            Some(Addend { view, polys }) => {
                check::addend(polys)?;
                (place(self, plan, "the addend", limbs.q, polys, view)?, polys as u32)
            }
        };
        let out = place_mut(self, plan, limbs.count(), 2, out)?;
        self.key_product(plan, key_switch, added, RnsLaunch { a, b, c, out, galois, ..plan.launch(limbs, 1) })
    }

    fn rns_mod_down_tables(&self, plan: &RnsPlan<D, W>, level: usize, drop: Drop) -> Result<ModDown<D>> {
        ModDown::new(self, plan, ModDownTables::new(&plan.ring, level, drop)?)
    }

    fn rns_mod_down(
        &self,
        plan: &RnsPlan<D, W>,
        mod_down: &ModDown<D>,
        polys: usize,
        a: In<'_, D, W>,
        out: Out<'_, D, W>,
    ) -> Result<()> {
        mod_down.ring.check(&plan.ring)?;
        let a = place(self, plan, "the operand", mod_down.limbs.count(), polys, a)?;
        let out = place_mut(self, plan, mod_down.kept.count(), polys, out)?;
        if polys == 0 { Ok(()) } else { self.mod_down(plan, mod_down, polys, a, out) }
    }
}
