//! Other implementations of the schemes, behind plain functions of bytes.

pub mod mldsa;
pub mod mlkem;
