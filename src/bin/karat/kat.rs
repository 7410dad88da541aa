//! `karat kat`: validates files of known-answer vectors.

use std::path::PathBuf;
use std::time::Duration;

use clap::value_parser;
use indicatif::ProgressBar;
use karat::kat::scheme::{Command, Own, builtin, digests};
use karat::kat::{FileReport, Runner, files};
use karat::{AnyBackend, Backend, Cpu};
use serde::Serialize;

use crate::args::BackendArgs;
use crate::failure::Failure;
use crate::output::{Output, Summary, complain, progress};

/// Validate vector files, plain or as .gz, folders with all that is in them: ring products in .rsp text; ML-KEM and
/// ML-DSA as .rsp of NIST, JSON of ACVP and Wycheproof, text of CCTV.
///
/// A line for each file, then how many files passed, failed and were skipped (no reader knows their format). Files that
/// cannot be read to their end count as failed; all others are still looked at. The expectedResults.json of ACVP is read
/// with the prompt.json beside it and counts with that. Exit status 1 if a product is wrong, else 2 if a file cannot be
/// read, or if every file was skipped so that nothing was checked.
#[derive(clap::Args)]
#[command(after_long_help = OPERATIONS)]
pub struct Args {
    /// Files and folders.
    #[arg(required_unless_present = "builtin", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Validate what needs no file: Wycheproof's vectors and the digests of 10,000 runs.
    #[arg(long)]
    builtin: bool,
    /// With --builtin: the digests of 1,000,000 runs, too.
    #[arg(long, requires = "builtin")]
    long: bool,
    /// Validate another implementation of the schemes: a program that answers each JSON line {id, scheme, op, in} on
    /// its standard input with a line {id, out} or {id, error}; values are {name: hex}. PROGRAM and its arguments are split
    /// at blanks (there is no quoting). The operations are listed below; karat's own backends have no part in it.
    #[arg(long, value_name = "PROGRAM ARGS", conflicts_with = "backend")]
    cmd: Option<String>,
    /// Seconds that the program may take for an answer.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", requires = "cmd", value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    /// Call karat's schemes with batches of this size instead of singly.
    #[arg(long, value_name = "SIZE", conflicts_with = "cmd", value_parser = value_parser!(u32).range(1..))]
    batch: Option<u32>,
    #[command(flatten)]
    backend: BackendArgs,
}

/// What `--cmd` asks for; the documentation of `karat::kat::scheme` has the same table.
const OPERATIONS: &str = "\
Operations of --cmd, their inputs -> outputs:
  keygen (ML-KEM)   seed = d || z -> ek, dk
  encaps            ek, m -> c, k
  decaps            dk or seed; c -> k
  check-ek          ek -> nothing
  check-dk          dk -> nothing
  keygen (ML-DSA)   seed -> pk, sk
  sign*             sk or seed; message or mu; context; rnd -> signature
  verify*           pk; message or mu; context; signature -> nothing
where * is nothing (a message with a context), -internal (message), -mu (mu) or -hash:NAME (message and context, HashML-DSA
with NAME, SHA2-256 for example). Without rnd the signature is deterministic. No output is an empty {}; {error} refuses a
key that fails its check, a signature that is not valid, or an input of the wrong length. See kats/foreign/ml_kem.py.";

#[derive(Serialize)]
struct Row<'a> {
    file: String,
    result: &'static str,
    rings: Vec<String>,
    /// Records.
    passed: u64,
    failed: u64,
    /// What was not checked, and why.
    skipped: Vec<Skip>,
    mismatch: Option<Mismatch>,
    /// The first wrong answer of a scheme.
    wrong: Option<String>,
    error: Option<String>,
    #[serde(flatten)]
    by: By<'a>,
}

