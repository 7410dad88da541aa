//! `karat tune`: measures what is fastest on this machine's GPU.

use karat::backend::cuda::{Cuda, Tuning};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Summary, progress};

/// Measure which kernels are fastest on a GPU, and keep the choice for this GPU and driver beside the kernel cache.
#[derive(clap::Args)]
pub struct Args {
    /// The number of the GPU.
    #[arg(long, default_value_t = 0, value_name = "I")]
    gpu: usize,
    /// Show what is in use and measure nothing.
    #[arg(long, conflicts_with = "reset")]
    show: bool,
    /// Forget the stored choice.
    #[arg(long)]
    reset: bool,
}

#[derive(Serialize)]
struct Row {
    what: String,
    choice: String,
    median_ns: Option<f64>,
    batch: Option<usize>,
    chosen: bool,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let gpu = Cuda::new(args.gpu)?;
    if args.reset {
        let text = if gpu.reset_tuning()? { "the stored choice is forgotten" } else { "nothing was stored" };
        out.line(text)?;
        return Ok(Summary::default());
    }
    if args.show {
        return show(&gpu, out);
    }
    let bar = progress(None, "measuring");
    let (tuning, all) = gpu.tune(|measured| bar.set_message(measured.choice.clone()))?;
    bar.finish_and_clear();
    let path = gpu.store_tuning(tuning)?;
    let rows: Vec<_> = all
        .into_iter()
        .map(|m| Row {
            what: m.what.into(),
            choice: m.choice,
            median_ns: Some(m.median_ns),
            batch: Some(m.batch),
            chosen: m.chosen,
        })
        .collect();
    print(&rows, out)?;
    out.line(format_args!("kept in {}", path.display()))?;
    Ok(Summary { passed: rows.len() as u64, ..Summary::default() })
}

fn show(gpu: &Cuda, out: &mut Output) -> Result<Summary, Failure> {
    let stored = gpu.stored_tuning()?;
    let source = match &stored {
        Some((path, _)) => path.display().to_string(),
        None => "built in".into(),
    };
    let Tuning { small, shoup, fused_lanes, node_layers, column_bytes, .. } = gpu.tuning();
    let mut rows = Vec::new();
    let mut add = |what: String, choice: String| {
        rows.push(Row { what, choice, median_ns: None, batch: None, chosen: true });
    };
    let warps = small.iter().zip(["q < 2^14, N = 256", "q < 2^14, N = 512", "q < 2^14, N = 1024"]);
    for (tuning, what) in warps.chain([(shoup, "q < 2^31, N = 256 to 1024")]) {
        add(what.into(), format!("doubles {}, blocks {}", tuning.doubles, tuning.blocks));
    }
    add("one block a product".into(), format!("to {fused_lanes} lanes"));
    add("halves".into(), format!("at most {node_layers} layers in the second, {column_bytes} bytes of columns"));
    add("source".into(), source);
    print(&rows, out)?;
    Ok(Summary::default())
}

fn print(rows: &[Row], out: &mut Output) -> Result<(), Failure> {
    for row in rows {
        out.row(row)?;
    }
    let cells = rows.iter().map(|row| {
        let rate = row.median_ns.zip(row.batch).map(|(ns, batch)| batch as f64 / ns * 1e3);
        vec![
            row.what.clone(),
            row.choice.clone(),
            rate.map_or_else(|| "-".into(), |rate| format!("{rate:.2}")),
            if row.chosen { "yes" } else { "" }.into(),
        ]
    });
    out.table(&["what", "choice", "M products/s", "in use"], &["M products/s"], cells.collect())
}
