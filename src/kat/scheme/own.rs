//! This crate's own schemes under test.

use std::string::{String, ToString};
use std::vec::Vec;

use super::{Answer, Case, Implementation};
use crate::ring::presets::{MlDsa, MlKem};
use crate::schemes::mldsa::{self, Dsa, Input, PreHash};
use crate::schemes::mlkem::{self, Kem};
use crate::schemes::{Array, Error};
use crate::{AnyBackend, Cpu, RingContext};

/// karat's schemes: single calls on the CPU, or batched calls on any backend.
///
/// ```
/// use karat::{AnyBackend, kat::scheme::{Answer, Case, Expected, Implementation, Own}};
/// let case = Case {
///     scheme: "ML-KEM-512".into(),
///     op: "check-ek".into(),
///     inputs: vec![("ek", vec![0xff; 800])],
///     expected: Expected::Refusal,
/// };
/// let mut own = Own::new(&AnyBackend::from_name("scalar")?)?;
/// assert!(matches!(own.answer(&[&case])[0], Answer::Refusal(_)));
/// # Ok::<(), karat::Error>(())
/// ```
pub struct Own(Calls);

enum Calls {
    Single(RingContext<Cpu, MlKem>, RingContext<Cpu, MlDsa>),
    Batched(RingContext<AnyBackend, MlKem>, RingContext<AnyBackend, MlDsa>, usize),
}

impl Own {
    /// Single calls where the backend is the CPU, batches of one elsewhere.
    ///
    /// # Errors
    /// Where the backend cannot multiply in the rings.
    pub fn new(backend: &AnyBackend) -> crate::Result<Self> {
        match backend {
            AnyBackend::Cpu(cpu) => {
                Ok(Self(Calls::Single(RingContext::new(*cpu, MlKem)?, RingContext::new(*cpu, MlDsa)?)))
            }
            other => Self::batched(other, 1),
        }
    }

    /// Batched calls, `batch` cases at once where neighbours are of one kind.
    ///
    /// # Errors
    /// As [`Own::new`].
    pub fn batched(backend: &AnyBackend, batch: usize) -> crate::Result<Self> {
        let kem = RingContext::new(backend.clone(), MlKem)?;
        Ok(Self(Calls::Batched(kem, RingContext::new(backend.clone(), MlDsa)?, batch.max(1))))
    }
}

impl Implementation for Own {
    fn batch(&self) -> usize {
        match &self.0 {
            Calls::Single(..) => 1,
            Calls::Batched(_, _, batch) => *batch,
        }
    }

    fn answer(&mut self, cases: &[&Case]) -> Vec<Answer> {
        // Neighbours of one kind go together.
        let groups = cases.chunk_by(|a, b| {
            a.scheme == b.scheme && a.op == b.op && a.input("seed").is_some() == b.input("seed").is_some()
        });
        groups.flat_map(|group| self.answer_group(group)).collect()
    }
}

impl Own {
    fn answer_group(&self, cases: &[&Case]) -> Vec<Answer> {
        match cases[0].scheme.as_str() {
            "ML-KEM-512" => self.kem::<mlkem::MlKem512Params>(cases),
            "ML-KEM-768" => self.kem::<mlkem::MlKem768Params>(cases),
            "ML-KEM-1024" => self.kem::<mlkem::MlKem1024Params>(cases),
            "Kyber512" => self.kem::<mlkem::Kyber512Params>(cases),
            "Kyber768" => self.kem::<mlkem::Kyber768Params>(cases),
            "Kyber1024" => self.kem::<mlkem::Kyber1024Params>(cases),
            "ML-DSA-44" => self.dsa::<mldsa::MlDsa44Params>(cases),
            "ML-DSA-65" => self.dsa::<mldsa::MlDsa65Params>(cases),
            "ML-DSA-87" => self.dsa::<mldsa::MlDsa87Params>(cases),
            "Dilithium2" => self.dsa::<mldsa::Dilithium2Params>(cases),
            "Dilithium3" => self.dsa::<mldsa::Dilithium3Params>(cases),
            "Dilithium5" => self.dsa::<mldsa::Dilithium5Params>(cases),
            other => cases.iter().map(|_| unknown(std::format!("scheme `{other}`"))).collect(),
        }
    }

