//! `karat bench rns` on a CPU: operations of one RNS ring, each compared with the portable backend before it is timed.

mod case;

use karat::arith::Word;
use karat::rns::{RnsBasis, RnsRing, Search};
use karat::{AnyBackend, Backend, Cpu};

use super::measure::medians;
use super::{Args, Row};
use crate::failure::Failure;
use crate::output::progress;
use case::{Case, Op};

/// The ring of `karat bench rns` on a CPU.
#[derive(clap::Args)]
pub struct RingArgs {
    /// For rns on a CPU: degree, a power of two.
    #[arg(long, value_name = "N", default_value_t = 1 << 15)]
    n: usize,
    /// For rns on a CPU: primes of Q.
    #[arg(long, value_name = "COUNT", default_value_t = 18)]
    primes: usize,
    /// For rns on a CPU: special primes; a key switch takes digits of as many primes.
    #[arg(long, value_name = "COUNT", default_value_t = 6)]
    special: usize,
    /// For rns on a CPU: size of the primes; up to 31 bits lie in words of 32.
    #[arg(long, value_name = "BITS", default_value_t = 49)]
    bits: u32,
    /// For rns on a CPU: polynomials in a call of forward, inverse, convert, mod_down and rescale.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    polys: usize,
    /// For rns on a CPU: CPU backends on one thread.
    #[arg(long)]
    single_threaded: bool,
}

/// Rows, and the ids of operations that are wrong.
pub fn run(args: &Args) -> Result<(Vec<Row>, Vec<String>), Failure> {
    let ring = &args.ring;
    let q = RnsBasis::generate(ring.n, ring.bits, ring.primes, Search::Descending, &[])?;
    let p = match ring.special {
        0 => Vec::new(),
        count => RnsBasis::generate(ring.n, ring.bits, count, Search::Descending, q.primes())?.primes().to_vec(),
    };
    let alone = |backend| match backend {
        AnyBackend::Cpu(cpu) if ring.single_threaded => AnyBackend::Cpu(cpu.single_threaded()),
        other => other,
    };
    let (backend, scalar) = (alone(args.backend.backend()?), alone(AnyBackend::Cpu(Cpu::scalar())));
    match ring.bits {
        ..=31 => measure(args, RnsRing::<u32>::new(ring.n, q.primes(), &p)?, &backend, &scalar),
        _ => measure(args, RnsRing::<u64>::new(ring.n, q.primes(), &p)?, &backend, &scalar),
    }
}

fn measure<W: Word>(
    args: &Args,
    ring: RnsRing<W>,
    backend: &AnyBackend,
    scalar: &AnyBackend,
) -> Result<(Vec<Row>, Vec<String>), Failure> {
    let sizes = &args.ring;
    let name = format!("rns-{}-{}+{}x{}", sizes.n, sizes.primes, sizes.special, sizes.bits);
    let ops: Vec<(Op, String)> = Op::ALL
        .into_iter()
        .filter(|op| op.exists(&ring))
        .map(|op| (op, format!("{}/{name}/{}/{}", op.name(), backend.name(), sizes.polys)))
        .filter(|(_, id)| args.filter.as_deref().is_none_or(|text| id.contains(text)))
        .collect();
    let bar = progress(Some(ops.len() as u64), "measuring");
    let mut case = Case::new(backend, &ring, sizes.polys)?;
    let mut portable = Case::new(scalar, &ring, sizes.polys)?;
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (op, id) in ops {
        bar.set_message(op.name());
        if case.result(op)? != portable.result(op)? {
            wrong.push(id);
            continue;
        }
        let bytes = case.bytes(op);
        let mut own = || Ok(case.run(op)?);
        let (median_ns, peer_median_ns) = match backend.name() == scalar.name() {
            true => (medians([&mut own])?[0], None),
            false => {
                let mut peer = || Ok(portable.run(op)?);
                let [own, peer] = medians([&mut own, &mut peer])?;
                (own, Some(peer))
            }
        };
        // As many bytes moved by copying, half of them read.
        let mut copy = case.copy(bytes)?;
        let floor_ns = medians([&mut || Ok(copy()?)])?[0];
        rows.push(Row {
            suite: "rns",
            op: op.name(),
            ring: name.clone(),
            backend: backend.name(),
            batch: sizes.polys,
            median_ns,
            peer: peer_median_ns.map(|_| scalar.name()),
            peer_median_ns,
            ratio: peer_median_ns.map(|peer| peer / median_ns),
            floor_ns: Some(floor_ns),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok((rows, wrong))
}
