//! `karat kernels`: compiled kernels for hosts that have a driver and no compiler.

use std::path::PathBuf;

use karat::backend::cuda::{build_pack, programs};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Summary};

/// Compile the kernels of all rings ahead, for GPUs that need not be here.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a folder of kernels that KARAT_KERNEL_PACK may name on hosts without NVRTC. Needs NVRTC, no GPU.
    Build(Build),
}

#[derive(clap::Args)]
struct Build {
    /// Architectures, such as sm_80,sm_90.
    #[arg(long, value_delimiter = ',', required = true, value_name = "SM", value_parser = architecture)]
    arch: Vec<String>,
    /// The folder; made if need be.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// An architecture's name: `sm_` and digits.
fn architecture(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("sm_").unwrap_or_default();
    let known = !digits.is_empty() && digits.trim_end_matches('a').bytes().all(|byte| byte.is_ascii_digit());
    if known { Ok(text.into()) } else { Err("an architecture is sm_ and digits, such as sm_90".into()) }
}

#[derive(Serialize)]
struct Row {
    file: String,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let Command::Build(Build { arch, out: folder }) = &args.command;
    let architectures: Vec<&str> = arch.iter().map(String::as_str).collect();
    let files = build_pack(&programs(), &architectures, folder)?;
    for file in &files {
        out.row(&Row { file: file.display().to_string() })?;
    }
    out.line(format_args!("{} programs in {}", files.len(), folder.display()))?;
    Ok(Summary { passed: files.len() as u64, ..Summary::default() })
}

#[cfg(test)]
mod tests {
    use super::architecture;

    #[test]
    fn names_of_architectures() {
        assert!(architecture("sm_90").is_ok() && architecture("sm_100a").is_ok());
        for wrong in ["", "sm_", "90", "compute_90", "sm_a", "sm_9 0"] {
            assert!(architecture(wrong).is_err(), "{wrong}");
        }
    }
}
