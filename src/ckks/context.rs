//! The context: parameters on a backend, with everything that is computed once.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::encoder::{Encoder, Integers};
use super::scale::Scale;
use super::{Error, Parameters, Result};
use crate::arith::{Modulus, Word};
use crate::backend::Erase;
use crate::rns::{Drop as Dropped, Limbs, RnsMul, RnsRing, Rounding, View, ViewMut};

/// CKKS with one set of parameters on one backend; `W` is the word of its residues, `u32` for primes below `2^31`.
///
/// Cloning is cheap; clones count as the same context. A context is made once and used from any thread.
///
/// ```
/// use karat::ckks::{Ckks, Literal, Prime};
/// let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
/// let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
/// let plaintext = ckks.encode_real(&[1.0, 2.5])?;
/// assert!((ckks.decode_real(&plaintext)?[1] - 2.5).abs() < 1e-9);
/// # Ok::<(), karat::ckks::Error>(())
/// ```
pub struct Ckks<B: RnsMul<W>, W: Word = u64> {
    inner: Arc<Inner<B, W>>,
}

/// What a context holds; of use inside the layer only.
pub struct Inner<B: RnsMul<W>, W: Word> {
    pub(super) backend: B,
    pub(super) parameters: Parameters,
    pub(super) plan: B::RnsPlan,
    pub(super) encoder: Encoder,
    /// Place of each canonical slot, for each prime.
    pub(super) orders: Vec<Vec<u32>>,
    pub(super) levels: Vec<Level<B, W>>,
    /// The scale of each level in automatic mode, or why there is none.
    pub(super) automatic: Result<Vec<Scale>>,
    /// `x^(N/2)`, whose slots are all `i`, in the NTT domain modulo Q.
    pub(super) imaginary: B::Buffer<W>,
    /// Buffers of public contents to be used again, by length.
    pool: Mutex<BTreeMap<usize, Vec<B::Buffer<W>>>>,
}

/// Tables of one level.
pub(super) struct Level<B: RnsMul<W>, W: Word> {
    /// Key switching, where there are special primes.
    pub(super) switch: Option<Switch<B, W>>,
    /// The rescale from this level, above level 0.
    pub(super) rescale: Option<B::ModDown>,
}

/// Tables of key switching.
pub(super) struct Switch<B: RnsMul<W>, W: Word> {
    pub(super) digits: B::KeySwitch,
    pub(super) down: B::ModDown,
    /// The division by the special primes and the rescale in one, above level 0.
    pub(super) down_and_rescale: Option<B::ModDown>,
}

impl<B: RnsMul<W>, W: Word> Clone for Ckks<B, W> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<B: RnsMul<W>, W: Word> Deref for Ckks<B, W> {
    type Target = Inner<B, W>;

