//! RNS rings on a backend chosen at run time.

use alloc::vec::Vec;

use super::{Addend, Assign, Combine, Domain, Drop, Limbs, RnsMul, RnsRing, Rounding, Scalar, View, ViewMut};
use crate::arith::Word;
#[cfg(feature = "cuda")]
use crate::backend::cuda::{Cuda, DeviceBuffer, Driver};
use crate::backend::{AnyBackend, AnyBuffer, Cpu, HostBuffer};
use crate::{Error, Result};

/// A part of `$kind` for each backend that has RNS arithmetic.
macro_rules! parts {
    ($($(#[$doc:meta])* $Name:ident: $Part:ident;)*) => {$(
        $(#[$doc])*
        #[non_exhaustive]
        // Few are made, and they live long.
        #[allow(clippy::large_enum_variant)]
        pub enum $Name<W: Word> {
            /// For the CPU.
            Cpu(<Cpu as RnsMul<W>>::$Part),
            /// For a GPU.
            #[cfg(feature = "cuda")]
            Cuda(<Cuda as RnsMul<W>>::$Part),
        }

        impl<W: Word> core::fmt::Debug for $Name<W> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    Self::Cpu(_) => f.write_str(concat!(stringify!($Name), "::Cpu")),
                    #[cfg(feature = "cuda")]
                    Self::Cuda(_) => f.write_str(concat!(stringify!($Name), "::Cuda")),
                }
            }
        }
    )*};
}

parts! {
    /// A plan of [`AnyBackend`].
    AnyRnsPlan: RnsPlan;
    /// A base conversion of [`AnyBackend`].
    AnyConversion: Conversion;
    /// A key switch of [`AnyBackend`].
    AnyKeySwitch: KeySwitch;
    /// A division by dropped primes of [`AnyBackend`].
    AnyModDown: ModDown;
}

const FOREIGN: Error = Error::Foreign("backends");

/// The view of a buffer inside a view of any buffer.
macro_rules! inner {
    ($Kind:ident, $View:ident, $view:expr) => {{
        #[allow(clippy::infallible_destructuring_match)]
        let words = match $view.words {
            AnyBuffer::$Kind(words) => words,
            #[cfg(feature = "cuda")]
            _ => return Err(FOREIGN),
        };
        Ok($View { words, first: $view.first, stride: $view.stride })
    }};
}

fn host<'a, W: Word>(view: In<'a, W>) -> Result<View<'a, HostBuffer<W>>> {
    inner!(Host, View, view)
}

fn host_mut<'a, W: Word>(view: Out<'a, W>) -> Result<ViewMut<'a, HostBuffer<W>>> {
    inner!(Host, ViewMut, view)
}

#[cfg(feature = "cuda")]
fn device<'a, W: Word>(view: In<'a, W>) -> Result<View<'a, DeviceBuffer<Driver, W>>> {
    inner!(Cuda, View, view)
}

#[cfg(feature = "cuda")]
fn device_mut<'a, W: Word>(view: Out<'a, W>) -> Result<ViewMut<'a, DeviceBuffer<Driver, W>>> {
    inner!(Cuda, ViewMut, view)
}

/// Calls one method on the backend and the parts that belong together; those of another backend are an error.
macro_rules! dispatch {
    ($self:ident, [$($part:ident: $Part:ident),*], [$($view:ident),*], [$($out:ident)?], |$b:ident| $call:expr) => {
        match ($self, $($part),*) {
            (AnyBackend::Cpu($b), $($Part::Cpu($part)),*) => {
                $(let $view = host($view)?;)*
                $(let $out = host_mut($out)?;)?
                $call
            }
            #[cfg(feature = "cuda")]
            (AnyBackend::Cuda($b), $($Part::Cuda($part)),*) => {
                $(let $view = device($view)?;)*
                $(let $out = device_mut($out)?;)?
                $call
            }
            _ => Err(FOREIGN),
        }
    };
}

/// Makes a part of `$Name` from a plan.
macro_rules! make {
    ($Name:ident, $self:ident, $plan:ident, |$b:ident| $call:expr) => {
        match ($self, $plan) {
            (AnyBackend::Cpu($b), AnyRnsPlan::Cpu($plan)) => $call.map($Name::Cpu),
            #[cfg(feature = "cuda")]
            (AnyBackend::Cuda($b), AnyRnsPlan::Cuda($plan)) => $call.map($Name::Cuda),
            _ => Err(FOREIGN),
        }
    };
}

type In<'a, W> = View<'a, AnyBuffer<W>>;
type Out<'a, W> = ViewMut<'a, AnyBuffer<W>>;

impl<W: Word> RnsMul<W> for AnyBackend {
    type RnsPlan = AnyRnsPlan<W>;
    type Conversion = AnyConversion<W>;
    type KeySwitch = AnyKeySwitch<W>;
    type ModDown = AnyModDown<W>;

