//! The suite `ckks`: operations on ciphertexts, on one thread of a CPU or one stream of a GPU.

mod case;

use std::time::{Duration, Instant};

use karat::arith::Word;
use karat::rns::RnsMul;
use karat::{AnyBackend, Backend};
use serde::Serialize;

#[cfg(feature = "cuda")]
use super::rns::time as replayed;
use crate::failure::Failure;
use crate::output::{Output, Summary, complain, progress};
use case::{Case, Op, Subject};

/// A row of the result.
#[derive(Serialize)]
struct Row {
    suite: &'static str,
    op: &'static str,
    chain: &'static str,
    log_n: u32,
    log_q: f64,
    log_qp: f64,
    limbs: usize,
    special: usize,
    digits: usize,
    word_bits: u32,
    secure: bool,
    backend: &'static str,
    how: &'static str,
    median_ns: f64,
}

/// A measurement takes about this long,
const BUDGET: Duration = Duration::from_millis(600);
/// and this many samples at least.
const LEAST: usize = 5;
/// Operations of one recording, one behind the other.
#[cfg(feature = "cuda")]
const REPEATS: usize = 5;

/// The median of a call's times, in nanoseconds.
fn median(mut call: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    call()?;
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < LEAST || start.elapsed() < BUDGET {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed().as_secs_f64() * 1e9);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

pub fn run(backend: &AnyBackend, filter: Option<&str>, out: &mut Output) -> Result<Summary, Failure> {
    let wanted = |subject: &Subject, op: Op| {
        let id = format!("{}/{}/{}", op.name(), subject.name, backend.name());
        filter.is_none_or(|text| id.contains(text))
    };
    let on_gpu = !matches!(backend, AnyBackend::Cpu(_) | AnyBackend::Reference(_));
    let jobs: Vec<(Subject, Vec<Op>)> = case::subjects(on_gpu)
        .into_iter()
        .map(|subject| {
            let ops = subject.ops.iter().copied().filter(|op| wanted(&subject, *op)).collect();
            (subject, ops)
        })
        .filter(|(_, ops): &(_, Vec<Op>)| !ops.is_empty())
        .collect();
    if jobs.is_empty() {
        return Err(Failure::Usage("no row matches --filter; without it all are measured".into()));
    }
    let bar = progress(Some(jobs.iter().map(|job| job.1.len() as u64).sum()), "measuring");
    // One thread, as peers are measured: products of polynomials run on the pool's threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Failure::Usage(format!("no thread to measure on: {error}")))?;
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (subject, ops) in &jobs {
        bar.set_message(subject.name);
        let done = |_: &Op| bar.inc(1);
        pool.install(|| match subject.word_bits {
            32 => measure::<u32>(backend, subject, ops, done, &mut rows, &mut wrong),
            _ => measure::<u64>(backend, subject, ops, done, &mut rows, &mut wrong),
        })?;
    }
    bar.finish_and_clear();
    print(&rows, out)?;
    for id in &wrong {
        complain(format_args!("wrong result, not timed: {id}"));
    }
    Ok(Summary { passed: rows.len() as u64, failed: wrong.len() as u64, skipped: 0 })
}

/// The median time of an operation: on a GPU that of a recording which is replayed.
fn time<W: Word>(backend: &AnyBackend, case: &Case<AnyBackend, W>, op: Op) -> Result<f64, Failure>
where
    AnyBackend: RnsMul<W>,
{
    #[cfg(feature = "cuda")]
    if let AnyBackend::Cuda(gpu) = backend {
        return Ok(replayed(gpu, REPEATS, |_| case.run(op))? * 1e3);
    }
    median(|| {
        case.run(op)?;
        Ok(backend.synchronize()?)
    })
}

fn measure<W: Word>(
    backend: &AnyBackend,
    subject: &Subject,
    ops: &[Op],
    done: impl Fn(&Op),
    rows: &mut Vec<Row>,
    wrong: &mut Vec<String>,
) -> Result<(), Failure> {
    let case = Case::<AnyBackend, W>::new(backend.clone(), &subject.literal)?;
    let parameters = case.parameters();
    let how = if backend.name() == "cuda" { "graph replay" } else { "1 thread" };
    for op in ops {
        if !case.is_right(*op)? {
            wrong.push(format!("{}/{}/{}", op.name(), subject.name, backend.name()));
            done(op);
            continue;
        }
        let median_ns = time(backend, &case, *op)? / op.count() as f64;
        rows.push(Row {
            suite: "ckks",
            op: op.name(),
            chain: subject.name,
            log_n: parameters.log_n(),
            log_q: parameters.log_q(parameters.max_level()),
            log_qp: parameters.log_qp(),
            limbs: parameters.q().len(),
            special: parameters.p().len(),
            digits: parameters.digits(),
            word_bits: subject.word_bits,
            secure: subject.is_secure(),
            backend: backend.name(),
            how,
            median_ns,
        });
        done(op);
    }
    Ok(())
}

fn print(rows: &[Row], out: &mut Output) -> Result<(), Failure> {
    for row in rows {
        out.row(row)?;
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.op.into(),
            row.chain.into(),
            format!("2^{}", row.log_n),
            format!("{:.0}", row.log_q),
            format!("{:.0}", row.log_qp),
            format!("{}+{}", row.limbs, row.special),
            row.digits.to_string(),
            if row.secure { "128" } else { "insecure" }.into(),
            row.backend.into(),
            row.how.into(),
            format!("{:.3}", row.median_ns / 1e6),
        ]
    });
    let header = ["op", "chain", "N", "log Q", "log QP", "primes", "dnum", "bits", "backend", "how", "median ms"];
    out.table(&header, &["log Q", "log QP", "primes", "dnum", "median ms"], cells.collect())
}
