//! What a batch's type says: its domain and its secrecy.

use crate::backend::{Backend, Erase, RingMul};
use crate::ring::Ring;

/// What the words of a batch are. Sealed: [`Coeff`], [`Ntt`], [`Prepared`].
pub trait Domain: sealed::Sealed + Send + Sync + 'static {
    /// The name for `Debug`.
    const NAME: &'static str;

    /// The word of this domain's buffers.
    type Word<R: Ring>: crate::arith::Word;

    /// Words of one polynomial.
    fn words<B: RingMul<R>, R: Ring>(backend: &B, plan: &B::Plan, ring: &R) -> usize;
}

/// Coefficients, canonical in `[0, q)`.
#[derive(Debug, Clone, Copy)]
pub struct Coeff;

/// Values in the transform domain; their inside belongs to the backend.
#[derive(Debug, Clone, Copy)]
pub struct Ntt;

/// Factors prepared for many products.
#[derive(Debug, Clone, Copy)]
pub struct Prepared;

impl Domain for Coeff {
    const NAME: &'static str = "coefficients";
    type Word<R: Ring> = R::Word;

    fn words<B: RingMul<R>, R: Ring>(_backend: &B, _plan: &B::Plan, ring: &R) -> usize {
        ring.spec().n()
    }
}

impl Domain for Ntt {
    const NAME: &'static str = "transform domain";
    type Word<R: Ring> = u64;

    fn words<B: RingMul<R>, R: Ring>(backend: &B, plan: &B::Plan, _ring: &R) -> usize {
        backend.ntt_words(plan)
    }
}

impl Domain for Prepared {
    const NAME: &'static str = "prepared";
    type Word<R: Ring> = u64;

    fn words<B: RingMul<R>, R: Ring>(backend: &B, plan: &B::Plan, _ring: &R) -> usize {
        backend.prepared_words(plan)
    }
}

/// Whether a batch holds secrets. Sealed: [`Public`], [`Secret`].
pub trait Secrecy: sealed::Sealed + Send + Sync + 'static {
    /// The name for `Debug`.
    const NAME: &'static str;
    /// What happens to the memory.
    const ERASE: Erase;
}

/// Anyone may see it.
#[derive(Debug, Clone, Copy)]
pub struct Public;

/// Never printed, not downloadable without a word, erased on drop.
#[derive(Debug, Clone, Copy)]
pub struct Secret;

impl Secrecy for Public {
    const NAME: &'static str = "public";
    const ERASE: Erase = Erase::No;
}

impl Secrecy for Secret {
    const NAME: &'static str = "secret";
    const ERASE: Erase = Erase::OnDrop;
}

/// The secrecy of what is computed from two operands: secret if one of them is.
///
/// ```
/// use karat::context::{Join, Public, Secret};
/// fn joined<A: Join<B, Output = Secret>, B: karat::context::Secrecy>() {}
/// joined::<Public, Secret>();
/// joined::<Secret, Public>();
/// ```
pub trait Join<T: Secrecy>: Secrecy {
    /// The result's secrecy.
    type Output: Secrecy;
}

impl Join<Public> for Public {
    type Output = Public;
}
impl Join<Secret> for Public {
    type Output = Secret;
}
impl Join<Public> for Secret {
    type Output = Secret;
}
impl Join<Secret> for Secret {
    type Output = Secret;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Ntt {}
    impl Sealed for super::Prepared {}
    impl Sealed for super::Public {}
    impl Sealed for super::Secret {}
}

/// A buffer of domain `D` on backend `B`.
pub(super) type Buffer<B, R, D> = <B as Backend>::Buffer<<D as Domain>::Word<R>>;
