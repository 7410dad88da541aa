//! From which batch on a GPU beats this machine's CPU, by where the operands lie.

use std::time::Instant;

use karat::backend::cuda::Cuda;
use karat::backend::{Backend, Erase};
use karat::ring::presets::{Falcon512, MlDsa, MlKem, Saber};
use karat::{Cpu, Ring, RingMul};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Summary, progress};

/// The least batch with which the GPU is faster; none where it is not with any up to [`LARGEST`].
#[derive(Serialize)]
struct Row {
    ring: String,
    /// Operands and result stay on the GPU.
    resident: Option<usize>,
    /// They lie in pinned host memory.
    pinned: Option<usize>,
    /// They lie in ordinary host memory.
    pageable: Option<usize>,
}

const LARGEST: usize = 1 << 18;
/// Times of each way, of which the best counts.
const TURNS: usize = 9;

pub fn run(out: &mut Output) -> Result<Summary, Failure> {
    let gpu = Cuda::new(0)?;
    let bar = progress(Some(4), "measuring");
    let mut rows = Vec::new();
    for measure in [of(MlKem), of(MlDsa), of(Falcon512), of(Saber)] {
        rows.push(measure(&gpu)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    for row in &rows {
        out.row(row)?;
    }
    let batch = |batch: Option<usize>| batch.map_or_else(|| "never".into(), |batch| batch.to_string());
    let cells =
        rows.iter().map(|row| vec![row.ring.clone(), batch(row.resident), batch(row.pinned), batch(row.pageable)]);
    let header = ["ring", "resident", "pinned", "pageable"];
    out.line("The GPU beats this CPU, all threads, from this batch on:")?;
    out.table(&header, &header[1..], cells.collect())?;
    Ok(Summary { passed: rows.len() as u64, ..Summary::default() })
}

type Measure = Box<dyn Fn(&Cuda) -> karat::Result<Row>>;

fn of<R: Ring>(ring: R) -> Measure {
    Box::new(move |gpu| {
        let mut row = Row { ring: ring.spec().name().into(), resident: None, pinned: None, pageable: None };
        let mut batch = 1;
        while batch <= LARGEST {
            let [cpu, resident, pinned, pageable] = times(gpu, &ring, batch)?;
            for (found, time) in
                [(&mut row.resident, resident), (&mut row.pinned, pinned), (&mut row.pageable, pageable)]
            {
                // From a batch on: for all larger ones, too.
                *found = if time < cpu { found.or(Some(batch)) } else { None };
            }
            batch *= 4;
        }
        Ok(row)
    })
}

/// The best time of each way, taken in turns: CPU, resident, pinned, pageable.
fn times<R: Ring>(gpu: &Cuda, ring: &R, batch: usize) -> karat::Result<[f64; 4]> {
    let words = batch * ring.spec().n();
    let cpu = Cpu::new();
    let cpu_plan = RingMul::<R>::plan(&cpu, ring)?;
    let host = || cpu.alloc::<R::Word>(words, Erase::No);
    let (ha, hb, mut hout) = (host()?, host()?, host()?);
    let plan = RingMul::<R>::plan(gpu, ring)?;
    let device = || gpu.alloc::<R::Word>(words, Erase::No);
    let (mut da, mut db, mut dout) = (device()?, device()?, device()?);
    let pinned = || gpu.pinned::<R::Word>(words, Erase::No);
    let (pa, pb, mut pout) = (pinned()?, pinned()?, pinned()?);
    let (a, mut out) = (vec![R::Word::default(); words], vec![R::Word::default(); words]);
    let mut best = [f64::INFINITY; 4];
    for _ in 0..TURNS {
        let start = Instant::now();
        RingMul::<R>::mul(&cpu, &cpu_plan, batch, &ha, &hb, &mut hout)?;
        let after_cpu = Instant::now();
        RingMul::<R>::mul(gpu, &plan, batch, &da, &db, &mut dout)?;
        gpu.synchronize()?;
        let after_resident = Instant::now();
        gpu.mul_pinned::<R>(&plan, batch, &pa, &pb, &mut pout)?;
        pout.words()?;
        let after_pinned = Instant::now();
        gpu.upload(&a, &mut da)?;
        gpu.upload(&a, &mut db)?;
        RingMul::<R>::mul(gpu, &plan, batch, &da, &db, &mut dout)?;
        gpu.download(&dout, &mut out)?;
        let end = Instant::now();
        let moments = [start, after_cpu, after_resident, after_pinned, end];
        for (best, pair) in best.iter_mut().zip(moments.windows(2)) {
            *best = best.min((pair[1] - pair[0]).as_secs_f64());
        }
    }
    Ok(best)
}
