//! `karat info`: what this build and this machine have, and what not and why.

use karat::{AnyBackend, Backend};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Summary};

/// Show versions, backends, and what this machine has.
#[derive(clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Row {
    item: String,
    available: bool,
    detail: String,
}

pub fn run(_args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let row = |item: &str, available, detail: String| Row { item: item.into(), available, detail };
    let mut rows = vec![
        row("karat", true, env!("CARGO_PKG_VERSION").into()),
        row("target", true, format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
        cpu().map_or_else(|| row("cpu", false, "this system does not tell the model".into()), |m| row("cpu", true, m)),
    ];
    rows.extend(features().into_iter().map(|(name, there)| {
        row(&format!("cpu feature {name}"), there, if there { "detected" } else { "not detected" }.into())
    }));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    rows.push(row("threads", true, threads.to_string()));
    for (name, backend) in AnyBackend::all() {
        let detail = backend.as_ref().map_or_else(ToString::to_string, |_| "ready".into());
        rows.push(row(&format!("backend {name}"), backend.is_ok(), detail));
    }
    let chosen = AnyBackend::from_env();
    let detail = chosen.as_ref().map_or_else(ToString::to_string, |backend| backend.name().into());
    rows.push(row("default backend", chosen.is_ok(), detail));
    rows.extend(gpus().into_iter().map(|(item, available, detail)| row(&item, available, detail)));
    for row in &rows {
        out.row(row)?;
    }
    let cells = rows.into_iter().map(|row| vec![row.item, if row.available { "yes" } else { "no" }.into(), row.detail]);
    out.table(&["what", "there", "detail"], &[], cells.collect())?;
    Ok(Summary::default())
}

/// The GPUs and the compiler for them.
#[cfg(feature = "cuda")]
fn gpus() -> Vec<(String, bool, String)> {
    use karat::backend::cuda::{devices, nvrtc_version};
    let mut out = match devices() {
        Err(error) => vec![("gpu".into(), false, error.to_string())],
        Ok(all) => all
            .into_iter()
            .map(|gpu| {
                let (major, minor) = gpu.capability;
                let detail =
                    format!("{}, sm_{major}{minor}, {} MiB, driver {}", gpu.name, gpu.memory >> 20, gpu.driver);
                (format!("gpu cuda:{}", gpu.ordinal), true, detail)
            })
            .collect(),
    };
    let nvrtc = nvrtc_version();
    let detail = nvrtc.as_ref().map_or_else(ToString::to_string, |(major, minor)| format!("{major}.{minor}"));
    out.push(("nvrtc".into(), nvrtc.is_ok(), detail));
    out
}

#[cfg(not(feature = "cuda"))]
fn gpus() -> Vec<(String, bool, String)> {
    vec![("gpu".into(), false, "this build has no CUDA support: no GPU, driver or NVRTC is looked for".into())]
}

/// The CPU's model, where the system tells it.
fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim().into())
}

/// The instruction sets that backends ask for.
fn features() -> Vec<(&'static str, bool)> {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! detect {
            ($($name:tt),*) => { vec![$(($name, std::arch::is_x86_feature_detected!($name))),*] };
        }
        detect!("avx2", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512ifma", "avx512vbmi")
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}
