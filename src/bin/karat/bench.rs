//! `karat bench`: times of the engine's operations, each checked before it is timed.

#[cfg(feature = "cuda")]
mod break_even;
mod case;
mod ckks;
mod measure;
mod peers;
#[cfg(feature = "cuda")]
mod rns;
mod rns_cpu;
#[cfg(feature = "cuda")]
mod rns_suite;
#[cfg(feature = "cuda")]
mod study;

use clap::ValueEnum;
use karat::arith::Word;
use karat::{AnyBackend, Backend, UserRing};
use serde::Serialize;

use crate::args::BackendArgs;
use crate::failure::Failure;
use crate::output::{Output, Summary, complain, progress};
use crate::word::{WithWord, with_word};
use case::{Case, Op, Subject, subjects};
use measure::medians;
use peers::peer_for;

/// Measure. Each operation is checked against the oracle first and not timed if it is wrong (exit status 1).
///
/// Times are medians of one call for the whole batch; batches run on all threads. he-N-B means x^N + 1 and the largest
/// NTT prime below 2^B. A build with the feature bench-peers measures other libraries in the same run, in turns; ratio
/// is the peer's time / karat's.
#[derive(clap::Args)]
pub struct Args {
    /// What to measure.
    #[arg(value_enum)]
    suite: Suite,
    /// Only rows whose id op/ring/backend/batch contains this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    #[command(flatten)]
    backend: BackendArgs,
    /// For rns: how transforms are computed, as KARAT_CUDA_VARIANT names it behind "ntt:".
    #[arg(long, value_name = "NAME", default_value = "auto")]
    variant: String,
    /// For rns: measure what published studies reported, beside their figures.
    #[arg(long)]
    study: bool,
    /// For --study: write a plot to this file.
    #[arg(long, value_name = "FILE", requires = "study")]
    svg: Option<String>,
    /// Find from which batch on the GPU beats this CPU, by where the operands lie.
    #[cfg(feature = "cuda")]
    #[arg(long, conflicts_with_all = ["filter", "backend"])]
    break_even: bool,
    #[command(flatten)]
    ring: rns_cpu::RingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Products and transforms in the rings of schemes and for 30, 50 and 60-bit primes.
    Ring,
    /// On a GPU: RNS transforms, N = 2^12 to 2^17, 1 to 45 primes of 28 to 62 bits. On a CPU: transforms, base conversion
    /// and key switching in one RNS ring; the peer is the portable backend, and the floor a copy of as many bytes.
    Rns,
    /// CKKS: products, key switching, rescaling, encoding and encryption, on one thread of a CPU or one stream of a GPU.
    /// Chains that say `insecure` are as long as those that other libraries are measured with, above the bound of 128
    /// bits.
    Ckks,
}

/// A row of the result.
#[derive(Serialize)]
struct Row {
    suite: &'static str,
    op: &'static str,
    ring: String,
    backend: &'static str,
    batch: usize,
    median_ns: f64,
    peer: Option<&'static str>,
    peer_median_ns: Option<f64>,
    /// The peer's time / karat's.
    ratio: Option<f64>,
    /// The least time that the hardware allows, where it is known.
    floor_ns: Option<f64>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    #[cfg(feature = "cuda")]
    if args.break_even {
        return break_even::run(out);
    }
    if args.suite == Suite::Rns {
        return rns(args, out);
    }
    let backend = args.backend.backend()?;
    if let Suite::Ckks = args.suite {
        return ckks::run(&backend, args.filter.as_deref(), out);
    }
    let id = |op: Op, subject: &Subject, batch| format!("{}/{}/{}/{batch}", op.name(), subject.name, backend.name());
    let wanted = |id: &str| args.filter.as_deref().is_none_or(|text| id.contains(text));
    let mut jobs = Vec::new();
    for subject in subjects()? {
        for &batch in subject.batches {
            let ops: Vec<_> = Op::ALL.into_iter().filter(|op| wanted(&id(*op, &subject, batch))).collect();
            if !ops.is_empty() {
                jobs.push((subject.name.clone(), subject.spec.clone(), batch, ops));
            }
        }
    }
    if jobs.is_empty() {
        return Err(Failure::Usage("no row matches --filter; without it all are measured".into()));
    }
    let bar = progress(Some(jobs.iter().map(|job| job.3.len() as u64).sum()), "measuring");
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (name, spec, batch, ops) in jobs {
        bar.set_message(name.clone());
        let count = ops.len() as u64;
        let measured = with_word(&spec, Measure { backend: &backend, name, batch, ops })?;
        for result in measured {
            match result {
                Ok(row) => rows.push(row),
                Err(id) => wrong.push(id),
            }
        }
        bar.inc(count);
    }
    bar.finish_and_clear();
    print(&rows, out)?;
    for id in &wrong {
        complain(format_args!("wrong result, not timed: {id}"));
    }
    Ok(Summary { passed: rows.len() as u64, failed: wrong.len() as u64, skipped: 0 })
}

