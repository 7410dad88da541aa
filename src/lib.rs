#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![warn(missing_docs)]

extern crate alloc;

#[macro_use]
mod bounds;
pub mod arith;
pub mod backend;
#[cfg(feature = "ckks")]
pub mod ckks;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod context;
mod error;
#[cfg(feature = "std")]
pub mod kat;
#[cfg(not(feature = "memcheck"))]
#[allow(dead_code)] // Each feature has leaks of its own.
mod memcheck;
#[cfg(feature = "memcheck")]
pub mod memcheck;
pub mod ring;
pub mod rns;
#[cfg(any(feature = "mlkem", feature = "mldsa"))]
pub mod schemes;
mod secret;

pub use backend::{AnyBackend, Backend, Cpu, Reference, RingMul};
pub use context::{PolyBatch, RingContext};
pub use error::{Error, Result};
pub use ring::{Ring, RingSpec, UserRing};
pub use secret::SecretVec;
