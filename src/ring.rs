//! Rings `Z_q[x]/(f)`: their description, the method that multiplies in them, and that method's data and steps.

pub mod kntt;
pub mod method;
pub mod ntt;
pub mod presets;
mod quotient;
mod spec;

pub use method::{Method, Shape, Wrap};
pub use quotient::{Quotient, Term};
pub use spec::{MAX_N, MAX_Q, Ring, RingSpec, UserRing};
