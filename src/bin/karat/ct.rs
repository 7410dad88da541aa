//! `karat ct`: times operations on fixed and on random secrets, and says whether the times differ.

mod operations;
mod statistics;

use std::time::Instant;

use karat::{AnyBackend, Backend, Cpu};
use serde::Serialize;

use crate::failure::Failure;
use crate::operands::Stream;
use crate::output::{Output, Summary, progress};
use operations::{Named, Operation};
use statistics::Tests;

/// Time operations on fixed and on random secrets in turns, and test whether the times differ (Welch's t, as dudect does).
///
/// Where |t| passes 10 the times depend on the secret: exit status 1. A small |t| is no proof: it says that so many
/// measurements show nothing. With --planted, operations that leak on purpose are timed: they must be found.
#[derive(clap::Args)]
pub struct Args {
    /// CPU backend [default: the best level of this CPU].
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Only operations whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Measurements of each operation.
    #[arg(long, default_value_t = 100_000, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(10_000..))]
    measurements: u64,
    /// Time operations that leak, to see that they are found.
    #[arg(long)]
    planted: bool,
}

/// What |t| must stay below: the bound of dudect's authors.
const THRESHOLD: f64 = 10.0;
/// First measurements, which only warm up and set the thresholds.
const FIRST: u64 = 2000;
/// Measurements between two steps of the progress bar.
const STEP: u64 = 1000;

#[derive(Serialize)]
struct Row {
    operation: String,
    backend: &'static str,
    measurements: u64,
    /// The median of the first measurements.
    median_ns: f64,
    /// The largest of all tests, in size.
    t: Option<f64>,
    /// Measurements in that test: thresholds leave some out.
    used: u64,
    passed: bool,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let cpu = match args.backend.as_deref().map(AnyBackend::from_name).transpose()? {
        None => Cpu::new(),
        Some(AnyBackend::Cpu(cpu)) => cpu,
        Some(other) => return Err(Failure::Usage(format!("backend {} is no CPU: times say nothing", other.name()))),
    };
    let all = if args.planted { operations::planted() } else { operations::all(&cpu)? };
    let wanted = |(name, _): &Named| args.filter.as_deref().is_none_or(|text| name.contains(text));
    let all: Vec<Named> = all.into_iter().filter(wanted).collect();
    if all.is_empty() {
        return Err(Failure::Usage("no operation matches --filter; without it all are timed".into()));
    }
    let bar = progress(Some(all.len() as u64 * args.measurements / STEP), "timing");
    let mut rows = Vec::new();
    for (operation, mut timed) in all {
        bar.set_message(operation.clone());
        let (median_ns, tests) = measure(&mut *timed, args.measurements, || bar.inc(1));
        let (t, used) = tests.worst().unzip();
        rows.push(Row {
            operation,
            backend: cpu.name(),
            measurements: args.measurements,
            median_ns,
            t,
            used: used.unwrap_or(0),
            passed: t.is_none_or(|t| t.abs() < THRESHOLD),
        });
    }
    bar.finish_and_clear();
    print(&rows, out)?;
    let failed = rows.iter().filter(|row| !row.passed).count() as u64;
    let summary = Summary { passed: rows.len() as u64 - failed, failed, skipped: 0 };
    out.line(format_args!("{} without a difference, {} that leak", summary.passed, summary.failed))?;
    Ok(summary)
}

/// Times an operation on secrets of a class drawn anew each time; `step` is called now and then.
fn measure(operation: &mut dyn Operation, measurements: u64, step: impl Fn()) -> (f64, Tests) {
    let mut random = Stream(0x6b61_7261_7431);
    let mut time = || {
        let class = (random.next() >> 63) as usize;
        operation.prepare(class, &mut random);
        let start = Instant::now();
        operation.run();
        (class, start.elapsed().as_secs_f64() * 1e9)
    };
    let mut first: Vec<f64> = (0..FIRST).map(|_| time().1).collect();
    let mut tests = Tests::new(&first);
    for i in 1..=measurements {
        let (class, time) = time();
        tests.push(class, time);
        if i % STEP == 0 {
            step();
        }
    }
    first.sort_by(f64::total_cmp);
    (first[first.len() / 2], tests)
}

fn print(rows: &[Row], out: &mut Output) -> Result<(), Failure> {
    for row in rows {
        out.row(row)?;
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.operation.clone(),
            row.backend.into(),
            row.measurements.to_string(),
            format!("{:.0}", row.median_ns),
            row.t.map_or("-".into(), |t| format!("{t:.2}")),
            row.used.to_string(),
            if row.passed { "no difference" } else { "LEAKS" }.into(),
        ]
    });
    let header = ["operation", "backend", "measurements", "median ns", "t", "of", "result"];
    out.table(&header, &["measurements", "median ns", "t", "of"], cells.collect())
}
