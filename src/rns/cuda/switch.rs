//! Base conversion, key switching and division by dropped primes: tables on the device, and launches.

use core::fmt;
use core::ops::Range;

use super::blob::Blob;
use super::plan::{RnsPlan, factor, montgomery};
use super::transform::after;
use crate::Result;
use crate::arith::{Modulus, Word};
use crate::backend::cuda::rns::{MAX_PRIMES, RnsConvert, RnsFactor, RnsLaunch, RnsScalars, RnsView, SCALED};
use crate::backend::cuda::{Device, Gpu, Memory};
use crate::rns::convert::{ConversionTables, KeySwitchTables, ModDownTables, Owner};
use crate::rns::{Limbs, Rounding};

/// The codes of `rns_ops.cu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    MulAdd,
    AddTo,
    SubFromOut,
    OutFrom,
    Neg,
    Copy,
    AddScalar,
    MulScalar,
    MulAddScalar,
}

/// A base conversion on a device.
pub struct Conversion<D: Device> {
    pub(super) ring: Owner,
    pub(super) from: usize,
    pub(super) to: usize,
    convert: RnsConvert,
    /// What makes digits: one factor a source; and the sources' primes.
    digit_factors: u64,
    sources: u64,
    memory: D::Memory,
}

/// A key switch at one level on a device.
pub struct KeySwitch<D: Device> {
    pub(super) ring: Owner,
    pub(super) limbs: Limbs,
    pub(super) own: Vec<Range<usize>>,
    convert: RnsConvert,
    /// The inverse transforms' factors, which make digits.
    factors: u64,
    /// The product of the special primes, one factor a prime of `Q`.
    special: u64,
    memory: D::Memory,
}

/// A division by dropped primes on a device.
pub struct ModDown<D: Device> {
    pub(super) ring: Owner,
    pub(super) limbs: Limbs,
    pub(super) kept: Limbs,
    convert: RnsConvert,
    factors: u64,
    /// The inverse of the dropped primes, one factor a kept prime.
    inverses: u64,
    scalars: Box<[RnsFactor; MAX_PRIMES]>,
    memory: D::Memory,
}

/// Rows of factors for the kernels: Montgomery form, `width` of them a target.
struct Rows {
    factors: Vec<u64>,
    minus_products: Vec<u64>,
    reciprocals: Vec<f64>,
    halves: Vec<u64>,
    targets: Vec<u32>,
}

impl Rows {
    fn of<D: Device, W: Word>(plan: &RnsPlan<D, W>, tables: &ConversionTables) -> Result<Self> {
        let word = plan.lanes.word();
        let width = tables.from.len();
        let (mut factors, mut minus_products) = (Vec::new(), Vec::new());
        for (t, to) in tables.to.iter().enumerate() {
            let m = Modulus::<u64>::new(plan.ring.prime(*to))?;
            let form = montgomery(word, &m);
            factors.extend(tables.factors[t * width..(t + 1) * width].iter().map(|x| m.mul(*x, form)));
            minus_products.push(m.mul(tables.minus_product[t], form));
        }
        Ok(Self {
            factors,
            minus_products,
            reciprocals: tables.reciprocals.clone(),
            halves: tables.from.iter().map(|i| plan.ring.prime(*i) / 2).collect(),
            targets: tables.to.iter().map(|i| *i as u32).collect(),
        })
    }

    /// Appends the rows to a blob; offsets that [`located`] makes addresses of.
    fn add(&self, blob: &mut Blob) -> RnsConvert {
        RnsConvert {
            factors: blob.add(&self.factors),
            minus_products: blob.add(&self.minus_products),
            reciprocals: blob.add(&self.reciprocals),
            halves: blob.add(&self.halves),
            targets: blob.add(&self.targets),
            ..RnsConvert::default()
        }
    }
}

fn located(convert: RnsConvert, base: u64) -> RnsConvert {
    RnsConvert {
        factors: base + convert.factors,
        minus_products: base + convert.minus_products,
        reciprocals: base + convert.reciprocals,
        halves: base + convert.halves,
        targets: base + convert.targets,
        ..convert
    }
}

impl<D: Device> Conversion<D> {
    pub(super) fn new<W: Word>(gpu: &Gpu<D>, plan: &RnsPlan<D, W>, tables: &ConversionTables) -> Result<Self> {
        let word = plan.lanes.word();
        let width = tables.from.len();
        let inverses = tables.from.iter().zip(&tables.inverses);
        let inverses: Vec<RnsFactor> = inverses.map(|(i, x)| factor(word, *x, plan.ring.prime(*i))).collect();
        let mut blob = Blob::new();
        let convert = Rows::of(plan, tables)?.add(&mut blob);
        let digit_factors = blob.add(&inverses);
        let sources = blob.add(&tables.from.iter().map(|i| *i as u32).collect::<Vec<u32>>());
        let memory = blob.upload(gpu.device())?;
        let base = memory.address();
        Ok(Self {
            ring: tables.ring.clone(),
            from: width,
            to: tables.to.len(),
            convert: RnsConvert {
                digit_stride: width as u32,
                source_total: width as u32,
                width: width as u32,
                exact: (tables.rounding == Rounding::Exact) as u32,
                ..located(convert, base)
            },
            digit_factors: base + digit_factors,
            sources: base + sources,
            memory,
        })
    }
}

