//! Host memory for secrets.

use alloc::vec::Vec;
use core::fmt;
use zeroize::Zeroize;

/// A vector whose contents are erased when it is dropped and never printed.
///
/// There is no `PartialEq`: compare with [`subtle`]. [`SecretVec::expose`] is the only way to the contents.
///
/// ```
/// let secret = karat::SecretVec::from(vec![1u16, 2, 3]);
/// assert_eq!(format!("{secret:?}"), "SecretVec(3 values)");
/// assert_eq!(secret.expose("the example shows it"), &[1, 2, 3]);
/// ```
pub struct SecretVec<T: Zeroize>(Vec<T>);

impl<T: Zeroize> SecretVec<T> {
    /// The contents. `why` documents the call; it has no effect.
    pub fn expose(&self, why: &'static str) -> &[T] {
        let _ = why;
        &self.0
    }

    /// How many values there are.
    ///
    /// ```
    /// assert_eq!(karat::SecretVec::from(vec![0u8; 5]).len(), 5);
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value.
    ///
    /// ```
    /// assert!(karat::SecretVec::<u8>::from(vec![]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Zeroize> From<Vec<T>> for SecretVec<T> {
    /// Takes the vector over, so that no copy stays behind.
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T: Zeroize> Drop for SecretVec<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for SecretVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretVec({} values)", self.0.len())
    }
}
