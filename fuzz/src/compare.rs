//! Comparisons whose failure says everything that is needed to repeat it.

use karat::arith::Word;
use karat::{AnyBackend, Cpu, RingSpec};

/// Panics with ring, method and first difference unless both are equal.
pub fn equal<W: Word>(what: &str, ring: &RingSpec, got: &[W], expected: &[W]) {
    assert_eq!(got.len(), expected.len(), "{what} in {}: wrong length", describe::<W>(ring));
    let differs = got.iter().zip(expected).position(|(g, e)| g != e);
    if let Some(index) = differs {
        let (g, e) = (got[index], expected[index]);
        panic!("{what} in {}: value {index} is {g}, expected {e}", describe::<W>(ring));
    }
}

/// The ring, its method and its word.
pub fn describe<W: Word>(ring: &RingSpec) -> String {
    format!("{ring} ({}, {}-bit words)", ring.method(), W::WIDTH)
}

/// Every CPU backend that this machine has.
pub fn cpu_backends() -> Vec<(&'static str, AnyBackend)> {
    let all = AnyBackend::all().into_iter();
    all.filter_map(|(name, backend)| Some((name, backend.ok()?))).filter(|(name, _)| *name != "reference").collect()
}

/// The CPU at each of its levels.
pub fn cpus() -> Vec<(&'static str, Cpu)> {
    let cpu = |(name, backend)| match backend {
        AnyBackend::Cpu(cpu) => Some((name, cpu)),
        _ => None,
    };
    cpu_backends().into_iter().filter_map(cpu).collect()
}

/// Calls a generic function with the ring's smallest word or a wider one, as the fuzzer says.
#[macro_export]
macro_rules! with_word {
    ($u:expr, $spec:expr, $function:ident) => {{
        let spec = $spec;
        let fitting: Vec<u32> = [16, 32, 64].into_iter().filter(|bits| *bits >= spec.word_bits()).collect();
        match *$u.choose(&fitting)? {
            16 => $function::<u16>($u, spec),
            32 => $function::<u32>($u, spec),
            _ => $function::<u64>($u, spec),
        }
    }};
}