    fn kem<P: mlkem::Parameters>(&self, cases: &[&Case]) -> Vec<Answer> {
        match &self.0 {
            Calls::Single(ring, _) => {
                let kem = Kem::<P>::with_ring(ring.clone());
                cases.iter().map(|case| single_kem(&kem, case).unwrap_or_else(refusal)).collect()
            }
            Calls::Batched(ring, ..) => {
                let kem = Kem::<P, AnyBackend>::with_ring(ring.clone());
                batched_kem(&kem, cases).unwrap_or_else(|error| failures(cases, &error))
            }
        }
    }

    fn dsa<P: mldsa::Parameters>(&self, cases: &[&Case]) -> Vec<Answer> {
        match &self.0 {
            Calls::Single(_, ring) => {
                let dsa = Dsa::<P>::with_ring(ring.clone());
                cases.iter().map(|case| single_dsa(&dsa, case).unwrap_or_else(refusal)).collect()
            }
            Calls::Batched(_, ring, _) => {
                let dsa = Dsa::<P, AnyBackend>::with_ring(ring.clone());
                batched_dsa(&dsa, cases).unwrap_or_else(|error| failures(cases, &error))
            }
        }
    }
}

fn unknown(what: impl Into<String>) -> Answer {
    Answer::Unknown(what.into() + ", which karat does not have")
}

fn refusal(error: Error) -> Answer {
    Answer::Refusal(error.to_string())
}

/// A batched call that fails as a whole is no refusal.
fn failures(cases: &[&Case], error: &Error) -> Vec<Answer> {
    cases.iter().map(|_| Answer::Failure(error.to_string())).collect()
}

fn values<const LEN: usize>(values: [(&str, &[u8]); LEN]) -> Answer {
    Answer::Values(values.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

fn input<'a>(case: &'a Case, name: &str) -> &'a [u8] {
    case.input(name).unwrap_or_default()
}

/// An input of fixed length.
fn fixed<const LEN: usize>(case: &Case, name: &'static str) -> Result<[u8; LEN], Error> {
    let bytes = input(case, name);
    bytes.try_into().map_err(|_| Error::WrongLength { what: name, expected: LEN, got: bytes.len() })
}

/// Randomness of a signature: absent means deterministic.
fn rnd(case: &Case) -> Result<[u8; 32], Error> {
    if case.input("rnd").is_some() { fixed(case, "rnd") } else { Ok([0; 32]) }
}

fn halves(seed: &[u8; 64]) -> (&[u8; 32], &[u8; 32]) {
    let halves = seed.as_chunks().0;
    (&halves[0], &halves[1])
}

fn single_kem<P: mlkem::Parameters>(kem: &Kem<P>, case: &Case) -> Result<Answer, Error> {
    let keygen = || {
        let seed = fixed::<64>(case, "seed")?;
        let (d, z) = halves(&seed);
        Ok::<_, Error>(kem.keygen(d, z))
    };
    Ok(match case.op.as_str() {
        "keygen" => {
            let (ek, dk) = keygen()?;
            values([("ek", ek.as_ref()), ("dk", dk.as_ref())])
        }
        "encaps" => {
            let (c, k) = kem.encaps(input(case, "ek"), &fixed(case, "m")?)?;
            values([("c", c.as_ref()), ("k", &k)])
        }
        "decaps" if case.input("seed").is_some() => {
            let (_, dk) = keygen()?;
            values([("k", &kem.decaps(dk.as_ref(), input(case, "c"))?)])
        }
        "decaps" => values([("k", &kem.decaps(input(case, "dk"), input(case, "c"))?)]),
        "check-ek" => kem.encapsulation_key(input(case, "ek")).map(|_| values([]))?,
        "check-dk" => kem.decapsulation_key(input(case, "dk")).map(|_| values([]))?,
        other => unknown(std::format!("operation `{other}` of ML-KEM")),
    })
}

