//! Ring products on a GPU with resident data: a recorded graph of four, timed by events on the stream; medians of 15.
//! Each product is compared with the CPU's before it is timed.
//!
//! `cargo bench --features cuda --bench cuda [FILTER]` prints one row for each ring and variant: products a second,
//! and the share that reading both factors and writing the result once would have of the time, at the speed of copies;
//! and the bytes that the kernels of that variant load and store.

use karat::backend::cuda::{Cuda, Graph, Traffic, Variant};
use karat::backend::{Backend, Erase, Matrix};
use karat::ring::presets::MlKem;
use karat::{Cpu, Result, RingContext, RingMul, RingSpec, UserRing, arith::Word};

/// Bytes a nanosecond of copies on an H200, read and write counted (measured with CUDA 13.0).
const COPY: f64 = 4265.0;

/// Whether rows are JSON objects, one a line.
fn json() -> bool {
    std::env::args().any(|arg| arg == "--json")
}

/// Bytes a nanosecond from pinned host memory, one way.
const BUS: f64 = 55.0;

struct Row {
    op: String,
    ring: String,
    variant: String,
    batch: usize,
    median_ns: f64,
    bytes: f64,
    /// What one product moves, counted from its kernels.
    traffic: Option<Traffic>,
}

impl Row {
    fn print(&self) {
        if json() {
            let traffic = self.traffic.map_or(String::new(), |t| {
                format!(
                    ",\"launches\":{},\"read\":{},\"written\":{},\"exchanged\":{}",
                    t.launches, t.read, t.written, t.exchanged
                )
            });
            println!(
                "{{\"op\":\"{}\",\"ring\":\"{}\",\"variant\":\"{}\",\"batch\":{},\"median_ns\":{:.1},\"bytes\":{}{traffic}}}",
                self.op, self.ring, self.variant, self.batch, self.median_ns, self.bytes
            );
            return;
        }
        let traffic = self.traffic.map_or(String::new(), |t| {
            format!(
                ", {} launches, {} B a product ({} read, {} written, {} exchanged)",
                t.launches,
                t.read + t.written,
                t.read,
                t.written,
                t.exchanged
            )
        });
        println!(
            "{:<9} {:<44} {:<16} {:>8} {:>12.1} us {:>10.2} M/s {:>6.1} % of the copy{traffic}",
            self.op,
            self.ring,
            self.variant,
            self.batch,
            self.median_ns / 1e3,
            self.batch as f64 / self.median_ns * 1e3,
            100.0 * self.bytes / COPY / self.median_ns
        );
    }
}

/// Nanoseconds of what a graph of a few repetitions takes for one of them: no launch from the host is in it.
fn median(gpu: &Cuda, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    const REPEATS: u32 = 4;
    run()?;
    let graph = Graph::record(gpu, |_| (0..REPEATS).try_for_each(|_| run()))?;
    Ok(graph.median_ns(15)? / REPEATS as f64)
}

