//! A ring's primes bound to a level of the CPU.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::kernels::{self, Kernels};
use crate::Result;
use crate::arith::{Modulus, Word};
use crate::backend::cpu::{Level, Plan};
use crate::backend::{Erase, HostBuffer};
use crate::ring::RingSpec;
use crate::rns::{RnsRing, galois};

/// Transforms and kernels for each prime of a ring.
pub struct RnsPlan<W> {
    pub(super) level: Level,
    pub(super) ring: RnsRing<W>,
    pub(super) primes: Vec<Prime<W>>,
    workspace: Workspace<W>,
}

/// One prime.
pub(super) struct Prime<W> {
    pub(super) ntt: Plan,
    pub(super) modulus: Modulus<u64>,
    pub(super) kernels: Box<dyn Kernels<W>>,
}

impl<W: Word> RnsPlan<W> {
    pub(super) fn new(level: Level, ring: &RnsRing<W>) -> Result<Self> {
        let prime = |q: &u64| {
            let m = Modulus::<u64>::new(*q)?;
            Ok(Prime {
                ntt: Plan::new(level, &RingSpec::negacyclic(ring.n(), *q)?)?,
                modulus: m,
                kernels: kernels::choose(level, m),
            })
        };
        let primes = ring.primes().iter().map(prime).collect::<Result<_>>()?;
        Ok(Self { level, ring: ring.clone(), primes, workspace: Workspace::default() })
    }

    /// The place of each canonical slot.
    pub(super) fn order(&self, prime: usize) -> Vec<u32> {
        let n = self.ring.n() as u32;
        match self.primes[prime].ntt.lane_order() {
            None => (0..n).collect(),
            Some(order) => {
                let mut places = alloc::vec![0; order.len()];
                for (place, slot) in (0..n).zip(order) {
                    places[*slot as usize] = place;
                }
                places
            }
        }
    }

    /// Where each word of an automorphic image comes from, in the NTT domain of each of these primes; primes of one
    /// order share a table.
    pub(super) fn images(&self, g: u32, primes: impl Iterator<Item = usize>) -> Images {
        let n = self.ring.n();
        let mut images = Images { tables: Vec::new(), of_limb: Vec::new() };
        let mut known: Vec<usize> = Vec::new();
        for prime in primes {
            let order = self.primes[prime].ntt.lane_order();
            let same = |other: &usize| self.primes[*other].ntt.lane_order() == order;
            let table = known.iter().position(same).unwrap_or_else(|| {
                let places = self.order(prime);
                let image = |t: u32| places[galois::slot(t, g, n) as usize];
                let table = match order {
                    None => (0..n as u32).map(image).collect(),
                    Some(order) => order.iter().map(|t| image(*t)).collect(),
                };
                known.push(prime);
                images.tables.push(table);
                images.tables.len() - 1
            });
            images.of_limb.push(table);
        }
        images
    }

    /// Calls `work` with `len` words of memory of unspecified contents, kept for the next call.
    pub(super) fn with_workspace<O>(&self, len: usize, work: impl FnOnce(&mut [W]) -> O) -> Result<O> {
        self.workspace.with(len, work)
    }
}

/// The sources of the words of an automorphic image.
pub(super) struct Images {
    tables: Vec<Vec<u32>>,
    of_limb: Vec<usize>,
}

impl Images {
    pub(super) fn of(&self, limb: usize) -> &[u32] {
        &self.tables[self.of_limb[limb]]
    }
}

impl<W> fmt::Debug for RnsPlan<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RnsPlan({} primes)", self.primes.len())
    }
}

/// Buffers that operations leave for the next one. They may hold secrets: erased on drop.
struct Workspace<W> {
    #[cfg(feature = "std")]
    free: std::sync::Mutex<Vec<HostBuffer<W>>>,
    #[cfg(not(feature = "std"))]
    word: core::marker::PhantomData<W>,
}

impl<W> Default for Workspace<W> {
    fn default() -> Self {
        Self {
            #[cfg(feature = "std")]
            free: std::sync::Mutex::new(Vec::new()),
            #[cfg(not(feature = "std"))]
            word: core::marker::PhantomData,
        }
    }
}

impl<W: Word> Workspace<W> {
    fn with<O>(&self, len: usize, work: impl FnOnce(&mut [W]) -> O) -> Result<O> {
        let mut buffer = match self.take().filter(|buffer| buffer.len() >= len) {
            Some(buffer) => buffer,
            None => HostBuffer::new(len, Erase::OnDrop)?,
        };
        let out = work(&mut buffer[..len]);
        self.give(buffer);
        Ok(out)
    }

    #[cfg(feature = "std")]
    fn take(&self) -> Option<HostBuffer<W>> {
        // A thread that panicked left only buffers behind, all of them whole.
        self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop()
    }

    #[cfg(feature = "std")]
    fn give(&self, buffer: HostBuffer<W>) {
        self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(buffer);
    }

    #[cfg(not(feature = "std"))]
    fn take(&self) -> Option<HostBuffer<W>> {
        None
    }

    #[cfg(not(feature = "std"))]
    fn give(&self, _: HostBuffer<W>) {}
}
