//! `karat tune`: measures what is fastest on this machine's GPU.

use karat::backend::cuda::{ClusterShape, Cuda, NttShape, ProductChoice, Tuning, Variant};
use karat::rns::cuda::NttCase;
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
    /// Find the shapes of RNS transforms instead: log2 N/bits/primes, as 16/60/45, several with commas, or `all` for the
    /// lengths 2^13 to 2^17. A case takes a minute or so, for its programs are compiled.
    #[arg(long, value_name = "CASES", conflicts_with_all = ["show", "reset"])]
    ntt: Option<String>,
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
    if let Some(cases) = &args.ntt {
        return transforms(&gpu, &read_cases(cases)?, out);
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

fn read_cases(text: &str) -> Result<Vec<NttCase>, Failure> {
    if text == "all" {
        let mut all = Vec::new();
        for bits in [60, 50, 30] {
            all.extend((13..=17).map(|log_n| NttCase { log_n, bits, primes: 45 }));
            all.extend([1, 21].map(|primes| NttCase { log_n: 16, bits, primes }));
        }
        return Ok(all);
    }
    let wrong = |part: &str| Failure::Usage(format!("--ntt takes log2 N/bits/primes, as 16/60/45, not `{part}`"));
    text.split(',')
        .map(|part| {
            let numbers: Vec<u32> = part.split('/').map_while(|number| number.trim().parse().ok()).collect();
            match numbers[..] {
                [log_n, bits, primes] if part.matches('/').count() == 2 => {
                    Ok(NttCase { log_n, bits, primes: primes as usize })
                }
                _ => Err(wrong(part)),
            }
        })
        .collect()
}

/// A shape that was timed as a whole.
#[derive(Serialize)]
struct Transform {
    log_n: u32,
    bits: u32,
    primes: usize,
    shape: String,
    forward_us: f64,
    inverse_us: f64,
    chosen: bool,
}

/// How many shapes of each case are shown.
const SHOWN: usize = 4;

fn transforms(gpu: &Cuda, cases: &[NttCase], out: &mut Output) -> Result<Summary, Failure> {
    let bar = progress(Some(cases.len() as u64), "measuring");
    let mut tuning = gpu.tuning().clone();
    let mut rows = Vec::new();
    for &case in cases {
        let NttCase { log_n, bits, primes } = case;
        let all = gpu.tune_ntt(case, |text| bar.set_message(format!("2^{log_n}, {primes} of {bits} bits: {text}")))?;
        bar.inc(1);
        for (i, measured) in all.iter().take(SHOWN).enumerate() {
            let (forward_us, inverse_us, shape) =
                (measured.forward_us, measured.inverse_us, measured.variant.to_string());
            rows.push(Transform { log_n, bits, primes, shape, forward_us, inverse_us, chosen: i == 0 });
        }
        if let Some(best) = all.first() {
            let shape = gpu.ntt_shape(case, best)?;
            let same = |other: &NttShape| (&other.lanes, other.log_n, other.primes) == (&shape.lanes, log_n, primes);
            tuning.ntt.retain(|other| !same(other));
            tuning.ntt.push(shape);
        }
    }
    bar.finish_and_clear();
    let path = gpu.store_tuning(tuning)?;
    for row in &rows {
        out.row(row)?;
    }
    let cells = rows.iter().map(|row| {
        vec![
            format!("2^{}", row.log_n),
            row.bits.to_string(),
            row.primes.to_string(),
            row.shape.clone(),
            format!("{:.2}", row.forward_us),
            format!("{:.2}", row.inverse_us),
            if row.chosen { "yes" } else { "" }.into(),
        ]
    });
    let header = ["N", "bits", "primes", "shape", "forward us", "inverse us", "in use"];
    out.table(&header, &["bits", "primes", "forward us", "inverse us"], cells.collect())?;
    out.line(format_args!("kept in {}", path.display()))?;
    Ok(Summary { passed: rows.len() as u64, ..Summary::default() })
}

fn show(gpu: &Cuda, out: &mut Output) -> Result<Summary, Failure> {
    let stored = gpu.stored_tuning()?;
    let source = match &stored {
        Some((path, _)) => path.display().to_string(),
        None => "built in".into(),
    };
    let Tuning { small, shoup, fused_lanes, node_layers, column_bytes, cluster, products, ntt, .. } = gpu.tuning();
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
    for (shape, log_n) in cluster.iter().zip(13..) {
        add(format!("clusters for 2^{log_n}"), cluster_words(shape));
    }
    for ProductChoice { log_n, bits: (from, to), batch, variant } in products {
        let shape = match Variant::parse(&format!("product:{variant}")).ok() {
            Some(Variant::Cluster(Some(shape))) => format!("cluster: {}", cluster_words(&shape)),
            _ => variant.clone(),
        };
        add(format!("products of 2^{log_n}, {from} to {to} bits, from {batch} on"), shape);
    }
    for NttShape { lanes, log_n, primes, shape } in ntt {
        add(format!("transforms of 2^{log_n}, {lanes}, {primes} primes"), shape.clone());
    }
    add("source".into(), source);
    print(&rows, out)?;
    Ok(Summary::default())
}

fn cluster_words(shape: &ClusterShape) -> String {
    format!("{} blocks, {} lanes a thread, alpha = {}", shape.blocks, shape.lanes, shape.alpha)
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