impl<D: Device> KeySwitch<D> {
    /// How many digits it has.
    pub(crate) fn digits(&self) -> usize {
        self.own.len()
    }

    pub(super) fn new<W: Word>(
        gpu: &Gpu<D>,
        plan: &RnsPlan<D, W>,
        alpha: usize,
        tables: KeySwitchTables,
        rounding: Rounding,
    ) -> Result<Self> {
        let (limbs, count) = (tables.limbs, tables.limbs.count());
        let alpha = alpha.min(limbs.q);
        // One row for every limb of every digit; a digit's own stay zero.
        let digits = tables.digits.len();
        let mut rows = Rows {
            factors: vec![0; digits * count * alpha],
            minus_products: vec![0; digits * count],
            reciprocals: vec![0.0; limbs.q],
            halves: vec![0; limbs.q],
            targets: plan.ring.indices(limbs).map(|i| i as u32).collect(),
        };
        let mut values = plan.scales.clone();
        for (d, digit) in tables.digits.iter().enumerate() {
            let Some(conversion) = &digit.conversion else { continue };
            let part = Rows::of(plan, conversion)?;
            let width = digit.own.len();
            let targets = (0..count).filter(|limb| !digit.own.contains(limb));
            for (t, limb) in targets.enumerate() {
                let row = d * count + limb;
                rows.factors[row * alpha..][..width].copy_from_slice(&part.factors[t * width..][..width]);
                rows.minus_products[row] = part.minus_products[t];
            }
            rows.reciprocals[digit.own.clone()].copy_from_slice(&part.reciprocals);
            rows.halves[digit.own.clone()].copy_from_slice(&part.halves);
            for (i, inverse) in digit.own.clone().zip(&conversion.inverses) {
                values[i] = Modulus::<u64>::new(plan.ring.prime(i))?.mul(values[i], *inverse);
            }
        }
        let mut blob = Blob::new();
        let convert = rows.add(&mut blob);
        let factors = blob.add(&plan.scaled(&values));
        let special = tables.special.iter().enumerate();
        let special: Vec<RnsFactor> =
            special.map(|(i, product)| factor(plan.lanes.word(), *product, plan.ring.prime(i))).collect();
        let special = blob.add(&special);
        let memory = blob.upload(gpu.device())?;
        let base = memory.address();
        Ok(Self {
            ring: tables.ring,
            limbs,
            own: tables.digits.into_iter().map(|digit| digit.own).collect(),
            convert: RnsConvert {
                digit_stride: alpha as u32,
                source_step: alpha as u32,
                source_total: limbs.q as u32,
                width: alpha as u32,
                table_step: count as u32,
                exact: (rounding == Rounding::Exact) as u32,
                own: 1,
                ..located(convert, base)
            },
            factors: base + factors,
            special: base + special,
            memory,
        })
    }
}

impl<D: Device> ModDown<D> {
    pub(super) fn new<W: Word>(gpu: &Gpu<D>, plan: &RnsPlan<D, W>, tables: ModDownTables) -> Result<Self> {
        let word = plan.lanes.word();
        let conversion = &tables.conversion;
        let width = conversion.from.len();
        let mut values = plan.scales.clone();
        for (i, inverse) in conversion.from.iter().zip(&conversion.inverses) {
            values[*i] = Modulus::<u64>::new(plan.ring.prime(*i))?.mul(values[*i], *inverse);
        }
        let mut scalars = Box::new([RnsFactor::default(); MAX_PRIMES]);
        for (i, inverse) in tables.inverses.iter().enumerate() {
            scalars[i] = factor(word, *inverse, plan.ring.prime(i));
        }
        let mut blob = Blob::new();
        let convert = Rows::of(plan, conversion)?.add(&mut blob);
        let factors = blob.add(&plan.scaled(&values));
        let inverses = blob.add(&scalars[..]);
        let memory = blob.upload(gpu.device())?;
        let base = memory.address();
        Ok(Self {
            ring: tables.ring,
            limbs: tables.limbs,
            kept: tables.kept,
            convert: RnsConvert {
                digit_stride: width as u32,
                source_total: width as u32,
                width: width as u32,
                exact: 1,
                ..located(convert, base)
            },
            factors: base + factors,
            inverses: base + inverses,
            scalars,
            memory,
        })
    }
}

