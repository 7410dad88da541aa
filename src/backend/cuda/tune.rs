//! Measures parameters on the GPU at hand, and keeps the choice beside the kernel cache.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::device::Device;
use super::{Cuda, Event, Tuning, WarpTuning, cache};
use crate::backend::{Backend, Erase, RingMul};
use crate::ring::presets::{Falcon512, Falcon1024, MlDsa, MlKem};
use crate::ring::{Ring, UserRing};
use crate::{Error, Result};

/// The form of the stored file; another one is not read.
const VERSION: u32 = 2;

/// One candidate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// What was multiplied.
    pub what: &'static str,
    /// The parameters, in words.
    pub choice: String,
    /// Nanoseconds for the whole batch, the median.
    pub median_ns: f64,
    /// Products.
    pub batch: usize,
    /// Whether it was the fastest.
    pub chosen: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    gpu: String,
    driver: u32,
    tuning: Tuning,
}

/// Where the choice for this GPU and driver lies.
fn path(gpu: &Cuda) -> Result<PathBuf> {
    let folder = cache::folder().ok_or_else(|| failed("no private folder for it: set KARAT_CACHE_DIR".into()))?;
    let name: String = gpu.device.gpu().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Ok(folder.join(format!("tuning-{}-{}.json", name.to_lowercase(), gpu.device.driver_version())))
}

fn failed(reason: String) -> Error {
    Error::Device { operation: "keeping the tuning", reason }
}

/// The stored choice for this GPU and driver, if there is one that this version reads.
pub(super) fn stored(gpu: &Cuda) -> Option<Tuning> {
    let stored: Stored = serde_json::from_slice(&cache::read_file(&path(gpu).ok()?)?).ok()?;
    let fits =
        stored.version == VERSION && stored.gpu == gpu.device.gpu() && stored.driver == gpu.device.driver_version();
    (fits && stored.tuning.is_sane()).then_some(stored.tuning)
}

impl Cuda {
    /// The file of the stored choice, where there is one.
    ///
    /// # Errors
    /// `Device` where there is no private folder for it.
    pub fn stored_tuning(&self) -> Result<Option<(PathBuf, Tuning)>> {
        let path = path(self)?;
        Ok(stored(self).map(|tuning| (path, tuning)))
    }

