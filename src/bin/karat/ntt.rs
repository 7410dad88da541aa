//! `karat ntt`: transforms of polynomials from a file.

use clap::ValueEnum;
use karat::arith::Word;
use karat::ring::ntt::{self, Ntt};
use karat::{AnyBackend, Backend, RingContext, RingSpec, UserRing};
use serde::Serialize;

use crate::args::{BackendArgs, RingArgs};
use crate::failure::Failure;
use crate::output::{Output, Summary, progress};
use crate::poly::{Format, PolySource};
use crate::sink::{PolySink, deliver};
use crate::staged::Staged;
use crate::word::{WithWord, with_word};

/// Transform polynomials over the ring's own modulus, to check an implementation against.
///
/// A slot holds the residue modulo x^w - z, w = 2^alpha coefficients (times the odd part of N), lowest degree first;
/// `karat rings RING` shows the root gamma. Input and output are as in `karat mul`. Rings that are multiplied by a lift
/// have no such transform.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    ring: RingArgs,
    #[command(flatten)]
    backend: BackendArgs,
    /// From the transform domain back to coefficients, scaled.
    #[arg(long)]
    inverse: bool,
    /// Order of the slots [default: standard where the ring has one, else bitrev].
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// What to transform; - is standard input.
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    input: String,
    /// Where the results go [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// Coefficients and values are signed: read from [-q/2, q/2], written in (-q/2, q/2].
    #[arg(long, alias = "centered")]
    centred: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// The ring's own standard (FIPS 203, FIPS 204).
    Standard,
    /// Slot t holds the residue modulo x^w - gamma^(2t+1); for x^N - 1, gamma^t.
    Natural,
    /// The order in which the butterfly layers leave the slots.
    Bitrev,
}

impl Order {
    fn of(self) -> ntt::Order {
        match self {
            Self::Standard => ntt::Order::Standard,
            Self::Natural => ntt::Order::Natural,
            Self::Bitrev => ntt::Order::BitReversed,
        }
    }

    /// The standard order where the ring has one.
    fn default_for(spec: &RingSpec, tables: &Ntt) -> Self {
        match ntt::Order::Standard.position(spec, tables, 0) {
            Ok(_) => Self::Standard,
            Err(_) => Self::Bitrev,
        }
    }
}

/// What was done, where the values themselves are elsewhere.
#[derive(Serialize)]
struct Row<'a> {
    ring: String,
    method: &'static str,
    alpha: Option<u32>,
    backend: &'static str,
    inverse: bool,
    order: Order,
    transforms: u64,
    out: Option<&'a str>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let spec = args.ring.spec()?;
    let backend = args.backend.backend()?;
    let tables = Ntt::of_ring(&spec)?;
    let order = args.order.unwrap_or_else(|| Order::default_for(&spec, &tables));
    let positions =
        (0..tables.shape().points).map(|t| order.of().position(&spec, &tables, t)).collect::<Result<Vec<_>, _>>()?;
    let slots = Slots { width: tables.shape().width, positions };
    let format = Format { n: spec.n(), q: spec.q(), centred: args.centred };
    let (method, alpha) = spec.method().label();
    let mut row = Row {
        ring: spec.to_string(),
        method,
        alpha,
        backend: backend.name(),
        inverse: args.inverse,
        order,
        transforms: 0,
        out: args.out.as_deref(),
    };
    let mut staged = Staged::new(args.out.as_deref())?;
    let code = Transform { args, backend, format, slots, json: out.json(), staged: &mut staged };
    row.transforms = with_word(&spec, code)?;
    deliver(staged, out, &row, Summary { passed: row.transforms, ..Summary::default() })
}

/// Where the slots of the bit-reversed order stand in the wanted one.
struct Slots {
    width: usize,
    positions: Vec<usize>,
}

impl Slots {
    /// From the wanted order to the bit-reversed one (`back`), or the other way.
    fn permute<W: Word>(&self, from: &[W], back: bool) -> Vec<W> {
        let (width, n) = (self.width, self.width * self.positions.len());
        let mut out = vec![W::ZERO; from.len()];
        for (from, out) in from.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
            for (t, position) in self.positions.iter().enumerate() {
                let (source, target) = if back { (*position, t) } else { (t, *position) };
                out[target * width..][..width].copy_from_slice(&from[source * width..][..width]);
            }
        }
        out
    }
}

struct Transform<'a> {
    args: &'a Args,
    backend: AnyBackend,
    format: Format,
    slots: Slots,
    json: bool,
    staged: &'a mut Staged,
}

impl WithWord for Transform<'_> {
    type Output = u64;

    fn run<W: Word>(self, ring: UserRing<W>) -> Result<u64, Failure> {
        let context = RingContext::new(self.backend, ring)?;
        let mut source = PolySource::open(&self.args.input, self.format)?;
        let mut sink = PolySink::new(self.staged, self.format, self.json, source.is_flat())?;
        let bar = progress(None, "transforming");
        let mut residues = Vec::new();
        let mut transforms = 0;
        loop {
            residues.clear();
            let count = source.read(self.format.chunk(), &mut residues)?;
            if count == 0 {
                break;
            }
            let words: Vec<W> = residues.iter().map(|c| W::from_u64(*c)).collect();
            let result = if self.args.inverse {
                let values = context.upload(&self.slots.permute(&words, true))?;
                context.intt(&context.import_ntt(&values)?)?.download()?
            } else {
                let values = context.export_ntt(&context.ntt(&context.upload(&words)?)?)?;
                self.slots.permute(&values.download()?, false)
            };
            sink.write(&result)?;
            transforms += count as u64;
            bar.set_position(transforms);
        }
        bar.finish_and_clear();
        sink.finish()?;
        match transforms {
            0 => Err(Failure::Usage(format!("{} holds no polynomial", source.name()))),
            _ => Ok(transforms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_move_there_and_back() {
        let slots = Slots { width: 2, positions: vec![0, 2, 1, 3] };
        let values = [0u16, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17];
        let moved = slots.permute(&values, false);
        assert_eq!(moved, [0, 1, 4, 5, 2, 3, 6, 7, 10, 11, 14, 15, 12, 13, 16, 17]);
        assert_eq!(slots.permute(&moved, true), values);
    }
}
