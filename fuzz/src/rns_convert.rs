//! Base conversion, rounding division and transforms of RNS rings on every CPU level, against big integers.

use arbitrary::{Result, Unstructured};
use karat::arith::Modulus;
use karat::backend::{Backend, Cpu, Erase, HostBuffer};
use karat::rns::crt::{from_residues_vartime, product, to_residues_vartime};
use karat::rns::{Drop, Limbs, RnsBasis, RnsMul, RnsRing, Rounding, Search, View, ViewMut};

use crate::compare;
use crate::operands::Random;

/// Computes in a ring that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let n = 1usize << u.int_in_range(3..=6u32)?;
    let (q, p) = (u.int_in_range(1..=5usize)?, u.int_in_range(1..=3usize)?);
    let primes = primes(u, n, q + p)?;
    let ring = RnsRing::<u64>::new(n, &primes[..q], &primes[q..]).expect("distinct NTT primes");
    let words = residues(u, n, &primes)?;
    let from_q = u.arbitrary()?;
    for (name, cpu) in compare::cpus() {
        let cpu =
            Case { name, cpu, plan: cpu.rns_plan(&ring).expect("every CPU has the ring"), ring: &ring, words: &words };
        cpu.there_and_back();
        cpu.conversions(from_q);
        cpu.divisions();
    }
    Ok(())
}

/// Distinct primes of mixed widths.
fn primes(u: &mut Unstructured, n: usize, count: usize) -> Result<Vec<u64>> {
    let mut primes = Vec::new();
    let mixed = u.arbitrary()?;
    let mut bits = u.int_in_range(20..=61u32)?;
    for _ in 0..count {
        if mixed {
            bits = u.int_in_range(20..=61u32)?;
        }
        let search = if u.arbitrary()? { Search::Ascending } else { Search::Descending };
        let basis = RnsBasis::generate(n, bits, 1, search, &primes).expect("there are primes of every width");
        primes.extend_from_slice(basis.primes());
    }
    Ok(primes)
}

/// One polynomial: random residues, all at the bound, or zero but for one.
fn residues(u: &mut Unstructured, n: usize, primes: &[u64]) -> Result<Vec<u64>> {
    let mut random = Random(u.arbitrary()?);
    let kind = u.int_in_range(0..=3u8)?;
    let lane = u.int_in_range(0..=n - 1)?;
    let word = |(limb, i): (usize, usize)| match kind {
        0 => primes[limb] - 1,
        1 => primes[limb] / 2 + random.next() % 2,
        2 => u64::from(i == lane) * (primes[limb] - 1),
        _ => random.next() % primes[limb],
    };
    Ok((0..primes.len()).flat_map(|limb| (0..n).map(move |i| (limb, i))).map(word).collect())
}

struct Case<'a> {
    name: &'a str,
    cpu: Cpu,
    plan: <Cpu as RnsMul<u64>>::RnsPlan,
    ring: &'a RnsRing<u64>,
    /// `[limb][N]`, canonical.
    words: &'a [u64],
}

