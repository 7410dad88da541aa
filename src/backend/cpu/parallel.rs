//! Batches split over threads.

use super::{Cpu, Plan};

impl Cpu {
    /// Calls `work(i, item)` for each item of `out`, over threads where the batch is worth it.
    #[cfg_attr(not(feature = "parallel"), allow(unused_variables))]
    pub(super) fn each<T: Send>(
        &self,
        plan: &Plan,
        out: &mut [T],
        item: usize,
        work: impl Fn(usize, &mut [T]) + Send + Sync,
    ) {
        if let Some(single) = (out.len() == item).then_some(&mut *out) {
            return work(0, single);
        }
        #[cfg(feature = "parallel")]
        if self.threads && plan.n() * (out.len() / item) >= PARALLEL_COEFFICIENTS {
            use rayon::prelude::*;
            let items = PARALLEL_COEFFICIENTS.div_ceil(4 * plan.n());
            out.par_chunks_exact_mut(item).with_min_len(items).enumerate().for_each(|(i, out)| work(i, out));
            return;
        }
        for (i, out) in out.chunks_exact_mut(item).enumerate() {
            work(i, out);
        }
    }
}

impl Cpu {
    /// Calls `work` for each item, over threads where `coefficients`, those of all items, are worth it.
    #[cfg_attr(not(feature = "parallel"), allow(unused_variables))]
    pub(crate) fn over<T: Send>(
        &self,
        coefficients: usize,
        items: impl Iterator<Item = T>,
        work: impl Fn(T) + Send + Sync,
    ) {
        #[cfg(feature = "parallel")]
        if self.threads && coefficients >= PARALLEL_COEFFICIENTS {
            use rayon::prelude::*;
            let items: alloc::vec::Vec<T> = items.collect();
            items.into_par_iter().for_each(work);
            return;
        }
        items.for_each(work);
    }
}

/// Coefficients in a batch from which waking threads pays: some 100 µs of scalar work.
#[cfg(feature = "parallel")]
const PARALLEL_COEFFICIENTS: usize = 1 << 14;