/// Calls `work` with the good inputs of a batch, and puts the refusals of the others in their places.
fn with_good<T, O>(
    cases: &[&Case],
    read: impl Fn(&Case) -> Result<T, Error>,
    work: impl FnOnce(Vec<(&Case, T)>) -> Result<Vec<Result<O, Error>>, Error>,
    show: impl Fn(O) -> Answer,
) -> Result<Vec<Answer>, Error> {
    let read: Vec<_> = cases.iter().map(|case| read(case).map(|value| (*case, value))).collect();
    let states: Vec<_> = read.iter().map(|value| value.as_ref().map(|_| ()).map_err(Error::clone)).collect();
    let mut results = work(read.into_iter().flatten().collect())?.into_iter();
    let answer = |state: Result<(), Error>| match state {
        Err(error) => refusal(error),
        Ok(()) => match results.next() {
            Some(result) => result.map_or_else(refusal, &show),
            None => Answer::Failure("a batch gave too few results".into()),
        },
    };
    Ok(states.into_iter().map(answer).collect())
}

fn batched_kem<P: mlkem::Parameters>(kem: &Kem<P, AnyBackend>, cases: &[&Case]) -> Result<Vec<Answer>, Error> {
    let seed = |case: &Case| fixed::<64>(case, "seed");
    match cases[0].op.as_str() {
        "keygen" => with_good(
            cases,
            seed,
            |good| {
                let seeds: Vec<_> = good.iter().map(|(_, seed)| *seed).collect();
                Ok(kem.keygen_batch(&seeds)?.into_iter().map(Ok).collect())
            },
            |(ek, dk)| values([("ek", ek.as_ref()), ("dk", dk.as_ref())]),
        ),
        "encaps" => with_good(
            cases,
            |case| fixed::<32>(case, "m"),
            |good| {
                let (eks, ms): (Vec<_>, Vec<_>) = good.iter().map(|(case, m)| (input(case, "ek"), *m)).unzip();
                kem.encaps_batch(&eks, &ms)
            },
            |(c, k)| values([("c", c.as_ref()), ("k", &k)]),
        ),
        "decaps" if cases[0].input("seed").is_some() => with_good(
            cases,
            seed,
            |good| {
                let seeds: Vec<_> = good.iter().map(|(_, seed)| *seed).collect();
                let dks: Vec<_> = kem.keygen_batch(&seeds)?.into_iter().map(|(_, dk)| dk).collect();
                let cts: Vec<_> = good.iter().map(|(case, _)| input(case, "c")).collect();
                kem.decaps_batch(&dks, &cts)
            },
            |k| values([("k", &k)]),
        ),
        "decaps" => with_good(
            cases,
            |_| Ok(()),
            |good| {
                let (dks, cts): (Vec<_>, Vec<_>) =
                    good.iter().map(|(case, ())| (input(case, "dk"), input(case, "c"))).unzip();
                kem.decaps_batch(&dks, &cts)
            },
            |k| values([("k", &k)]),
        ),
        "check-ek" => with_good(
            cases,
            |_| Ok(()),
            |good| {
                let eks: Vec<_> = good.iter().map(|(case, ())| input(case, "ek")).collect();
                kem.encaps_batch(&eks, &std::vec![[0; 32]; eks.len()])
            },
            |_| values([]),
        ),
        "check-dk" => with_good(
            cases,
            |_| Ok(()),
            |good| {
                let dks: Vec<_> = good.iter().map(|(case, ())| input(case, "dk")).collect();
                kem.decaps_batch(&dks, &std::vec![P::Ct::filled(0); dks.len()])
            },
            |_| values([]),
        ),
        other => Ok(cases.iter().map(|_| unknown(std::format!("operation `{other}` of ML-KEM"))).collect()),
    }
}

/// What an operation of ML-DSA signs; `None` for an unknown form.
fn signed<'a>(case: &'a Case, form: &str) -> Option<Input<'a>> {
    let (message, context) = (input(case, "message"), input(case, "context"));
    Some(match form {
        "" => Input::Message { message, context },
        "-internal" => Input::Internal(message),
        "-mu" => Input::Mu(input(case, "mu")),
        _ => Input::Hashed { hash: PreHash::from_name(form.strip_prefix("-hash:")?)?, message, context },
    })
}