fn residues<W: Word>(seed: u64, count: usize, q: u64) -> Vec<W> {
    let mut state = seed | 1;
    let next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        W::from_u64((state >> 2) % q)
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn product<W: Word>(gpu: &Cuda, text: &str, variant: Variant, batch: usize) -> Result<Row> {
    let spec: RingSpec = text.parse()?;
    let (n, q) = (spec.n(), spec.q());
    let ring = UserRing::<W>::new(spec)?;
    let gpu = gpu.clone().with_variant(variant);
    let device = RingContext::new(gpu.clone(), ring.clone())?;
    // A few different polynomials, many times.
    let distinct = 97.min(batch);
    let repeat =
        |seed| -> Vec<W> { residues::<W>(seed, distinct * n, q).into_iter().cycle().take(batch * n).collect() };
    let (a, b) = (repeat(1), repeat(2));
    let (da, db) = (device.upload(&a)?, device.upload(&b)?);
    let mut out = device.zeros(batch)?;
    device.mul_into(&da, &db, &mut out)?;
    let cpu = RingContext::new(Cpu::new(), ring)?;
    let check = distinct.min(8);
    let expected = cpu.mul(&cpu.upload(&a[..check * n])?, &cpu.upload(&b[..check * n])?)?.download()?;
    let got = out.download()?;
    assert!(got[..check * n] == expected[..], "{text} {variant}: wrong product");
    assert!(got.iter().zip(&got[distinct * n..]).all(|(x, y)| x == y), "{text} {variant}: wrong repetition");
    let median_ns = median(&gpu, || device.mul_into(&da, &db, &mut out))?;
    let bytes = (3 * batch * n * size_of::<W>()) as f64;
    let traffic = device.plan().traffic::<W>(batch);
    Ok(Row { op: "mul".into(), ring: text.into(), variant: variant.to_string(), batch, median_ns, bytes, traffic })
}

/// Products from pinned memory to pinned memory, copies and kernels overlapped; the share is of the copies' speed.
fn end_to_end(gpu: &Cuda, batch: usize) -> Result<Row> {
    let plan = RingMul::<MlKem>::plan(gpu, &MlKem)?;
    let host = || gpu.pinned::<u16>(batch * 256, Erase::No);
    let (a, b, mut out) = (host()?, host()?, host()?);
    let mut times = Vec::new();
    for _ in 0..7 {
        let start = gpu.device().record()?;
        gpu.mul_pinned::<MlKem>(&plan, batch, &a, &b, &mut out)?;
        times.push(gpu.device().record()?.since_ns(&start)?);
    }
    times.sort_by(f64::total_cmp);
    // Both factors go one way at the bus's speed; the result goes the other way meanwhile.
    let bytes = (2 * batch * 512) as f64 / BUS * COPY;
    let name = "end_to_end".into();
    Ok(Row {
        op: name,
        ring: "ml-kem".into(),
        variant: "pinned".into(),
        batch,
        median_ns: times[3],
        bytes,
        traffic: None,
    })
}

/// One matrix of `k × k` for each item, transform domain.
fn mat_vec<W: Word>(gpu: &Cuda, text: &str, k: usize, batch: usize) -> Result<Row> {
    let ring = UserRing::<W>::new(text.parse()?)?;
    let plan = RingMul::<UserRing<W>>::plan(gpu, &ring)?;
    let buffer = |polynomials: usize| gpu.alloc::<u64>(polynomials * plan.ntt_words(), Erase::No);
    let (matrix, vector, mut out) = (buffer(batch * k * k)?, buffer(batch * k)?, buffer(batch * k)?);
    let shape = Matrix { batch, rows: k, columns: k, shared: false };
    let median_ns = median(gpu, || RingMul::<UserRing<W>>::mat_vec(gpu, &plan, shape, &matrix, &vector, &mut out))?;
    let bytes = (batch * (k * k + 2 * k) * plan.ntt_words() * 8) as f64;
    Ok(Row {
        op: format!("mat_vec{k}"),
        ring: text.into(),
        variant: String::new(),
        batch,
        median_ns,
        bytes,
        traffic: None,
    })
}

fn main() -> Result<()> {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let gpu = match Cuda::new(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    println!("{}", gpu.device().gpu());
    let show = |row: Result<Row>| match row {
        Ok(row) => row.print(),
        Err(error) => println!("{error}"),
    };
    let wanted = |name: &str| name.contains(&filter);
    let small = [("ml-kem", 20), ("falcon-512", 19), ("falcon-1024", 18), ("saber", 18), ("sntrup761", 16)];
    for (ring, log) in small.into_iter().filter(|(ring, _)| wanted(ring)) {
        show(product::<u16>(&gpu, ring, Variant::Automatic, 1 << log));
        show(product::<u16>(&gpu, ring, Variant::Fused, 1 << log));
    }
    if wanted("ml-kem") {
        show(product::<u16>(&gpu, "ml-kem", Variant::Patent, 1 << 18));
        show(mat_vec::<u16>(&gpu, "ml-kem", 3, 1 << 17));
        show(end_to_end(&gpu, 1 << 20));
    }
    if wanted("ml-dsa") {
        show(product::<u32>(&gpu, "ml-dsa", Variant::Automatic, 1 << 20));
        show(product::<u32>(&gpu, "ml-dsa", Variant::Fused, 1 << 20));
        show(product::<u32>(&gpu, "ml-dsa", Variant::Patent, 1 << 18));
    }
    for log in [12u32, 13, 14, 15, 16] {
        // Primes of 60, 50 and 61 bits; the last takes no lazy lanes.
        for q in ["1152921504606584833", "1125899903827969", "2305843009211596801"] {
            let ring = format!("q={q},f=x^{}+1", 1u32 << log);
            if !wanted(&ring) {
                continue;
            }
            for batch in [45, 1] {
                show(product::<u64>(&gpu, &ring, Variant::Automatic, batch));
                // Clusters take moduli below 2^60.
                if log >= 13 && !q.starts_with("2305") {
                    show(product::<u64>(&gpu, &ring, Variant::Cluster(None), batch));
                }
                if q.starts_with("1152") {
                    show(product::<u64>(&gpu, &ring, Variant::Halves(0), batch));
                    let patent = format!("{ring},alpha={}", (log - 11).max(1));
                    show(product::<u64>(&gpu, &patent, Variant::Patent, batch));
                }
            }
        }
        let narrow = format!("q=998244353,f=x^{}+1", 1u32 << log);
        if wanted(&narrow) {
            show(product::<u32>(&gpu, &narrow, Variant::Automatic, 45));
            if log >= 13 {
                show(product::<u32>(&gpu, &narrow, Variant::Cluster(None), 45));
            }
        }
    }
    Ok(())
}
