//! Where secrets become public, and valgrind's memcheck as a witness that they do so nowhere else.
//!
//! Memcheck reports every branch and every address that depends on undefined memory. A program that marks secrets as
//! undefined ([`secret`]) and runs karat on them is told of every leak, except where the code says that something is
//! public from there on: those places are the variants of [`Leak`], and there are no others. Outside valgrind the requests
//! do nothing, and without the feature `memcheck` they are not there.
//!
//! ```
//! # #[cfg(feature = "memcheck")] {
//! use karat::memcheck;
//! let key = [3u8; 32];
//! memcheck::secret(&key);
//! // What depends on `key` here must take no branch.
//! let sum = key.iter().fold(0u8, |sum, byte| sum ^ byte);
//! memcheck::public(&[sum]);
//! assert!(memcheck::is_watching() || memcheck::errors() == 0);
//! # }
//! ```

/// What depends on secrets and may be seen all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// ML-KEM and ML-DSA key generation: the seed of the matrix, a part of the public key.
    MatrixSeed,
    /// ML-KEM and ML-DSA: a public key that was computed from a secret one.
    PublicKey,
    /// ML-DSA key generation: which half bytes count. Those that are kept are independent of it.
    HalfByte,
    /// ML-DSA and CKKS: whether a private key that is read is in range. Those that key generation makes are.
    KeyRange,
    /// ML-DSA signing: the challenge, also that of a rejected attempt, a hash of far more than anyone can search.
    Challenge,
    /// ML-DSA signing: whether a polynomial of the response is short enough. The chance is the same for all secrets.
    Response,
    /// ML-DSA signing: whether low bits are small enough, of a response that was. As above.
    LowBits,
    /// ML-DSA signing: the hint and whether it is short enough. It follows from a response that was accepted and from
    /// `t`, which the standard's proof counts as public.
    Hint,
    /// Batches: whether every coefficient of an input is reduced. Only a caller's mistake is not.
    Reduced,
    /// CKKS keys and encryption: the seed of a public polynomial, drawn beside that of a secret.
    PolynomialSeed,
}

/// Every [`Leak`].
#[cfg(feature = "memcheck")]
pub const LEAKS: [Leak; 10] = [
    Leak::MatrixSeed,
    Leak::PublicKey,
    Leak::HalfByte,
    Leak::KeyRange,
    Leak::Challenge,
    Leak::Response,
    Leak::LowBits,
    Leak::Hint,
    Leak::Reduced,
    Leak::PolynomialSeed,
];

/// A value that may be seen from here on.
#[inline(always)]
pub(crate) fn shown<T: Copy>(leak: Leak, mut value: T) -> T {
    show(leak, core::slice::from_mut(&mut value));
    value
}

/// Values that may be seen from here on.
#[inline(always)]
pub(crate) fn show<T: Copy>(leak: Leak, values: &mut [T]) {
    #[cfg(feature = "memcheck")]
    requests::show(leak, values);
    let _ = (leak, values);
}

#[cfg(feature = "memcheck")]
pub use requests::{errors, is_watching, public, secret, times_shown};

/// Client requests as `valgrind.h` and `memcheck.h` define them for x86-64.
#[cfg(feature = "memcheck")]
mod requests {
    use core::sync::atomic::{AtomicU64, Ordering};

    use super::{LEAKS, Leak};

    /// `VG_USERREQ__RUNNING_ON_VALGRIND`.
    const RUNNING: u64 = 0x1001;
    /// `VG_USERREQ__COUNT_ERRORS`.
    const COUNT_ERRORS: u64 = 0x1201;
    /// `VG_USERREQ__MAKE_MEM_UNDEFINED`: the tool base `MC`, and 1.
    const UNDEFINED: u64 = 0x4d43_0001;
    /// `VG_USERREQ__MAKE_MEM_DEFINED`.
    const DEFINED: u64 = 0x4d43_0002;

    /// How often each leak was shown.
    static SHOWN: [AtomicU64; LEAKS.len()] = [const { AtomicU64::new(0) }; LEAKS.len()];

    /// Whether memcheck watches.
    pub fn is_watching() -> bool {
        request(RUNNING, 0, 0) > 0
    }

    /// Errors that memcheck has found so far.
    pub fn errors() -> u64 {
        request(COUNT_ERRORS, 0, 0)
    }

    /// Makes these values secret: a branch or an address that depends on them is an error from now on.
    pub fn secret<T: Copy>(values: &[T]) {
        request(UNDEFINED, values.as_ptr() as u64, size_of_val(values) as u64);
    }

    /// Makes them public again.
    pub fn public<T: Copy>(values: &[T]) {
        request(DEFINED, values.as_ptr() as u64, size_of_val(values) as u64);
    }

    /// How often the code has passed a place where this becomes public.
    ///
    /// ```
    /// use karat::memcheck::{LEAKS, times_shown};
    /// assert!(LEAKS.into_iter().all(|leak| times_shown(leak) == 0));
    /// ```
    pub fn times_shown(leak: Leak) -> u64 {
        SHOWN[leak as usize].load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn show<T: Copy>(leak: Leak, values: &mut [T]) {
        SHOWN[leak as usize].fetch_add(1, Ordering::Relaxed);
        request(DEFINED, values.as_mut_ptr() as u64, size_of_val(values) as u64);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn request(code: u64, first: u64, second: u64) -> u64 {
        let arguments = [code, first, second, 0, 0, 0];
        let mut result = 0u64;
        // SAFETY: the four rotations by 128 bits in all leave rdi as it was, and exchanging rbx with itself does
        // nothing. Valgrind knows this sequence; it reads the six words at rax, writes rdx, and changes nothing that
        // Rust sees but what it knows about the memory in the arguments.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") arguments.as_ptr(),
                inout("rdx") result,
                options(nostack),
            );
        }
        result
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn request(_: u64, _: u64, _: u64) -> u64 {
        0
    }
}
