//! `karat mul`: products of polynomials from files.

use karat::arith::Word;
use karat::{AnyBackend, Backend, RingContext, UserRing};
use serde::Serialize;

use crate::args::{BackendArgs, RingArgs};
use crate::failure::Failure;
use crate::output::{Output, Summary, progress};
use crate::poly::{Format, PolySource};
use crate::sink::{PolySink, deliver};
use crate::staged::Staged;
use crate::word::{WithWord, with_word};

/// Multiply polynomials: c[i] = a[i] * b[i].
///
/// Text holds one polynomial a line, N space-separated decimal coefficients, lowest degree first; empty lines and what
/// follows a # are skipped. A file name in .npy means a NumPy array: C order, shape (N,) or (batch, N), any integer
/// type; arrays are written as 64-bit integers. Both inputs hold equally many polynomials, as many as you like: they
/// are never in memory as a whole. The output appears at the end, and only if all input was good.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    ring: RingArgs,
    #[command(flatten)]
    backend: BackendArgs,
    /// First factors; - is standard input.
    #[arg(long, value_name = "FILE")]
    a: String,
    /// Second factors; - is standard input.
    #[arg(long, value_name = "FILE")]
    b: String,
    /// Where the products go [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// Coefficients are signed: read from [-q/2, q/2], written in (-q/2, q/2].
    #[arg(long, alias = "centered")]
    centred: bool,
}

/// What was done, where the products themselves are elsewhere.
#[derive(Serialize)]
struct Row<'a> {
    ring: String,
    method: &'static str,
    alpha: Option<u32>,
    backend: &'static str,
    products: u64,
    out: Option<&'a str>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    if args.a == "-" && args.b == "-" {
        return Err(Failure::Usage("only one of --a and --b can be standard input".into()));
    }
    let spec = args.ring.spec()?;
    let backend = args.backend.backend()?;
    let format = Format { n: spec.n(), q: spec.q(), centred: args.centred };
    let (method, alpha) = spec.method().label();
    let mut row =
        Row { ring: spec.to_string(), method, alpha, backend: backend.name(), products: 0, out: args.out.as_deref() };
    let mut staged = Staged::new(args.out.as_deref())?;
    row.products = with_word(&spec, Mul { args, backend, format, json: out.json(), staged: &mut staged })?;
    deliver(staged, out, &row, Summary { passed: row.products, ..Summary::default() })
}

struct Mul<'a> {
    args: &'a Args,
    backend: AnyBackend,
    format: Format,
    json: bool,
    staged: &'a mut Staged,
}

impl WithWord for Mul<'_> {
    type Output = u64;

    fn run<W: Word>(self, ring: UserRing<W>) -> Result<u64, Failure> {
        let context = RingContext::new(self.backend, ring)?;
        let mut a = PolySource::open(&self.args.a, self.format)?;
        let mut b = PolySource::open(&self.args.b, self.format)?;
        let mut sink = PolySink::new(self.staged, self.format, self.json, a.is_flat() && b.is_flat())?;
        let bar = progress(None, "multiplying");
        let (mut residues, mut words) = (Vec::new(), [Vec::new(), Vec::new()]);
        let mut products = 0;
        loop {
            let mut counts = [0, 0];
            for ((source, words), count) in [&mut a, &mut b].into_iter().zip(&mut words).zip(&mut counts) {
                residues.clear();
                *count = source.read(self.format.chunk(), &mut residues)?;
                words.clear();
                words.extend(residues.iter().map(|c| W::from_u64(*c)));
            }
            if counts[0] != counts[1] {
                let [a_count, b_count] = [(&mut a, counts[0]), (&mut b, counts[1])]
                    .map(|(source, count)| Ok::<_, Failure>(products + count as u64 + rest(source, self.format)?));
                return Err(Failure::Usage(format!(
                    "{} holds {} polynomials and {} holds {}: both must hold equally many",
                    a.name(),
                    a_count?,
                    b.name(),
                    b_count?
                )));
            }
            if counts[0] == 0 {
                break;
            }
            let product = context.mul(&context.upload(&words[0])?, &context.upload(&words[1])?)?;
            sink.write(&product.download()?)?;
            products += counts[0] as u64;
            bar.set_position(products);
        }
        bar.finish_and_clear();
        sink.finish()?;
        match products {
            0 => Err(Failure::Usage(format!("{} and {} hold no polynomial", a.name(), b.name()))),
            _ => Ok(products),
        }
    }
}

/// Counts the polynomials that are left.
fn rest(source: &mut PolySource, format: Format) -> Result<u64, Failure> {
    let (mut total, mut unused) = (0, Vec::new());
    loop {
        unused.clear();
        match source.read(format.chunk(), &mut unused)? {
            0 => return Ok(total),
            count => total += count as u64,
        }
    }
}
