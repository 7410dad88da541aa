//! The command line of karat.

mod args;
mod bench;
mod builtin;
mod check;
mod failure;
mod info;
mod kat;
mod mul;
mod npy;
mod ntt;
mod operands;
mod output;
mod poly;
mod rings;
mod sink;
mod staged;
mod text;
mod vectors;
mod word;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;
use output::{Output, Summary, complain};

/// Multiplies polynomials in the rings of lattice cryptography.
///
/// A ring is a name that `karat rings` lists, or a description such as "n=256,q=3329,f=x^256+1"; f is a sum of terms
/// [c][*]x[^e]. `karat info` lists the backends; without --backend the environment variable KARAT_BACKEND chooses one.
///
/// Exit status: 0 all well, 1 a result is wrong, 2 bad usage or bad input (nothing is written then).
#[derive(Parser)]
#[command(name = "karat", version, max_term_width = 120)]
struct Cli {
    /// Print one JSON object {schema, command, rows, summary} instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Kat(kat::Args),
    Mul(mul::Args),
    Ntt(ntt::Args),
    Vectors(vectors::Args),
    Bench(bench::Args),
    Rings(rings::Args),
    Info(info::Args),
}

impl Command {
    fn name(&self) -> &'static str {
        match self {
            Self::Check(_) => "check",
            Self::Kat(_) => "kat",
            Self::Mul(_) => "mul",
            Self::Ntt(_) => "ntt",
            Self::Vectors(_) => "vectors",
            Self::Bench(_) => "bench",
            Self::Rings(_) => "rings",
            Self::Info(_) => "info",
        }
    }

    fn run(&self, out: &mut Output) -> Result<Summary, Failure> {
        match self {
            Self::Check(args) => check::run(args, out),
            Self::Kat(args) => kat::run(args, out),
            Self::Mul(args) => mul::run(args, out),
            Self::Ntt(args) => ntt::run(args, out),
            Self::Vectors(args) => vectors::run(args, out),
            Self::Bench(args) => bench::run(args, out),
            Self::Rings(args) => rings::run(args, out),
            Self::Info(args) => info::run(args, out),
        }
    }
}

fn main() -> ExitCode {
    let Cli { json, command } = Cli::parse();
    let mut out = Output::new(command.name(), json);
    match command.run(&mut out).and_then(|summary| out.finish(summary)) {
        Ok(summary) if summary.failed > 0 => ExitCode::from(1),
        Ok(_) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough (`karat rings | head -1`).
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Told) => ExitCode::from(2),
        Err(failure) => {
            complain(format_args!("error: {failure}"));
            ExitCode::from(2)
        }
    }
}
