//! Products of long polynomials: which of the ways that suit only some rings, and their launches.

use super::Gpu;
use super::cluster::{self, Cluster};
use super::device::Device;
use super::large::Large;
use super::params::Launch;
use super::plan::Plan;
use super::traffic::Traffic;
use super::tuning::Tuning;
use super::variant::Variant;
use crate::arith::Word;
use crate::ring::RingSpec;
use crate::{Error, Result};

/// What a plan holds for long polynomials.
pub(super) struct Long<D: Device> {
    pub large: Option<Large<D>>,
    /// The ways to choose from, by the least batch; the first that fits.
    choices: Vec<(usize, Way<D>)>,
    /// Whether clusters would do where the device has them.
    cluster_takes: bool,
}

/// A way that a table of variants names.
enum Way<D: Device> {
    Large,
    Cluster(Cluster<D>),
}

impl<D: Device> Long<D> {
    pub fn new(
        device: &D,
        ring: &RingSpec,
        variant: Variant,
        tuning: &Tuning,
        large: Option<Large<D>>,
    ) -> Result<Self> {
        let mut choices = Vec::new();
        let mut add = |batch, variant| {
            match variant {
                Variant::Large if large.is_some() => choices.push((batch, Way::Large)),
                Variant::Cluster(shape) => {
                    let cluster = Cluster::new(device, ring, shape, tuning)?;
                    choices.extend(cluster.map(|cluster| (batch, Way::Cluster(cluster))));
                }
                _ => {}
            }
            Ok::<(), Error>(())
        };
        if variant == Variant::Automatic {
            let bits = ring.q().ilog2() + 1;
            let rows = tuning.products.iter().filter(|row| ring.n() == 1 << row.log_n);
            for row in rows.filter(|row| (row.bits.0..=row.bits.1).contains(&bits)) {
                row.variant().map_or(Ok(()), |variant| add(row.batch, variant))?;
            }
            add(0, Variant::Large)?;
        } else {
            add(0, variant)?;
        }
        Ok(Self { large, choices, cluster_takes: cluster::takes(ring) })
    }

    fn choose<W: Word>(&self, batch: usize) -> Option<&Way<D>> {
        let fits = |way: &Way<D>| match way {
            Way::Large => W::WIDTH == 64,
            Way::Cluster(cluster) => W::WIDTH == cluster.word_bits,
        };
        self.choices.iter().find(|(least, way)| *least <= batch && fits(way)).map(|(_, way)| way)
    }

    /// What a product of `n` coefficients moves in the way that is chosen.
    pub fn traffic<W: Word>(&self, batch: usize, n: usize) -> Option<Traffic> {
        let operand = n * size_of::<W>();
        Some(match self.choose::<W>(batch)? {
            // Columns of both factors, rows of both and back, columns.
            Way::Large => Traffic { launches: 3, read: 5 * operand, written: 4 * operand, exchanged: 0 },
            Way::Cluster(cluster) => {
                Traffic { launches: 1, read: 2 * operand, written: operand, exchanged: 3 * n * cluster.word_bytes }
            }
        })
    }

    /// What a launch uses beside the plan's tables.
    pub fn tables(&self) -> impl Iterator<Item = &D::Memory> {
        let clusters = self.choices.iter().filter_map(|(_, way)| match way {
            Way::Cluster(cluster) => Some(&cluster.tables),
            Way::Large => None,
        });
        clusters.chain(self.large.as_ref().map(|large| &large.tables))
    }
}

impl<D: Device> Gpu<D> {
    /// Multiplies where one of these ways is chosen and fits; whether it did.
    pub(super) fn mul_long<W: Word>(&self, plan: &Plan<D>, batch: usize, operands: [u64; 3]) -> Result<bool> {
        let long = &plan.long;
        match (long.choose::<W>(batch), plan.variant) {
            (Some(Way::Cluster(cluster)), _) => self.mul_cluster(plan, cluster, batch, operands, size_of::<W>())?,
            (Some(Way::Large), _) => {
                let Some(large) = &long.large else { return Ok(false) };
                self.mul_large(plan, large, batch, operands)?;
            }
            (None, Variant::Large) => {
                let reason = "it takes x^N + 1 with N = 2^12 to 2^16 and primes of 32 to 60 bits with 2N | q - 1";
                return Err(Error::Unsupported { what: "variant `large`", reason: reason.into() });
            }
            (None, Variant::Cluster(_)) if !long.cluster_takes => {
                let reason = "it takes x^N + 1 with N = 2^13 to 2^16, q < 2^60 and alpha <= 4";
                return Err(Error::Unsupported { what: "variant `cluster`", reason: reason.into() });
            }
            (None, _) => return Ok(false),
        }
        Ok(true)
    }

    /// One launch, a cluster a product.
    fn mul_cluster(
        &self,
        plan: &Plan<D>,
        cluster: &Cluster<D>,
        batch: usize,
        [a, b, out]: [u64; 3],
        word_bytes: usize,
    ) -> Result<()> {
        let part = plan.part(batch, 0, cluster.blocks());
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let offset = (first * plan.n * word_bytes) as u64;
            let launch =
                Launch { a: a + offset, b: b + offset, out: out + offset, count: count as u64, ..cluster.launch };
            self.start(&cluster.module, "product", cluster.grid(count), &launch)?;
        }
        Ok(())
    }

    /// Three launches through work space.
    fn mul_large(&self, plan: &Plan<D>, large: &Large<D>, batch: usize, [a, b, out]: [u64; 3]) -> Result<()> {
        let part = plan.part(batch, large.work_bytes(), 2 * plan.n / 32);
        self.device.with_scratch(part * large.work_bytes(), |lanes| {
            for first in (0..batch).step_by(part) {
                let count = part.min(batch - first);
                let Some(way) = large.way(count) else { continue };
                let offset = (first * plan.n * size_of::<u64>()) as u64;
                let base = Launch { count: count as u64, ..large.launch };
                let forward = Launch { a: a + offset, b: b + offset, out: lanes, ..base };
                self.start(&way.module, "forward_columns", large.columns_grid(way, 2 * count), &forward)?;
                let second = lanes + (count * plan.n * size_of::<u64>()) as u64;
                let rows = Launch { a: lanes, b: second, out: lanes, ..base };
                self.start(&way.module, "product_rows", large.rows_grid(way, count), &rows)?;
                let inverse = Launch { a: lanes, out: out + offset, ..base };
                self.start(&way.module, "inverse_columns", large.columns_grid(way, count), &inverse)?;
            }
            Ok(())
        })
    }
}
