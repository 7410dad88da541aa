//! `karat check`: the main job. Every ring on every backend, against the oracle and the known-answer vectors.

use std::time::{Duration, Instant};

use karat::arith::Word;
use karat::context::{Coeff, Public};
use karat::ring::presets;
use karat::{AnyBackend, Backend, PolyBatch, Reference, RingContext, RingSpec, UserRing};
use serde::Serialize;

use crate::builtin::{self, Known};
use crate::failure::Failure;
use crate::operands::{EXTREMES, operands};
use crate::output::{Output, Summary, progress};
use crate::word::{WithWord, with_word};

/// Multiply in every ring on every backend and check each product against the schoolbook oracle and the built-in
/// known-answer vectors.
///
/// Operands are extremes and pseudo-random ones, in batches and one by one, as whole products and through the transform
/// domain. The oracle itself is held against the vectors with --backend reference. Exit status 1 if a product is wrong.
#[derive(clap::Args)]
pub struct Args {
    /// Only this backend [default: every one that is there, whatever KARAT_BACKEND says].
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// Only rings whose name or description contains this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// Rings beside the presets and those of the vectors: k-NTTs of several alphas in every word class, large degrees.
const USER_RINGS: [&str; 9] = [
    "q=3329,f=x^512+1",
    "q=257,f=x^1024+1",
    "q=12289,f=x^4096+1",
    "q=8380417,f=x^256+1,alpha=2",
    "q=549824583172097,f=x^512+1,alpha=3",
    "q=1152921504606830593,f=x^4096+1",
    "q=257,f=x^256-1",
    "q=12289,f=x^1536+1",
    "q=1000,f=x^2000+x+1",
];

/// Presets that are multiplied by a lift as well, although they need none.
const LIFTED: [&str; 3] = ["ml-kem", "ml-dsa", "raccoon"];

/// A row of the table.
#[derive(Serialize)]
struct Row {
    ring: String,
    method: &'static str,
    alpha: Option<u32>,
    backend: &'static str,
    /// Products that were compared.
    products: u64,
    products_per_second: f64,
    passed: bool,
    /// What is wrong, in words.
    mismatch: Option<String>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let (backends, missing) = backends(args.backend.as_deref())?;
    let known = builtin::all()?;
    let wanted = |ring: &RingSpec| args.filter.as_deref().is_none_or(|text| ring.to_string().contains(text));
    let rings: Vec<RingSpec> = rings(&known)?.into_iter().filter(wanted).collect();
    if rings.is_empty() {
        return Err(Failure::Usage("no ring matches --filter; without it all are checked".into()));
    }
    let bar = progress(Some(rings.len() as u64), "checking");
    let mut rows = Vec::new();
    for ring in &rings {
        bar.set_message(ring.to_string());
        let known = known.iter().find(|known| same(&known.ring, ring));
        rows.extend(with_word(ring, Check { backends: &backends, known })?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&rows, out)?;
    for (name, reason) in &missing {
        out.line(format_args!("skipped: backend {name}: {reason}"))?;
    }
    let failed = rows.iter().filter(|row| !row.passed).count() as u64;
    let summary = Summary { passed: rows.len() as u64 - failed, failed, skipped: missing.len() as u64 };
    out.line(format_args!("{} passed, {} failed", summary.passed, summary.failed))?;
    Ok(summary)
}

fn print(rows: &[Row], out: &mut Output) -> Result<(), Failure> {
    for row in rows {
        out.row(row)?;
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.ring.clone(),
            row.method.into(),
            row.alpha.map_or("-".into(), |alpha| alpha.to_string()),
            row.backend.into(),
            row.products.to_string(),
            format!("{:.0}", row.products_per_second),
            if row.passed { "ok" } else { "FAILED" }.into(),
        ]
    });
    let header = ["ring", "method", "alpha", "backend", "products", "products/s", "result"];
    out.table(&header, &["alpha", "products", "products/s"], cells.collect())?;
    for row in rows {
        if let Some(mismatch) = &row.mismatch {
            out.line(format_args!("FAILED: {} on {}: {mismatch}", row.ring, row.backend))?;
        }
    }
    Ok(())
}

