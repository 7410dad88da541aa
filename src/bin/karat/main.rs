//! The command line of karat.

mod args;
mod bench;
mod builtin;
mod check;
mod ct;
mod failure;
mod info;
mod kat;
#[cfg(feature = "cuda")]
mod kernels;
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
#[cfg(feature = "cuda")]
mod tune;
mod vectors;
mod word;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;
use output::{Output, Summary, complain};

/// Multiplies polynomials in the rings of lattice cryptography.
///
/// A ring is a name that `karat rings` lists, or a description such as "n=256,q=3329,f=x^256+1"; f is a sum of terms
/// [c][*]x[^e]. `karat info` lists the backends; without --backend the environment variable KARAT_BACKEND chooses one.
///
/// Exit status: 0 all well, 1 a result is wrong, 2 bad usage or bad input (no file is written then).
#[derive(Parser)]
#[command(name = "karat", version, max_term_width = 120)]
struct Cli {
    /// Print one JSON object {schema, command, rows, summary} instead of text; {error} too, where bad usage or bad input ended it.
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
    Ct(ct::Args),
    Rings(rings::Args),
    Info(info::Args),
    #[cfg(feature = "cuda")]
    Kernels(kernels::Args),
    #[cfg(feature = "cuda")]
    Tune(tune::Args),
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
            Self::Ct(_) => "ct",
            Self::Rings(_) => "rings",
            Self::Info(_) => "info",
            #[cfg(feature = "cuda")]
            Self::Kernels(_) => "kernels",
            #[cfg(feature = "cuda")]
            Self::Tune(_) => "tune",
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
            Self::Ct(args) => ct::run(args, out),
            Self::Rings(args) => rings::run(args, out),
            Self::Info(args) => info::run(args, out),
            #[cfg(feature = "cuda")]
            Self::Kernels(args) => kernels::run(args, out),
            #[cfg(feature = "cuda")]
            Self::Tune(args) => tune::run(args, out),
        }
    }
}

/// Tells what clap refuses: on standard error, and as the JSON object where one is wanted.
fn refuse(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let words: Vec<_> = std::env::args().skip(1).take_while(|word| word != "--").collect();
    if error.use_stderr() && words.iter().any(|word| word == "--json") {
        let cli = Cli::command();
        let command = cli.get_subcommands().find(|command| words.iter().any(|word| word == command.get_name()));
        let text = error.to_string();
        // What is wrong may take several lines; a tip or the usage follows an empty one.
        let lines: Vec<_> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let line = lines.join(" ");
        let mut out = Output::new(command.map_or("", |command| command.get_name()), true);
        let _ = out.end(Summary::default(), Some(line.strip_prefix("error: ").unwrap_or(&line)));
    }
    ExitCode::from(error.exit_code() as u8)
}

fn main() -> ExitCode {
    let Cli { json, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let mut out = Output::new(command.name(), json);
    match command.run(&mut out).and_then(|summary| out.finish(summary)) {
        Ok(summary) if summary.failed > 0 => ExitCode::from(1),
        Ok(_) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough (`karat rings | head -1`).
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Told) => ExitCode::from(2),
        Err(failure) => {
            complain(format_args!("error: {failure}"));
            let _ = out.end(Summary::default(), Some(&failure.to_string()));
            ExitCode::from(2)
        }
    }
}