fn print(rows: &[Row], out: &mut Output) -> Result<(), Failure> {
    for row in rows {
        out.row(row)?;
    }
    let dash = || "-".to_string();
    let cells = rows.iter().map(|row| {
        let number = |value: Option<f64>, digits: usize| value.map_or_else(dash, |v| format!("{v:.digits$}"));
        vec![
            row.op.into(),
            row.ring.clone(),
            row.backend.into(),
            row.batch.to_string(),
            format!("{:.0}", row.median_ns),
            row.peer.map_or_else(dash, Into::into),
            number(row.peer_median_ns, 0),
            number(row.ratio, 2),
            number(row.floor_ns, 0),
        ]
    });
    let header = ["op", "ring", "backend", "batch", "median ns", "peer", "peer median ns", "ratio", "floor ns"];
    out.table(&header, &["batch", "median ns", "peer median ns", "ratio", "floor ns"], cells.collect())
}

struct Measure<'a> {
    backend: &'a AnyBackend,
    name: String,
    batch: usize,
    ops: Vec<Op>,
}

impl WithWord for Measure<'_> {
    /// Rows, or the ids of operations that are wrong.
    type Output = Vec<Result<Row, String>>;

    fn run<W: Word>(self, ring: UserRing<W>) -> Result<Self::Output, Failure> {
        // Peers multiply one polynomial at a time.
        let mut peer = if self.batch == 1 { peer_for(karat::Ring::spec(&ring)) } else { None };
        if let Some(peer) = &mut peer
            && !peer.is_right()?
        {
            return Err(Failure::Usage(format!("{} is wrong in {}: nothing to compare with", peer.name(), self.name)));
        }
        let mut case = Case::new(self.backend, ring, self.batch)?;
        let mut out = Vec::new();
        for op in self.ops {
            if !case.is_right(op)? {
                out.push(Err(format!("{}/{}/{}/{}", op.name(), self.name, self.backend.name(), self.batch)));
                continue;
            }
            let mut own = || Ok(case.run(op)?);
            let (median_ns, peer_median_ns) = match &mut peer {
                None => (medians([&mut own])?[0], None),
                Some(peer) => {
                    let mut call = || {
                        peer.run(op);
                        Ok(())
                    };
                    let [own, peer] = medians([&mut own, &mut call])?;
                    (own, Some(peer))
                }
            };
            out.push(Ok(Row {
                suite: "ring",
                op: op.name(),
                ring: self.name.clone(),
                backend: self.backend.name(),
                batch: self.batch,
                median_ns,
                peer: peer.as_ref().map(|peer| peer.name()),
                peer_median_ns,
                ratio: peer_median_ns.map(|peer| peer / median_ns),
                floor_ns: None,
            }));
        }
        Ok(out)
    }
}

fn rns(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    #[cfg(feature = "cuda")]
    if matches!(args.backend.backend()?, AnyBackend::Cuda(_)) {
        return rns_suite::run(args, out);
    }
    if args.study {
        return Err(Failure::Usage(
            "--study measures GPUs: add --backend cuda, in a build with the feature cuda".into(),
        ));
    }
    let (rows, wrong) = rns_cpu::run(args)?;
    if rows.is_empty() && wrong.is_empty() {
        return Err(Failure::Usage("no row matches --filter; without it all are measured".into()));
    }
    print(&rows, out)?;
    for id in &wrong {
        complain(format_args!("wrong result, not timed: {id}"));
    }
    Ok(Summary { passed: rows.len() as u64, failed: wrong.len() as u64, skipped: 0 })
}
