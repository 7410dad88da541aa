//! Measures parameters on the GPU at hand, and keeps the choice beside the kernel cache.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::device::Device;
use super::{ClusterShape, Cuda, Event, ProductChoice, Tuning, Variant, WarpTuning, cache};
use crate::backend::{Backend, Erase, RingMul};
use crate::ring::presets::{Falcon512, Falcon1024, MlDsa, MlKem};
use crate::ring::{Ring, UserRing};
use crate::{Error, Result};

/// The form of the stored file; another one is not read.
const VERSION: u32 = 3;

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

/// Products of one length, in one class of words.
struct Length {
    what: &'static str,
    q: &'static str,
    log_n: u32,
    bits: (u32, u32),
}

/// Products that fill a GPU: as many as a chain of homomorphic encryption has primes.
const FULL: usize = 45;

/// 60 and 50 bits, the largest primes with 2^17 | q - 1.
const LENGTHS: [Length; 8] = {
    const fn sixty(what: &'static str, log_n: u32) -> Length {
        Length { what, q: "1152921504606584833", log_n, bits: (51, 60) }
    }
    const fn fifty(what: &'static str, log_n: u32) -> Length {
        Length { what, q: "1125899903827969", log_n, bits: (29, 50) }
    }
    [
        sixty("N = 2^13, 60 bits", 13),
        sixty("N = 2^14, 60 bits", 14),
        sixty("N = 2^15, 60 bits", 15),
        sixty("N = 2^16, 60 bits", 16),
        fifty("N = 2^13, 50 bits", 13),
        fifty("N = 2^14, 50 bits", 14),
        fifty("N = 2^15, 50 bits", 15),
        fifty("N = 2^16, 50 bits", 16),
    ]
};

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
        best.products.clear();
        for length in &LENGTHS {
            self.long(length, &mut best, &mut run)?;
        }
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

    /// Three launches or a cluster, in which shape and with which alpha; and from which batch on.
    fn long(&self, length: &Length, best: &mut Tuning, run: &mut impl FnMut(Vec<Measured>)) -> Result<()> {
        let &Length { what, q, log_n, bits } = length;
        let ring = UserRing::<u64>::new(format!("q={q},f=x^{}+1", 1u32 << log_n).parse()?)?;
        let others = best.products.clone();
        let with = |batch, variant: String| {
            let mut products = others.clone();
            products.push(ProductChoice { log_n, bits, batch, variant: variant.clone() });
            (variant, Tuning { products, ..best.clone() })
        };
        let cluster = |shape: ClusterShape| with(0, format!("cluster/{shape}"));
        let mut winner = best.clone();
        let blocks = [2, 4, 8, 16].into_iter().filter(|blocks| (10..=13).contains(&(log_n - u32::ilog2(*blocks))));
        let shapes = blocks.map(|blocks| cluster(ClusterShape { blocks, lanes: 16, alpha: 0 }));
        let mut candidates = vec![with(0, "large".into())];
        candidates.extend(shapes);
        run(self.fastest(what, &ring, FULL, candidates, &mut winner)?);
        let chosen = |tuning: &Tuning| tuning.products.last().and_then(|row| row.variant());
        let Some(Variant::Cluster(Some(shape))) = chosen(&winner) else {
            *best = Tuning { products: others, ..best.clone() };
            return Ok(());
        };
        // Few lanes a thread where there are few threads.
        let lanes = if log_n == 13 { &[16, 8][..] } else { &[16] };
        let alphas = lanes.iter().flat_map(|&lanes| [0, 1, 2].map(|alpha| ClusterShape { lanes, alpha, ..shape }));
        run(self.fastest(what, &ring, FULL, alphas.map(cluster).collect(), &mut winner)?);
        let Some(Variant::Cluster(Some(shape))) = chosen(&winner) else { return Ok(()) };
        let mut least = FULL;
        for batch in [16, 4, 1] {
            let pair = vec![with(0, "large".into()), cluster(shape)];
            let found = self.fastest(what, &ring, batch, pair, &mut winner)?;
            let wins = found[1].chosen;
            run(found);
            if !wins {
                break;
            }
            least = batch;
        }
        *best = with(least, format!("cluster/{shape}")).1;
        Ok(())
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
            let gpu = self.clone().with_variant(Variant::Automatic);
            let median_ns = gpu.with_tuning(tuning.clone()).time_products(ring, batch)?;
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