    /// Forgets the stored choice; whether there was one.
    ///
    /// # Errors
    /// `Device` where the file cannot be removed.
    pub fn reset_tuning(&self) -> Result<bool> {
        match fs::remove_file(path(self)?) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Keeps a choice for this GPU and driver: handles that are made from now on use it.
    ///
    /// # Errors
    /// `Device` where the file cannot be written.
    pub fn store_tuning(&self, tuning: Tuning) -> Result<PathBuf> {
        let path = path(self)?;
        let gpu = self.device.gpu().to_string();
        let stored = Stored { version: VERSION, gpu, driver: self.device.driver_version(), tuning };
        let text = serde_json::to_vec_pretty(&stored).map_err(|error| failed(error.to_string()))?;
        cache::write_file(&path, &[&text]).map_err(|error| failed(error.to_string()))?;
        Ok(path)
    }

    /// Measures the candidates and gives the fastest of each kind, with all that was measured.
    ///
    /// # Errors
    /// What the device reports.
    pub fn tune(&self, mut seen: impl FnMut(&Measured)) -> Result<(Tuning, Vec<Measured>)> {
        let (mut best, mut all) = (self.tuning().clone(), Vec::new());
        let small: &[(bool, u32)] = &[(false, 4), (false, 5), (true, 4), (true, 5), (true, 6)];
        let shoup: &[(bool, u32)] = &[(false, 4), (false, 5), (false, 6)];
        let mut run = |found: Vec<Measured>| {
            found.iter().for_each(&mut seen);
            all.extend(found);
        };
        for (index, ring) in ["ml-kem", "falcon-512", "falcon-1024"].into_iter().enumerate() {
            let with = |tuning: &mut Tuning, choice| tuning.small[index] = choice;
            let found = match index {
                0 => self.warps(ring, MlKem, small, &mut best, with)?,
                1 => self.warps(ring, Falcon512, small, &mut best, with)?,
                _ => self.warps(ring, Falcon1024, small, &mut best, with)?,
            };
            run(found);
        }
        let found = self.warps("ml-dsa", MlDsa, shoup, &mut best, |tuning, choice| tuning.shoup = choice)?;
        run(found);
        let found = self.fused(&mut best)?;
        run(found);
        Ok((best, all))
    }

    fn warps<R: Ring>(
        &self,
        what: &'static str,
        ring: R,
        candidates: &[(bool, u32)],
        best: &mut Tuning,
        set: impl Fn(&mut Tuning, WarpTuning),
    ) -> Result<Vec<Measured>> {
        let tunings = candidates.iter().map(|&(doubles, blocks)| {
            let mut tuning = best.clone();
            set(&mut tuning, WarpTuning { doubles, blocks });
            (format!("doubles {doubles}, blocks {blocks}"), tuning)
        });
        let tunings: Vec<_> = tunings.collect();
        let batch = (1 << 26) / ring.spec().n();
        self.fastest(what, &ring, batch, tunings, best)
    }

    /// Up to which length one block does a whole product.
    fn fused(&self, best: &mut Tuning) -> Result<Vec<Measured>> {
        // The largest prime of 61 bits with 2^14 | q - 1 is beyond what `large` takes.
        let spec = "q=2305843009211596801,f=x^4096+1".parse()?;
        let ring = UserRing::<u64>::new(spec)?;
        let tuning = best.clone();
        let candidates =
            [11, 12].map(|log| (format!("fused to 2^{log}"), Tuning { fused_lanes: 1 << log, ..tuning.clone() }));
        self.fastest("N = 2^12, 61 bits", &ring, 45, candidates.to_vec(), best)
    }

    /// Measures candidates, and makes the fastest the best.
    fn fastest<R: Ring>(
        &self,
        what: &'static str,
        ring: &R,
        batch: usize,
        candidates: Vec<(String, Tuning)>,
        best: &mut Tuning,
    ) -> Result<Vec<Measured>> {
        let mut all = Vec::new();
        for (choice, tuning) in &candidates {
            let median_ns = self.clone().with_tuning(tuning.clone()).time_products(ring, batch)?;
            all.push(Measured { what, choice: choice.clone(), median_ns, batch, chosen: false });
        }
        let fastest = (0..all.len()).min_by(|i, j| all[*i].median_ns.total_cmp(&all[*j].median_ns));
        if let Some(i) = fastest {
            all[i].chosen = true;
            *best = candidates[i].1.clone();
        }
        Ok(all)
    }

    /// Nanoseconds for a batch of products of zeros (which take as long as any others): the median of several.
    fn time_products<R: Ring>(&self, ring: &R, batch: usize) -> Result<f64> {
        let n = ring.spec().n();
        let plan = RingMul::<R>::plan(self, ring)?;
        let (a, b) = (self.alloc::<R::Word>(batch * n, Erase::No)?, self.alloc::<R::Word>(batch * n, Erase::No)?);
        let mut out = self.alloc::<R::Word>(batch * n, Erase::No)?;
        let mut moment = |repeats: u32| -> Result<Event> {
            for _ in 0..repeats {
                RingMul::<R>::mul(self, &plan, batch, &a, &b, &mut out)?;
            }
            self.device.record()
        };
        const REPEATS: u32 = 4;
        let mut before = moment(REPEATS)?;
        let mut times = Vec::new();
        for _ in 0..9 {
            let after = moment(REPEATS)?;
            times.push(after.since_ns(&before)? / REPEATS as f64);
            before = self.device.record()?;
        }
        times.sort_by(f64::total_cmp);
        self.device.synchronize()?;
        Ok(times[times.len() / 2])
    }
}
