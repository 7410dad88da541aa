//! Arguments that several commands share.

use clap::Args;
use karat::{AnyBackend, RingSpec};

use crate::failure::Failure;

/// The ring.
#[derive(Args)]
pub struct RingArgs {
    /// Ring: a name that `karat rings` lists, or a description such as "n=256,q=3329,f=x^256+1".
    #[arg(long, value_name = "RING")]
    ring: String,
    /// Use the k-NTT with 2^ALPHA sub-polynomials.
    #[arg(long)]
    alpha: Option<u32>,
}

impl RingArgs {
    /// The description.
    pub fn spec(&self) -> Result<RingSpec, Failure> {
        let spec: RingSpec = self.ring.parse()?;
        Ok(match self.alpha {
            Some(alpha) => spec.with_alpha(alpha)?,
            None => spec,
        })
    }
}

/// The backend.
#[derive(Args)]
pub struct BackendArgs {
    /// Backend: auto, or one that `karat info` lists [default: KARAT_BACKEND, else auto].
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
}

impl BackendArgs {
    /// The backend that is asked for by `--backend` or the environment.
    pub fn backend(&self) -> Result<AnyBackend, Failure> {
        Ok(match &self.backend {
            Some(name) => AnyBackend::from_name(name)?,
            None => AnyBackend::from_env()?,
        })
    }
}