    fn deref(&self) -> &Inner<B, W> {
        &self.inner
    }
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for Ckks<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let p = &self.parameters;
        write!(f, "Ckks(N = {}, {} levels, {})", p.n(), p.max_level(), self.backend.name())
    }
}

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// Prepares parameters on a backend.
    ///
    /// # Errors
    /// `Parameters` where the primes need another word; what the backend refuses.
    ///
    /// ```
    /// use karat::ckks::{Ckks, Error, Literal, Prime};
    /// let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// let wrong = Ckks::<_, u32>::new(karat::Cpu::new(), parameters);
    /// assert!(matches!(wrong, Err(Error::Parameters(_))));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(backend: B, parameters: Parameters) -> Result<Self> {
        if W::WIDTH < 32 || W::WIDTH == 32 && !parameters.fits_u32() {
            return Err(Error::Parameters(format!(
                "these primes do not fit words of {} bits: use Ckks::<_, u64>, or primes below 2^31",
                W::WIDTH
            )));
        }
        let ring = RnsRing::<W>::new(parameters.n(), parameters.q(), parameters.p())?;
        let plan = backend.rns_plan(&ring)?;
        let orders = (0..ring.primes().len()).map(|i| backend.rns_order(&plan, i)).collect::<crate::Result<_>>()?;
        let mut levels = Vec::new();
        for level in 0..=parameters.max_level() {
            let limbs = parameters.limbs(level);
            let down = |drop| backend.rns_mod_down_tables(&plan, limbs, drop);
            let below = |drop: fn(usize) -> Dropped| (level > 0).then(|| down(drop(parameters.split()))).transpose();
            let switch = match parameters.p().is_empty() {
                true => None,
                false => Some(Switch {
                    digits: backend.rns_key_switch(&plan, limbs, parameters.alpha(), Rounding::Exact)?,
                    down: down(Dropped::Special)?,
                    down_and_rescale: below(Dropped::SpecialAndLast)?,
                }),
            };
            let rescale = below(Dropped::Last)?;
            levels.push(Level { switch, rescale });
        }
        let (n, q) = (parameters.n(), parameters.q().len());
        let mut imaginary = backend.alloc(q * n, Erase::No)?;
        let unit = Integers::from_values((0..n).map(|i| i64::from(i == n / 2)), 1);
        backend.upload(&unit.residues::<W>(parameters.q()), &mut imaginary)?;
        backend.rns_ntt(&plan, Limbs { q, p: 0 }, 1, ViewMut::new(&mut imaginary))?;
        let encoder = Encoder::new(parameters.log_n());
        let automatic = parameters.automatic_scales();
        let pool = Mutex::default();
        let inner = Inner { backend, parameters, plan, encoder, orders, levels, automatic, imaginary, pool };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.inner.parameters
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.inner.backend
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Checks that something was made by this context.
    pub(super) fn own(&self, what: &'static str, other: &Self) -> Result<()> {
        if self.is(other) { Ok(()) } else { Err(Error::Foreign(what)) }
    }

    /// Checks a level.
    pub(super) fn check_level(&self, operation: &'static str, level: usize) -> Result<()> {
        let expected = self.parameters.max_level();
        if level <= expected { Ok(()) } else { Err(Error::LevelMismatch { operation, expected, got: level }) }
    }

    /// Checks that a scale has room at a level, with a bit for the sign.
    pub(super) fn check_scale(&self, operation: &'static str, scale: Option<Scale>, level: usize) -> Result<Scale> {
        let modulus = self.parameters.log_q(level);
        let bits = scale.as_ref().map_or(f64::INFINITY, Scale::log2);
        match scale {
            Some(scale) if bits < modulus - 1.0 => Ok(scale),
            _ => Err(Error::ScaleExhausted { operation, scale: bits, modulus, level }),
        }
    }

    /// Limbs of Q at a level.
    pub(super) fn limbs(&self, level: usize) -> Limbs {
        Limbs { q: self.parameters.limbs(level), p: 0 }
    }

    /// Limbs of Q at a level, and of P.
    pub(super) fn extended(&self, level: usize) -> Limbs {
        Limbs { q: self.parameters.limbs(level), p: self.parameters.p().len() }
    }

    /// All limbs.
    pub(super) fn full(&self) -> Limbs {
        self.extended(self.parameters.max_level())
    }

    /// The primes of limbs.
    pub(super) fn primes(&self, limbs: Limbs) -> Vec<u64> {
        [&self.parameters.q()[..limbs.q], &self.parameters.p()[..limbs.p]].concat()
    }

    /// Memory for public contents: polynomials of some limbs in all. Contents are arbitrary.
    pub(super) fn pooled(&self, limbs: usize) -> Result<Pooled<B, W>> {
        let len = limbs * self.parameters.n();
        let mut pool = self.inner.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pool.get_mut(&len).and_then(Vec::pop);
        std::mem::drop(pool);
        let words = match found {
            Some(words) => words,
            None => self.backend.alloc(len, Erase::No)?,
        };
        Ok(Pooled { words: Some(words), len, context: self.clone() })
    }

    /// Memory for secret contents, zero at first, erased when dropped.
    pub(super) fn secret_memory(&self, limbs: usize) -> Result<B::Buffer<W>> {
        Ok(self.backend.alloc(limbs * self.parameters.n(), Erase::OnDrop)?)
    }

    /// Buffers that lie ready to be used again: together with what is in use, all memory that operations have taken.
    ///
    /// ```
    /// use karat::ckks::{Ckks, Literal, Prime};
    /// let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// assert_eq!(Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?.idle_words(), 0);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn idle_words(&self) -> usize {
        let pool = self.inner.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.iter().map(|(len, buffers)| len * buffers.len()).sum()
    }

    /// The residues of one integer modulo the primes of limbs.
    pub(super) fn scalars(&self, integers: &Integers, limbs: Limbs) -> Vec<W> {
        integers.residues(&self.primes(limbs))
    }

    /// The product of the special primes modulo each prime of Q.
    pub(super) fn special_product(&self) -> Vec<u64> {
        let p = self.parameters.p();
        let product = |q: &u64| {
            Modulus::<u64>::checked(*q).map_or(0, |m| p.iter().fold(1, |product, p| m.mul(product, m.reduce(*p))))
        };
        self.parameters.q().iter().map(product).collect()
    }
}

/// A buffer of a context's pool: goes back there when dropped. Contents are public.
pub(super) struct Pooled<B: RnsMul<W>, W: Word> {
    words: Option<B::Buffer<W>>,
    len: usize,
    context: Ckks<B, W>,
}

impl<B: RnsMul<W>, W: Word> Pooled<B, W> {
    /// The buffer. It is taken out only in `drop`.
    fn words(&self) -> &B::Buffer<W> {
        self.words.as_ref().expect("a pooled buffer is there until it is dropped")
    }

    /// To read, from a limb on, polynomials `stride` limbs apart.
    pub(super) fn view(&self, first: usize, stride: usize) -> View<'_, B::Buffer<W>> {
        View::new(self.words()).at(first).every(stride)
    }

    /// To write, as [`Pooled::view`].
    pub(super) fn view_mut(&mut self, first: usize, stride: usize) -> ViewMut<'_, B::Buffer<W>> {
        ViewMut::new(self.buffer_mut()).at(first).every(stride)
    }

    /// The buffer itself.
    pub(super) fn buffer_mut(&mut self) -> &mut B::Buffer<W> {
        self.words.as_mut().expect("a pooled buffer is there until it is dropped")
    }
}

impl<B: RnsMul<W>, W: Word> Drop for Pooled<B, W> {
    fn drop(&mut self) {
        if let Some(words) = self.words.take() {
            let mut pool = self.context.inner.pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.entry(self.len).or_default().push(words);
        }
    }
}
