//! Modular arithmetic on machine words: every constant is derived in `const fn` from the modulus alone.
//!
//! Functions are constant time in their operands unless their name ends in `_vartime`; those take public values only.

mod barrett;
mod ct;
mod modulus;
mod montgomery;
mod primes;
mod roots;
mod shoup;
mod word;

pub use ct::{csub, mask_if_less, select};
pub use modulus::Modulus;
pub use primes::{Direction, factor_vartime, is_prime_vartime, ntt_primes};
pub use roots::{bit_reverse, max_negacyclic_length, negacyclic_root, primitive_root_of_unity};
pub use shoup::Shoup;
pub use word::Word;