fn forms<'a>(cases: &[&'a Case], form: &str) -> Vec<Input<'a>> {
    cases.iter().filter_map(|case| signed(case, form)).collect()
}

fn single_dsa<P: mldsa::Parameters>(dsa: &Dsa<P>, case: &Case) -> Result<Answer, Error> {
    let op = case.op.as_str();
    if op == "keygen" {
        let (pk, sk) = dsa.keygen(&fixed(case, "seed")?);
        return Ok(values([("pk", pk.as_ref()), ("sk", sk.as_ref())]));
    }
    if let Some(signed) = op.strip_prefix("sign").and_then(|form| signed(case, form)) {
        let signature = if case.input("seed").is_some() {
            let (_, sk) = dsa.keygen(&fixed(case, "seed")?);
            dsa.sign_input(sk.as_ref(), signed, &rnd(case)?)?
        } else {
            dsa.sign_input(input(case, "sk"), signed, &rnd(case)?)?
        };
        return Ok(values([("signature", signature.as_ref())]));
    }
    if let Some(signed) = op.strip_prefix("verify").and_then(|form| signed(case, form)) {
        dsa.verify_input(input(case, "pk"), signed, input(case, "signature"))?;
        return Ok(values([]));
    }
    Ok(unknown(std::format!("operation `{op}` of ML-DSA")))
}

fn batched_dsa<P: mldsa::Parameters>(dsa: &Dsa<P, AnyBackend>, cases: &[&Case]) -> Result<Vec<Answer>, Error> {
    let op = cases[0].op.as_str();
    let seed = |case: &Case| fixed::<32>(case, "seed");
    if op == "keygen" {
        return with_good(
            cases,
            seed,
            |good| {
                let seeds: Vec<_> = good.iter().map(|(_, seed)| *seed).collect();
                Ok(dsa.keygen_batch(&seeds)?.into_iter().map(Ok).collect())
            },
            |(pk, sk)| values([("pk", pk.as_ref()), ("sk", sk.as_ref())]),
        );
    }
    let form = op.strip_prefix("sign").or_else(|| op.strip_prefix("verify"));
    let Some(form) = form.filter(|form| signed(cases[0], form).is_some()) else {
        return Ok(cases.iter().map(|_| unknown(std::format!("operation `{op}` of ML-DSA"))).collect());
    };
    if op.starts_with("verify") {
        return with_good(
            cases,
            |_| Ok(()),
            |good| {
                let good: Vec<&Case> = good.into_iter().map(|(case, ())| case).collect();
                let pks: Vec<_> = good.iter().map(|case| input(case, "pk")).collect();
                let signatures: Vec<_> = good.iter().map(|case| input(case, "signature")).collect();
                dsa.verify_batch(&pks, &forms(&good, form), &signatures)
            },
            |()| values([]),
        );
    }
    let read = |case: &Case| {
        let seed = case.input("seed").map(|_| fixed::<32>(case, "seed")).transpose()?;
        Ok((rnd(case)?, seed))
    };
    with_good(
        cases,
        read,
        |good| {
            let seeds: Vec<_> = good.iter().filter_map(|(_, (_, seed))| *seed).collect();
            let made: Vec<_> = dsa.keygen_batch(&seeds)?.into_iter().map(|(_, sk)| sk).collect();
            let sks: Vec<&[u8]> = match made.is_empty() {
                true => good.iter().map(|(case, _)| input(case, "sk")).collect(),
                false => made.iter().map(AsRef::as_ref).collect(),
            };
            let rnds: Vec<_> = good.iter().map(|(_, (rnd, _))| *rnd).collect();
            let cases: Vec<_> = good.iter().map(|(case, _)| *case).collect();
            dsa.sign_batch(&sks, &forms(&cases, form), &rnds)
        },
        |signature| values([("signature", signature.as_ref())]),
    )
}