impl Case<'_> {
    fn buffer(&self, words: &[u64]) -> HostBuffer<u64> {
        let mut buffer = self.cpu.alloc(words.len(), Erase::No).expect("a few words");
        self.cpu.upload(words, &mut buffer).expect("the length fits");
        buffer
    }

    /// Residues of coefficient `i` in some limbs.
    fn column(&self, words: &[u64], limbs: usize, i: usize) -> Vec<u64> {
        (0..limbs).map(|limb| words[limb * self.ring.n() + i]).collect()
    }

    fn there_and_back(&self) {
        let limbs = self.ring.full();
        let mut x = self.buffer(self.words);
        self.cpu.rns_ntt(&self.plan, limbs, 1, ViewMut::new(&mut x)).unwrap();
        self.cpu.rns_intt(&self.plan, limbs, 1, ViewMut::new(&mut x)).unwrap();
        assert!(x[..] == *self.words, "{}: transforms there and back", self.name);
    }

    /// From `Q` to `P`, or the other way.
    fn conversions(&self, from_q: bool) {
        let (n, q, all) = (self.ring.n(), self.ring.q().len(), self.ring.primes().len());
        let (from, to): (Vec<usize>, Vec<usize>) =
            if from_q { ((0..q).collect(), (q..all).collect()) } else { ((q..all).collect(), (0..q).collect()) };
        let words = &self.words[from[0] * n..][..from.len() * n];
        let (source, target) = (self.moduli(&from), self.moduli(&to));
        let whole = product(&source);
        for rounding in [Rounding::Fast, Rounding::Exact] {
            let conversion = self.cpu.rns_conversion(&self.plan, &from, &to, rounding).unwrap();
            let mut out = self.cpu.alloc(to.len() * n, Erase::No).unwrap();
            self.cpu
                .rns_convert(&self.plan, &conversion, 1, View::new(&self.buffer(words)), ViewMut::new(&mut out))
                .unwrap();
            for i in 0..n {
                let value = from_residues_vartime(&self.column(words, from.len(), i), &source).unwrap();
                let got = self.column(&out, to.len(), i);
                // value + u · whole, with one u for all primes.
                let shifts: Vec<i64> = match rounding {
                    Rounding::Fast => (0..from.len() as i64).collect(),
                    Rounding::Exact => match ratio(&value, &whole) {
                        r if r < 0.499_999 => vec![0],
                        r if r > 0.500_001 => vec![-1],
                        _ => vec![0, -1],
                    },
                };
                let base = to_residues_vartime(&value, &target).unwrap();
                let step = to_residues_vartime(&whole, &target).unwrap();
                let fits = shifts.iter().any(|shift| {
                    (0..to.len()).all(|j| {
                        let m = Modulus::<u64>::new(target[j]).unwrap();
                        got[j] == m.add(base[j], m.mul(m.from_i64_vartime(*shift), step[j]))
                    })
                });
                assert!(
                    fits,
                    "{}: {rounding:?} conversion of coefficient {i} from {source:?} to {target:?}",
                    self.name
                );
            }
        }
    }

    /// By the special primes, and by the last prime of `Q`.
    fn divisions(&self) {
        let (n, q) = (self.ring.n(), self.ring.q().len());
        self.division(self.ring.full(), q, Drop::Special, &self.words.to_vec());
        if q > 1 {
            self.division(Limbs { q, p: 0 }, q - 1, Drop::Last(1), &self.words[..q * n].to_vec());
        }
    }

    /// `(v - r) / d` for the centred remainder `r` of `v` by the product `d` of the primes behind the first `kept`.
    fn division(&self, limbs: Limbs, kept: usize, drop: Drop, words: &[u64]) {
        let n = self.ring.n();
        let primes = self.moduli(&self.ring.indices(limbs).collect::<Vec<_>>());
        let tables = self.cpu.rns_mod_down_tables(&self.plan, self.ring.q().len(), drop).unwrap();
        let mut x = self.buffer(words);
        self.cpu.rns_ntt(&self.plan, limbs, 1, ViewMut::new(&mut x)).unwrap();
        let mut out = self.cpu.alloc(kept * n, Erase::No).unwrap();
        self.cpu.rns_mod_down(&self.plan, &tables, 1, View::new(&x), ViewMut::new(&mut out)).unwrap();
        self.cpu.rns_intt(&self.plan, Limbs { q: kept, p: 0 }, 1, ViewMut::new(&mut out)).unwrap();
        let divisor = product(&primes[kept..]);
        for i in 0..n {
            let column = self.column(words, primes.len(), i);
            let rest = from_residues_vartime(&column[kept..], &primes[kept..]).unwrap();
            let negative: Vec<bool> = match ratio(&rest, &divisor) {
                r if r < 0.499_999 => vec![false],
                r if r > 0.500_001 => vec![true],
                _ => vec![false, true],
            };
            let expected = |negative: bool, j: usize| {
                let m = Modulus::<u64>::new(primes[j]).unwrap();
                let residue = |value: &[u64]| to_residues_vartime(value, &primes[j..=j]).unwrap()[0];
                let mut centred = residue(&rest);
                if negative {
                    centred = m.sub(centred, residue(&divisor));
                }
                m.mul(m.sub(column[j], centred), m.inv_vartime(residue(&divisor)).unwrap())
            };
            let fits = negative.iter().any(|negative| (0..kept).all(|j| out[j * n + i] == expected(*negative, j)));
            assert!(fits, "{}: {drop:?}, coefficient {i}, primes {primes:?}", self.name);
        }
    }

    fn moduli(&self, indices: &[usize]) -> Vec<u64> {
        indices.iter().map(|i| self.ring.prime(*i)).collect()
    }
}

/// About `a / b`, for `a < b`.
fn ratio(a: &[u64], b: &[u64]) -> f64 {
    let float = |x: &[u64]| x.iter().rev().fold(0.0, |sum, word| sum * 18_446_744_073_709_551_616.0 + *word as f64);
    float(a) / float(b)
}
