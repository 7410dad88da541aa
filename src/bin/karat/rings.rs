//! `karat rings`: the rings and how products in them are computed.

use karat::RingSpec;
use karat::arith::factor_vartime;
use karat::ring::{Wrap, ntt::Ntt, presets};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Summary};

/// List the rings that have names, or show one ring in detail: its method and why.
#[derive(clap::Args)]
pub struct Args {
    /// A name, or a description such as "n=1000,q=1000,f=x^1000-1".
    ring: Option<String>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    n: usize,
    q: u64,
    f: String,
    method: &'static str,
    alpha: Option<u32>,
    /// Bits of the word that stores a coefficient.
    word: u32,
    source: String,
    /// Why this method.
    why: String,
    #[serde(flatten)]
    detail: Option<Detail>,
}

/// What is shown of a single ring.
#[derive(Serialize)]
struct Detail {
    /// Prime factors of q with their exponents.
    factors: Vec<(u64, u32)>,
    transform: Option<Transform>,
}

/// The transform over the ring's own modulus.
#[derive(Serialize)]
struct Transform {
    points: usize,
    width: usize,
    layers: u32,
    gamma: u64,
    wrap: &'static str,
}

impl Row {
    fn new(spec: &RingSpec) -> Self {
        let method = spec.method();
        let (label, alpha) = method.label();
        Self {
            name: spec.name().into(),
            n: spec.n(),
            q: spec.q(),
            f: spec.f().display(spec.n()).to_string(),
            method: label,
            alpha,
            word: spec.word_bits(),
            source: spec.source().into(),
            why: method.why(spec),
            detail: None,
        }
    }
}

impl Detail {
    fn new(spec: &RingSpec) -> Result<Self, Failure> {
        let transform = match spec.method().shape() {
            None => None,
            Some(shape) => Some(Transform {
                points: shape.points,
                width: shape.width,
                layers: shape.layers(),
                gamma: Ntt::of_ring(spec)?.gamma(),
                wrap: match shape.wrap {
                    Wrap::Negacyclic => "negacyclic",
                    Wrap::Cyclic => "cyclic",
                },
            }),
        };
        Ok(Self { factors: factor_vartime(spec.q()), transform })
    }
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    match &args.ring {
        Some(ring) => one(&ring.parse()?, out)?,
        None => all(out)?,
    }
    Ok(Summary::default())
}

fn all(out: &mut Output) -> Result<(), Failure> {
    let rows: Vec<Row> = presets::all().into_iter().map(Row::new).collect();
    for row in &rows {
        out.row(row)?;
    }
    let cells = rows.into_iter().map(|row| {
        let alpha = row.alpha.map_or("-".into(), |alpha| alpha.to_string());
        let (n, q, word) = (row.n.to_string(), row.q.to_string(), row.word.to_string());
        vec![row.name, n, q, row.f, row.method.into(), alpha, word, row.source]
    });
    let header = ["name", "N", "q", "f", "method", "alpha", "word", "source"];
    out.table(&header, &["N", "q", "alpha", "word"], cells.collect())
}

fn one(spec: &RingSpec, out: &mut Output) -> Result<(), Failure> {
    let detail = Detail::new(spec)?;
    let row = Row { detail: Some(detail), ..Row::new(spec) };
    out.row(&row)?;
    let factors = |factors: &[(u64, u32)]| {
        let power = |(p, e): &(u64, u32)| if *e == 1 { p.to_string() } else { format!("{p}^{e}") };
        factors.iter().map(power).collect::<Vec<_>>().join(" * ")
    };
    if !row.name.is_empty() {
        out.line(format_args!("name    {}", row.name))?;
        out.line(format_args!("source  {}", row.source))?;
    }
    out.line(format_args!("ring    Z_q[x]/({}), N = {}", row.f, row.n))?;
    out.line(format_args!(
        "q       {} = {}",
        row.q,
        row.detail.as_ref().map_or(String::new(), |d| factors(&d.factors))
    ))?;
    out.line(format_args!("word    {} bits", row.word))?;
    out.line(format_args!("method  {}", spec.method()))?;
    out.line(format_args!("why     {}", row.why))?;
    match row.detail.and_then(|detail| detail.transform) {
        Some(t) => {
            out.line(format_args!(
                "layers  {}, {}, {} points of {} coefficients",
                t.layers, t.wrap, t.points, t.width
            ))?;
            out.line(format_args!("gamma   {}", t.gamma))
        }
        None => out.line("primes  auxiliary ones, which the backend chooses"),
    }
}