/// What is checked.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum By<'a> {
    /// karat, on this backend.
    Backend(&'static str),
    /// This program.
    Program(&'a str),
}

#[derive(Serialize)]
struct Skip {
    reason: String,
    count: u64,
}

/// The first product that is wrong.
#[derive(Serialize)]
struct Mismatch {
    record: u64,
    line: u64,
    coefficient: usize,
    expected: u64,
    got: u64,
}

impl<'a> Row<'a> {
    fn new(report: &FileReport, by: By<'a>) -> Self {
        let result = match report {
            FileReport { error: Some(_), .. } => "error",
            _ if report.failed > 0 => "FAILED",
            FileReport { prompt: Some(_), .. } => "read",
            FileReport { format: None, .. } => "skipped",
            // A file of which nothing could be checked has not passed.
            _ if report.passed == 0 => "skipped",
            _ => "ok",
        };
        Self {
            file: report.path.display().to_string(),
            result,
            rings: report.rings.iter().map(ToString::to_string).collect(),
            passed: report.passed,
            failed: report.failed,
            skipped: report.skips.iter().map(|skip| Skip { reason: skip.reason.clone(), count: skip.count }).collect(),
            mismatch: report.mismatch.as_ref().map(|m| Mismatch {
                record: m.count,
                line: m.line,
                coefficient: m.index,
                expected: m.expected,
                got: m.got,
            }),
            wrong: report.wrong.clone(),
            error: report.error.as_ref().map(ToString::to_string),
            by,
        }
    }

    /// The line for people.
    fn line(&self) -> String {
        let mut line = format!("{}: {}", self.file, self.result);
        if self.result == "read" {
            line += " with the prompt beside it";
        } else if self.result != "skipped" {
            line += &format!(", {} passed, {} failed", self.passed, self.failed);
        }
        if let Some(m) = &self.mismatch {
            line += &format!(
                "; record {} (line {}), coefficient {} is {} in the file and {} here",
                m.record, m.line, m.coefficient, m.expected, m.got
            );
        }
        if let Some(wrong) = &self.wrong {
            line += &format!("; {wrong}");
        }
        for Skip { reason, count } in &self.skipped {
            line += &format!("; not checked: {reason}");
            if *count > 1 {
                line += &format!(" ({count} times)");
            }
        }
        line
    }
}

/// What the rows say together.
struct Tally<'a> {
    summary: Summary,
    by: By<'a>,
    unreadable: bool,
    wrong: bool,
}

impl Tally<'_> {
    fn add(&mut self, report: &FileReport, bar: &ProgressBar, out: &mut Output) -> Result<(), Failure> {
        let row = Row::new(report, self.by);
        match row.result {
            "ok" => self.summary.passed += 1,
            "skipped" => self.summary.skipped += 1,
            "read" => {}
            _ => self.summary.failed += 1,
        }
        bar.suspend(|| out.line(row.line()))?;
        out.row(&row)?;
        self.wrong |= row.failed > 0;
        if let Some(error) = row.error {
            self.unreadable = true;
            bar.suspend(|| complain(format_args!("error: {error}")));
        }
        bar.inc(1);
        Ok(())
    }
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    // A program needs no backend of karat's: ring products are not asked of it.
    let (backend, by) = match &args.cmd {
        Some(program) => (AnyBackend::Cpu(Cpu::scalar()), By::Program(program)),
        None => {
            let backend = args.backend.backend()?;
            let by = By::Backend(backend.name());
            (backend, by)
        }
    };
    let files = files(&args.paths);
    if files.is_empty() && !args.builtin {
        return Err(Failure::Usage("there is no file in these folders".into()));
    }
    let mut runner = Runner::new(backend.clone());
    if let Some(command) = &args.cmd {
        let mut program = Command::new(command, Duration::from_secs(args.timeout));
        program.start()?;
        runner = runner.with_implementation(program);
    } else if let Some(batch) = args.batch {
        runner = runner.with_implementation(Own::batched(&backend, batch as usize)?);
    }
    let sets = if args.builtin { builtin().collect() } else { Vec::new() };
    let digests = if args.builtin { digests(args.long).collect() } else { Vec::new() };
    let bar = progress(Some((files.len() + sets.len() + digests.len()) as u64), "validating");
    let mut tally = Tally { summary: Summary::default(), by, unreadable: false, wrong: false };
    for file in &files {
        let report = runner.check_file(file, &mut |progress| {
            bar.set_message(format!("{}: {} records", file.display(), progress.passed + progress.failed));
        });
        tally.add(&report, &bar, out)?;
    }
    for (name, text) in sets {
        bar.set_message(name.clone());
        tally.add(&runner.check_reader(name, text.as_bytes(), &mut |_| ()), &bar, out)?;
    }
    for digest in digests {
        let report = digest.check(runner.implementation()?, &mut |round| {
            if round % 100 == 0 {
                let percent = 100 * round / digest.rounds;
                bar.set_message(format!("{}: {percent} % of {} rounds", digest.scheme, digest.rounds));
            }
        });
        tally.add(&report, &bar, out)?;
    }
    bar.finish_and_clear();
    let Tally { summary, unreadable, wrong, .. } = tally;
    out.line(format_args!("{} passed, {} failed, {} skipped", summary.passed, summary.failed, summary.skipped))?;
    let nothing = summary.passed + summary.failed == 0;
    let error = nothing.then_some(match summary.skipped {
        0 => "nothing was checked: expected results are read with their prompt",
        _ => "nothing was checked: every file was skipped",
    });
    error.iter().for_each(|error| complain(format_args!("error: {error}")));
    if nothing || (unreadable && !wrong) {
        out.end(summary, error)?;
        return Err(Failure::Told);
    }
    Ok(summary)
}
