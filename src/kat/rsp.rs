//! The ring format `.rsp`: products `c = a·b` in `Z_q[x]/(f)` as text.
//!
//! ```text
//! # a comment
//!
//! [n = 2]
//! [q = 17]
//! [f = x^2 + 1]
//!
//! count = 0
//! a = 2 6
//! b = 5 1
//! c = 4 15
//! ```
//!
//! - Headers in brackets describe the ring; `n` is the degree of `f`, all three are needed in any order. After
//!   records, a new set of three begins a new ring.
//! - A record begins with `count`: 0 in the first record of the file, then the next number; a new ring may start at 0
//!   again. `a`, `b` and `c` follow in any order: `n` decimal coefficients in `[0, q)`, lowest degree first, blanks
//!   between.
//! - Empty lines and lines that begin with `#` mean nothing. Lines end in LF or CR LF, the last one may lack its end.
//! - Other headers and fields are allowed, and counted, because nobody checks them.
//!
//! [`Reader`] holds one record at a time. A line may be as long as the ring needs and no longer.

mod reader;
mod writer;

pub use reader::{Reader, Record};
pub use writer::Writer;

/// Whether a name may stand before `=`.
pub(super) fn is_key(name: &[u8]) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}
