//! ML-KEM (FIPS 203) and ML-DSA (FIPS 204) on the ring-multiplication trait, with their round-3 ancestors Kyber and
//! Dilithium.
//!
//! | module | scheme | types |
//! |---|---|---|
//! | [`mlkem`] | key encapsulation | `MlKem512`, `MlKem768`, `MlKem1024`, `Kyber512`, `Kyber768`, `Kyber1024` |
//! | [`mldsa`] | signatures | `MlDsa44`, `MlDsa65`, `MlDsa87`, `Dilithium2`, `Dilithium3`, `Dilithium5` |
//!
//! All arithmetic in the rings is the backend's. Single calls run on the CPU and allocate nothing on the heap; batched
//! calls run on any backend. The core functions take seed bytes, so that they do not depend on a version of a
//! random-number crate. Features add what does: `rand_core` functions that draw their own seeds, `kem` and `signature`
//! the traits of these crates for the keys.

mod encode;
mod error;
mod hash;
mod levels;
#[cfg(feature = "mldsa")]
pub mod mldsa;
#[cfg(feature = "mlkem")]
pub mod mlkem;

#[cfg(feature = "rand_core")]
mod random;
mod rejection;
mod wipe;

pub use error::{Error, Result};
use wipe::{Wiped, wipe};

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut, Range};

use bytemuck::Pod;
use zeroize::Zeroize;

/// Coefficients of a polynomial in both rings.
const N: usize = 256;

/// A fixed-size array, named by the parameter set that uses it. Implemented for `[T; LEN]` of plain data.
///
/// ```
/// use karat::schemes::Array;
/// let key: [u8; 4] = Array::filled(7);
/// assert_eq!(key, [7; 4]);
/// ```
pub trait Array<T>: AsRef<[T]> + AsMut<[T]> + Clone + Send + Sync + 'static {
    /// The number of elements.
    const LEN: usize;

    /// An array of equal elements.
    fn filled(value: T) -> Self;

    /// Overwrites every element.
    fn erase(&mut self);
}

impl<T: Pod + Send + Sync, const LEN: usize> Array<T> for [T; LEN] {
    const LEN: usize = LEN;

    #[inline]
    fn filled(value: T) -> Self {
        [value; LEN]
    }

    fn erase(&mut self) {
        wipe(bytemuck::cast_slice_mut(self));
    }
}

/// An array on the stack that is erased when it goes out of scope: it is made empty and filled in place, so that no
/// copy is left behind.
struct Erased<A: Array<T>, T>(A, PhantomData<T>);

impl<A: Array<T>, T> Erased<A, T> {
    fn filled(value: T) -> Self {
        Self(A::filled(value), PhantomData)
    }
}

impl<A: Array<T>, T> Deref for Erased<A, T> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: Array<T>, T> DerefMut for Erased<A, T> {
    fn deref_mut(&mut self) -> &mut A {
        &mut self.0
    }
}

impl<A: Array<T>, T> Drop for Erased<A, T> {
    fn drop(&mut self) {
        self.0.erase();
    }
}

/// Checks the length of an argument.
fn exactly(what: &'static str, bytes: &[u8], expected: usize) -> Result<()> {
    if bytes.len() == expected { Ok(()) } else { Err(Error::WrongLength { what, expected, got: bytes.len() }) }
}

/// Checks that slices of a batched call have one length.
fn same_len(what: &'static str, got: usize, expected: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Error::WrongBatch { what, expected, got }) }
}

/// Items of a batch that are on the backend at once: memory stays bounded.
const CHUNK: usize = 256;

/// Runs `work` on ranges of at most [`CHUNK`] items, and joins the results.
fn each_chunk<T>(len: usize, mut work: impl FnMut(Range<usize>) -> Result<Vec<T>>) -> Result<Vec<T>> {
    let mut out = Vec::with_capacity(len);
    for start in (0..len).step_by(CHUNK) {
        let mut part = work(start..len.min(start + CHUNK))?;
        out.append(&mut part);
        // What was moved still lies there, keys among it.
        part.spare_capacity_mut().zeroize();
    }
    Ok(out)
}