/// The backends to check, and the ones that are not there with the reasons. The oracle is checked on request only.
type Backends = (Vec<AnyBackend>, Vec<(&'static str, karat::Error)>);

fn backends(name: Option<&str>) -> Result<Backends, Failure> {
    if let Some(name) = name {
        return Ok((vec![AnyBackend::from_name(name)?], Vec::new()));
    }
    let mut out = (Vec::new(), Vec::new());
    for (name, backend) in AnyBackend::all() {
        match backend {
            Ok(AnyBackend::Reference(_)) => {}
            Ok(backend) => out.0.push(backend),
            Err(reason) => out.1.push((name, reason)),
        }
    }
    Ok(out)
}

/// Presets, rings of users, and what else there are vectors for.
fn rings(known: &[Known]) -> Result<Vec<RingSpec>, Failure> {
    let mut out: Vec<RingSpec> = presets::all().into_iter().cloned().collect();
    for text in USER_RINGS {
        out.push(text.parse()?);
    }
    out.extend(LIFTED.into_iter().filter_map(presets::find).map(RingSpec::with_lift));
    for known in known {
        if !out.iter().any(|ring| same(ring, &known.ring)) {
            out.push(known.ring.clone());
        }
    }
    Ok(out)
}

fn same(a: &RingSpec, b: &RingSpec) -> bool {
    (a.n(), a.q(), a.f()) == (b.n(), b.q(), b.f())
}

struct Check<'a> {
    backends: &'a [AnyBackend],
    known: Option<&'a Known>,
}

/// Factors and right products, `[count][N]` each.
struct Products<W> {
    a: Vec<W>,
    b: Vec<W>,
    c: Vec<W>,
}

impl WithWord for Check<'_> {
    type Output = Vec<Row>;

    fn run<W: Word>(self, ring: UserRing<W>) -> Result<Vec<Row>, Failure> {
        let spec = karat::Ring::spec(&ring);
        let (method, alpha) = spec.method().label();
        let words = |values: &[u64]| values.iter().map(|c| W::from_u64(*c)).collect();
        let known = self.known.map(|known| Products { a: words(&known.a), b: words(&known.b), c: words(&known.c) });
        let products = by_oracle(&ring)?;
        let check = |backend: &AnyBackend| {
            let ring = RingContext::new(backend.clone(), ring.clone())?;
            let mut check = Comparison { ring, products: 0, mismatch: None };
            if let Some(known) = &known {
                check.compare("vectors", known)?;
            }
            // The oracle is not evidence for itself.
            if !matches!(backend, AnyBackend::Reference(_)) {
                check.compare("products by the oracle", &products)?;
            }
            let speed = check.speed(&products)?;
            Ok::<_, karat::Error>((check.products, speed, check.mismatch))
        };
        let row = |backend: &AnyBackend| {
            let (count, speed, mismatch) = check(backend).unwrap_or_else(|e| (0, 0.0, Some(e.to_string())));
            Row {
                ring: spec.to_string(),
                method,
                alpha,
                backend: backend.name(),
                products: count,
                products_per_second: speed,
                passed: mismatch.is_none(),
                mismatch,
            }
        };
        Ok(self.backends.iter().map(row).collect())
    }
}

/// Extremes and pseudo-random operands, the more the smaller the ring, with the oracle's products.
fn by_oracle<W: Word>(ring: &UserRing<W>) -> Result<Products<W>, karat::Error> {
    let spec = karat::Ring::spec(ring);
    let count = ((1 << 24) / (spec.n() * spec.n())).clamp(EXTREMES + 2, 256);
    let (a, b) = operands(spec, count, 1);
    let oracle = RingContext::new(Reference, ring.clone())?;
    let c = oracle.mul(&oracle.upload(&a)?, &oracle.upload(&b)?)?.download()?;
    Ok(Products { a, b, c })
}

/// What one backend gave in one ring.
struct Comparison<W: Word> {
    ring: RingContext<AnyBackend, UserRing<W>>,
    products: u64,
    mismatch: Option<String>,
}

/// Products that are also computed alone: small single ones take a way of their own.
const SINGLES: usize = 4;

impl<W: Word> Comparison<W> {
    /// Whole products in a batch, some alone, and all through the transform domain.
    fn compare(&mut self, what: &str, right: &Products<W>) -> Result<(), karat::Error> {
        let n = karat::Ring::spec(self.ring.ring()).n();
        let ring = self.ring.clone();
        let (a, b) = (ring.upload(&right.a)?, ring.upload(&right.b)?);
        self.look(what, "in a batch", 0, &ring.mul(&a, &b)?.download()?, &right.c);
        let domain = ring.intt(&ring.pointwise(&ring.ntt(&a)?, &ring.ntt(&b)?)?)?.download()?;
        self.look(what, "through the transform domain", 0, &domain, &right.c);
        let singles = right.a.chunks_exact(n).zip(right.b.chunks_exact(n)).zip(right.c.chunks_exact(n));
        for (i, ((a, b), c)) in singles.enumerate().take(SINGLES) {
            let product = ring.mul(&ring.upload(a)?, &ring.upload(b)?)?.download()?;
            self.look(what, "alone", i, &product, c);
        }
        Ok(())
    }

    /// Compares products, the first of which has the number `first`, and keeps the first mismatch.
    fn look(&mut self, what: &str, how: &str, first: usize, got: &[W], expected: &[W]) {
        let n = karat::Ring::spec(self.ring.ring()).n();
        self.products += (expected.len() / n) as u64;
        let Some(i) = got.iter().zip(expected).position(|(got, expected)| got != expected) else { return };
        let (product, index) = (first + i / n, i % n);
        self.mismatch.get_or_insert_with(|| {
            format!("{what}, {how}: product {product}, coefficient {index} is {}, not {}", got[i], expected[i])
        });
    }

    /// Products per second, in batches.
    fn speed(&self, products: &Products<W>) -> Result<f64, karat::Error> {
        let ring = &self.ring;
        let (a, b) = (ring.upload(&products.a)?, ring.upload(&products.b)?);
        let mut c: PolyBatch<_, _, Coeff, Public> = ring.zeros(a.batch())?;
        let (start, mut batches) = (Instant::now(), 0.0);
        loop {
            ring.mul_into(&a, &b, &mut c)?;
            batches += 1.0;
            if start.elapsed() >= Duration::from_millis(20) {
                return Ok(batches * a.batch() as f64 / start.elapsed().as_secs_f64());
            }
        }
    }
}