impl<D: Device> Gpu<D> {
    /// Converts `polys` polynomials.
    pub(super) fn convert<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        conversion: &Conversion<D>,
        polys: usize,
        a: RnsView,
        out: RnsView,
    ) -> Result<()> {
        self.device().keep(&conversion.memory);
        let limb = plan.ring.n() * size_of::<W>();
        self.device().with_scratch(polys * conversion.from * limb, |digits| {
            let stride = conversion.from as u64;
            let convert = RnsConvert { targets: conversion.sources, ..conversion.convert };
            let out_digits = RnsView { words: digits, stride };
            let factors = conversion.digit_factors;
            let launch = RnsLaunch { a, out: out_digits, factors, convert, ..plan.launch_of(conversion.from, polys) };
            self.rns_words(plan, "digits", 1, &launch)?;
            let convert = RnsConvert { digits, ..conversion.convert };
            let launch = RnsLaunch { out, convert, ..plan.launch_of(conversion.to, polys) };
            self.rns_converted(plan, &launch)
        })
    }

    /// The digits of one polynomial, extended.
    pub(super) fn mod_up<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        ks: &KeySwitch<D>,
        a: RnsView,
        out: RnsView,
    ) -> Result<()> {
        self.device().keep(&ks.memory);
        let (n, level, digits) = (plan.ring.n(), ks.limbs.q, ks.own.len());
        self.device().with_scratch(level * n * size_of::<W>(), |scratch| {
            let coefficients = RnsView { words: scratch, stride: level as u64 };
            let inverse = plan.launch(Limbs { q: level, p: 0 }, 1);
            self.rns_inverse(plan, &RnsLaunch { a, out: coefficients, factors: ks.factors, ..inverse })?;
            let convert = RnsConvert { digits: scratch, ..ks.convert };
            let launch = RnsLaunch { a, out, convert, ..plan.launch(ks.limbs, digits) };
            self.rns_converted(plan, &launch)?;
            if self.rns_forward_finished(plan, &launch, ["extend_columns", "extend_rows"])? {
                return Ok(());
            }
            self.rns_forward(plan, &RnsLaunch { a: out, ..launch })?;
            for (d, own) in ks.own.iter().enumerate() {
                let copy = RnsLaunch {
                    a: after::<W>(a, n, own.start),
                    out: after::<W>(out, n, d * out.stride as usize + own.start),
                    op: Op::Copy as u32,
                    ..plan.launch(Limbs { q: own.len(), p: 0 }, 1)
                };
                self.rns_words(plan, "word_by_word", 16 / size_of::<W>(), &copy)?;
            }
            Ok(())
        })
    }

    /// Products of digits and a key, the two operands of the launch, and `added` polynomials of its third.
    pub(super) fn key_product<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        ks: &KeySwitch<D>,
        added: u32,
        launch: RnsLaunch,
    ) -> Result<()> {
        self.device().keep(&ks.memory);
        let launch = RnsLaunch { factors: ks.special, terms: ks.own.len() as u32, op: added, ..launch };
        self.rns_words(plan, "key_product", 16 / size_of::<W>(), &launch)
    }

    /// Divides by the dropped primes.
    pub(super) fn mod_down<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        md: &ModDown<D>,
        polys: usize,
        a: RnsView,
        out: RnsView,
    ) -> Result<()> {
        self.device().keep(&md.memory);
        let (n, dropped) = (plan.ring.n(), md.limbs.count() - md.kept.count());
        self.device().with_scratch(polys * dropped * n * size_of::<W>(), |scratch| {
            let coefficients = RnsView { words: scratch, stride: dropped as u64 };
            let from = after::<W>(a, n, md.kept.count());
            let limbs = Limbs { q: md.limbs.q - md.kept.q, p: md.limbs.p };
            let factors = md.factors + (SCALED * md.kept.q * size_of::<RnsFactor>()) as u64;
            let launch = plan.launch_from(md.kept.q, limbs, polys);
            self.rns_inverse(plan, &RnsLaunch { a: from, out: coefficients, factors, ..launch })?;
            let convert = RnsConvert { digits: scratch, ..md.convert };
            let launch = RnsLaunch { a, out, convert, factors: md.inverses, ..plan.launch(md.kept, polys) };
            self.rns_converted(plan, &launch)?;
            if self.rns_forward_finished(plan, &launch, ["forward_columns", "subtract_rows"])? {
                return Ok(());
            }
            self.rns_forward(plan, &RnsLaunch { a: out, ..launch })?;
            let step = 16 / size_of::<W>();
            self.rns_words(plan, "word_by_word", step, &RnsLaunch { op: Op::OutFrom as u32, ..launch })?;
            let launch = RnsLaunch { a: out, op: Op::MulScalar as u32, ..launch };
            self.scalars(plan, &RnsScalars { launch, scalars: *md.scalars })
        })
    }

    /// Starts the kernel with one scalar a limb.
    pub(super) fn scalars<W: Word>(&self, plan: &RnsPlan<D, W>, scalars: &RnsScalars) -> Result<()> {
        let launch = &scalars.launch;
        let words = (launch.polys as usize * launch.limbs as usize) << launch.log_n;
        self.start_rns(&plan.ops, "with_scalars", self.rns_flat(plan, words * size_of::<W>() / 16), scalars)
    }
}

macro_rules! debug {
    ($($Part:ident),*) => {$(
        impl<D: Device> fmt::Debug for $Part<D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($Part), "({:?})"), self.ring)
            }
        }
    )*};
}
debug!(Conversion, KeySwitch, ModDown);
