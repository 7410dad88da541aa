//! The command line of karat.

mod args;
mod bench;
mod check;
mod failure;
mod info;
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
mod word;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;
use output::{Output, Summary};

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
    Mul(mul::Args),
    Ntt(ntt::Args),
    Bench(bench::Args),
    Rings(rings::Args),
    Info(info::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (name, run): (_, Box<dyn FnOnce(&mut Output) -> Result<Summary, Failure>>) = match cli.command {
        Command::Check(args) => ("check", Box::new(move |out| check::run(&args, out))),
        Command::Mul(args) => ("mul", Box::new(move |out| mul::run(&args, out))),
        Command::Ntt(args) => ("ntt", Box::new(move |out| ntt::run(&args, out))),
        Command::Bench(args) => ("bench", Box::new(move |out| bench::run(&args, out))),
        Command::Rings(args) => ("rings", Box::new(move |out| rings::run(&args, out))),
        Command::Info(args) => ("info", Box::new(move |out| info::run(&args, out))),
    };
    let mut out = Output::new(name, cli.json);
    match run(&mut out).and_then(|summary| out.finish(summary)) {
        Ok(summary) if summary.failed > 0 => ExitCode::from(1),
        Ok(_) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough (`karat rings | head -1`).
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}