    fn rns_plan(&self, ring: &RnsRing<W>) -> Result<AnyRnsPlan<W>> {
        match self {
            Self::Cpu(b) => b.rns_plan(ring).map(AnyRnsPlan::Cpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(b) => b.rns_plan(ring).map(AnyRnsPlan::Cuda),
            _ => Err(Error::Unsupported {
                what: "RNS arithmetic on this backend",
                reason: "use scalar, avx2, avx512, cuda, cuda:i or auto".into(),
            }),
        }
    }

    fn rns_ring<'a>(&self, plan: &'a AnyRnsPlan<W>) -> &'a RnsRing<W> {
        match plan {
            AnyRnsPlan::Cpu(plan) => Cpu::scalar().rns_ring(plan),
            #[cfg(feature = "cuda")]
            AnyRnsPlan::Cuda(plan) => plan.ring(),
        }
    }

    fn rns_order(&self, plan: &AnyRnsPlan<W>, prime: usize) -> Result<Vec<u32>> {
        dispatch!(self, [plan: AnyRnsPlan], [], [], |b| b.rns_order(plan, prime))
    }

    fn rns_ntt(&self, plan: &AnyRnsPlan<W>, limbs: Limbs, polys: usize, x: Out<'_, W>) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [], [x], |b| b.rns_ntt(plan, limbs, polys, x))
    }

    fn rns_intt(&self, plan: &AnyRnsPlan<W>, limbs: Limbs, polys: usize, x: Out<'_, W>) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [], [x], |b| b.rns_intt(plan, limbs, polys, x))
    }

    fn rns_ntt_from(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        src: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [src], [out], |b| b.rns_ntt_from(plan, limbs, polys, src, out))
    }

    fn rns_intt_from(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        src: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [src], [out], |b| b.rns_intt_from(plan, limbs, polys, src, out))
    }

    fn rns_copy(&self, plan: &AnyRnsPlan<W>, limbs: Limbs, polys: usize, a: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a], [out], |b| b.rns_copy(plan, limbs, polys, a, out))
    }

    fn rns_neg(&self, plan: &AnyRnsPlan<W>, limbs: Limbs, polys: usize, a: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a], [out], |b| b.rns_neg(plan, limbs, polys, a, out))
    }

    fn rns_combine(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        op: Combine,
        a: In<'_, W>,
        b: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a, b], [out], |backend| backend
            .rns_combine(plan, limbs, polys, op, a, b, out))
    }

    fn rns_assign(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        op: Assign,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a], [out], |b| b.rns_assign(plan, limbs, polys, op, a, out))
    }

    fn rns_scalar(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        op: Scalar,
        scalars: &[W],
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a], [out], |b| b.rns_scalar(plan, limbs, polys, op, scalars, a, out))
    }

    fn rns_tensor(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        a: In<'_, W>,
        b: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a, b], [out], |backend| backend.rns_tensor(plan, limbs, a, b, out))
    }

    fn rns_square(&self, plan: &AnyRnsPlan<W>, limbs: Limbs, a: In<'_, W>, out: Out<'_, W>) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a], [out], |b| b.rns_square(plan, limbs, a, out))
    }

    fn rns_automorphism(
        &self,
        plan: &AnyRnsPlan<W>,
        limbs: Limbs,
        polys: usize,
        g: u32,
        domain: Domain,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan], [a], [out], |b| b.rns_automorphism(plan, limbs, polys, g, domain, a, out))
    }

    fn rns_conversion(
        &self,
        plan: &AnyRnsPlan<W>,
        from: &[usize],
        to: &[usize],
        rounding: Rounding,
    ) -> Result<AnyConversion<W>> {
        make!(AnyConversion, self, plan, |b| b.rns_conversion(plan, from, to, rounding))
    }

    fn rns_convert(
        &self,
        plan: &AnyRnsPlan<W>,
        conversion: &AnyConversion<W>,
        polys: usize,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan, conversion: AnyConversion], [a], [out], |b| b
            .rns_convert(plan, conversion, polys, a, out))
    }

    fn rns_key_switch(
        &self,
        plan: &AnyRnsPlan<W>,
        level: usize,
        alpha: usize,
        rounding: Rounding,
    ) -> Result<AnyKeySwitch<W>> {
        make!(AnyKeySwitch, self, plan, |b| b.rns_key_switch(plan, level, alpha, rounding))
    }

    fn rns_digits(&self, key_switch: &AnyKeySwitch<W>) -> usize {
        match key_switch {
            AnyKeySwitch::Cpu(key_switch) => Cpu::scalar().rns_digits(key_switch),
            #[cfg(feature = "cuda")]
            AnyKeySwitch::Cuda(key_switch) => key_switch.digits(),
        }
    }

    fn rns_mod_up(
        &self,
        plan: &AnyRnsPlan<W>,
        key_switch: &AnyKeySwitch<W>,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan, key_switch: AnyKeySwitch], [a], [out], |b| b
            .rns_mod_up(plan, key_switch, a, out))
    }

    fn rns_key_product(
        &self,
        plan: &AnyRnsPlan<W>,
        key_switch: &AnyKeySwitch<W>,
        g: Option<u32>,
        digits: In<'_, W>,
        key: In<'_, W>,
        addend: Option<Addend<'_, AnyBuffer<W>>>,
        out: Out<'_, W>,
    ) -> Result<()> {
        let Some(Addend { view, polys }) = addend else {
            return dispatch!(self, [plan: AnyRnsPlan, key_switch: AnyKeySwitch], [digits, key], [out], |b| b
                .rns_key_product(plan, key_switch, g, digits, key, None, out));
        };
        dispatch!(self, [plan: AnyRnsPlan, key_switch: AnyKeySwitch], [digits, key, view], [out], |b| b
            .rns_key_product(plan, key_switch, g, digits, key, Some(Addend { view, polys }), out))
    }

    fn rns_mod_down_tables(&self, plan: &AnyRnsPlan<W>, level: usize, drop: Drop) -> Result<AnyModDown<W>> {
        make!(AnyModDown, self, plan, |b| b.rns_mod_down_tables(plan, level, drop))
    }

    fn rns_mod_down(
        &self,
        plan: &AnyRnsPlan<W>,
        mod_down: &AnyModDown<W>,
        polys: usize,
        a: In<'_, W>,
        out: Out<'_, W>,
    ) -> Result<()> {
        dispatch!(self, [plan: AnyRnsPlan, mod_down: AnyModDown], [a], [out], |b| b
            .rns_mod_down(plan, mod_down, polys, a, out))
    }
}
