//! `karat kat`: validates files of known-answer vectors.

use std::path::PathBuf;

use karat::Backend;
use karat::kat::{FileReport, Runner, files};
use serde::Serialize;

use crate::args::BackendArgs;
use crate::failure::Failure;
use crate::output::{Output, Summary, complain, progress};

/// Validate vector files: ring products in .rsp text, plain or as .gz, folders with all that is in them.
///
/// A line for each file, then how many files passed, failed and were skipped (no reader knows their format). Files that
/// cannot be read to their end count as failed; all others are still looked at. Exit status 1 if a product is wrong,
/// else 2 if a file cannot be read.
#[derive(clap::Args)]
pub struct Args {
    /// Files and folders.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    backend: BackendArgs,
}

#[derive(Serialize)]
struct Row {
    file: String,
    result: &'static str,
    rings: Vec<String>,
    /// Records.
    passed: u64,
    failed: u64,
    /// What was not checked, and why.
    skipped: Vec<Skip>,
    mismatch: Option<Mismatch>,
    error: Option<String>,
    backend: &'static str,
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

impl Row {
    fn new(report: &FileReport, backend: &'static str) -> Self {
        let result = match report {
            FileReport { error: Some(_), .. } => "error",
            _ if report.failed > 0 => "FAILED",
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
            error: report.error.as_ref().map(ToString::to_string),
            backend,
        }
    }

    /// The line for people.
    fn line(&self) -> String {
        let mut line = format!("{}: {}", self.file, self.result);
        if self.result != "skipped" {
            line += &format!(", {} passed, {} failed", self.passed, self.failed);
        }
        if let Some(m) = &self.mismatch {
            line += &format!(
                "; record {} (line {}), coefficient {} is {} in the file and {} here",
                m.record, m.line, m.coefficient, m.expected, m.got
            );
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

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let backend = args.backend.backend()?;
    let name = backend.name();
    let files = files(&args.paths)?;
    if files.is_empty() {
        return Err(Failure::Usage("there is no file in these folders".into()));
    }
    let mut runner = Runner::new(backend);
    let bar = progress(Some(files.len() as u64), "validating");
    let mut summary = Summary::default();
    let (mut unreadable, mut wrong) = (false, false);
    for file in &files {
        let report = runner.check_file(file, &mut |progress| {
            bar.set_message(format!("{}: {} records", file.display(), progress.passed + progress.failed));
        });
        let row = Row::new(&report, name);
        match row.result {
            "ok" => summary.passed += 1,
            "skipped" => summary.skipped += 1,
            _ => summary.failed += 1,
        }
        bar.suspend(|| out.line(row.line()))?;
        out.row(&row)?;
        if let Some(error) = row.error {
            unreadable = true;
            bar.suspend(|| complain(format_args!("error: {error}")));
        }
        wrong |= row.mismatch.is_some();
        bar.inc(1);
    }
    bar.finish_and_clear();
    out.line(format_args!("{} passed, {} failed, {} skipped", summary.passed, summary.failed, summary.skipped))?;
    if unreadable && !wrong {
        out.finish(summary)?;
        return Err(Failure::Told);
    }
    Ok(summary)
}
