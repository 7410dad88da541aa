//! Digests over many operations, as the C2SP community vectors define them: one SHAKE-128 stream gives the
//! randomness, another absorbs every result. The values for 100 and 10,000 ML-DSA rounds are those of
//! <https://github.com/C2SP/CCTV>; the ML-KEM values are of final FIPS 203 (the page there has the draft's), computed
//! with three independent implementations.

use karat::Cpu;
use karat::schemes::Array;

use karat::schemes::mldsa::{self, Dsa};
use karat::schemes::mlkem::{self, Kem};
use sha2::{Digest, Sha256};
use shake::{ExtendableOutput, Shake128, Shake128Reader, Update, XofReader};

fn draw<const LEN: usize>(stream: &mut Shake128Reader) -> [u8; LEN] {
    let mut out = [0; LEN];
    stream.read(&mut out);
    out
}

fn kem<P: mlkem::Parameters>(rounds: usize) -> String {
    let kem = Kem::<P>::new(Cpu::new()).unwrap();
    let mut stream = Shake128::default().finalize_xof();
    let mut results = Shake128::default();
    for _ in 0..rounds {
        let (d, z, m) = (draw(&mut stream), draw(&mut stream), draw(&mut stream));
        let mut random = P::Ct::filled(0);
        stream.read(random.as_mut());
        let (ek, dk) = kem.keygen(&d, &z);
        let (ciphertext, secret) = kem.encaps(ek.as_ref(), &m).unwrap();
        assert_eq!(kem.decaps(dk.as_ref(), ciphertext.as_ref()), Ok(secret));
        let rejected = kem.decaps(dk.as_ref(), random.as_ref()).unwrap();
        for part in [ek.as_ref(), dk.as_ref(), ciphertext.as_ref(), &secret, &rejected] {
            Update::update(&mut results, part);
        }
    }
    hex::encode(draw::<32>(&mut results.finalize_xof()))
}

#[test]
fn ml_kem_512() {
    assert_eq!(kem::<mlkem::MlKem512Params>(100), "449120c6e320ef3e9fbfa2316e5f2d2e1e6dd37d8ff5d086d5d2db7d42aff0a1");
    assert_eq!(kem::<mlkem::MlKem512Params>(10000), "705dcffc87f4e67e35a09dcaa31772e86f3341bd3ccf1e78a5fef99ae6a35a13");
}

#[test]
fn ml_kem_768() {
    assert_eq!(kem::<mlkem::MlKem768Params>(100), "8d65b902f28edc683cebee2872962fd165a4d197c9e24ec74caa4470270df0b7");
    assert_eq!(kem::<mlkem::MlKem768Params>(10000), "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1");
}

#[test]
fn ml_kem_1024() {
    assert_eq!(kem::<mlkem::MlKem1024Params>(100), "c3ffe9ebecfa479c142656cbfbc6417efa05b77e994fe538eef4daed166363df");
    assert_eq!(
        kem::<mlkem::MlKem1024Params>(10000),
        "e3bf82b013307b2e9d47dde791ff6dfc82e694e6382404abdb948b908b75bad5"
    );
}

fn dsa<P: mldsa::Parameters>(rounds: usize) -> String {
    let dsa = Dsa::<P>::new(Cpu::new()).unwrap();
    let mut stream = Shake128::default().finalize_xof();
    let mut results = Shake128::default();
    for _ in 0..rounds {
        let (pk, sk) = dsa.keygen(&draw(&mut stream));
        let signature = dsa.sign(sk.as_ref(), b"", b"", &[0; 32]).unwrap();
        assert_eq!(dsa.verify(pk.as_ref(), b"", b"", signature.as_ref()), Ok(()));
        Update::update(&mut results, pk.as_ref());
        Update::update(&mut results, signature.as_ref());
    }
    hex::encode(draw::<32>(&mut results.finalize_xof()))
}

#[test]
fn ml_dsa_44() {
    assert_eq!(dsa::<mldsa::MlDsa44Params>(100), "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4");
    assert_eq!(dsa::<mldsa::MlDsa44Params>(10000), "e7fd21f6a59bcba60d65adc44404bb29a7c00e5d8d3ec06a732c00a306a7d143");
}

#[test]
fn ml_dsa_65() {
    assert_eq!(dsa::<mldsa::MlDsa65Params>(100), "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199");
    assert_eq!(dsa::<mldsa::MlDsa65Params>(10000), "5ff5e196f0b830c3b10a9eb5358e7c98a3a20136cb677f3ae3b90175c3ace329");
}

#[test]
fn ml_dsa_87() {
    assert_eq!(dsa::<mldsa::MlDsa87Params>(100), "8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b");
    assert_eq!(dsa::<mldsa::MlDsa87Params>(10000), "80a8cf39317f7d0be0e24972c51ac152bd2a3e09bc0c32ce29dd82c4e7385e60");
}

/// The 10,000 runs of the reference implementation's test program (github.com/pq-crystals/kyber, `SHA256SUMS`): its
/// randomness is the SHAKE-128 stream of the empty string.
fn reference<P: mlkem::Parameters>() -> String {
    let kem = Kem::<P>::new(Cpu::new()).unwrap();
    let mut stream = Shake128::default().finalize_xof();
    let mut sha = Sha256::new();
    let mut line =
        |name: &str, value: &[u8]| sha2::Digest::update(&mut sha, format!("{name}: {}\n", hex::encode(value)));
    for _ in 0..10_000 {
        let (ek, dk) = kem.keygen(&draw(&mut stream), &draw(&mut stream));
        line("Public Key", ek.as_ref());
        line("Secret Key", dk.as_ref());
        let (ciphertext, secret) = kem.encaps(ek.as_ref(), &draw(&mut stream)).unwrap();
        line("Ciphertext", ciphertext.as_ref());
        line("Shared Secret B", &secret);
        line("Shared Secret A", &kem.decaps(dk.as_ref(), ciphertext.as_ref()).unwrap());
        let mut random = P::Ct::filled(0);
        stream.read(random.as_mut());
        line("Pseudorandom shared Secret A", &kem.decaps(dk.as_ref(), random.as_ref()).unwrap());
    }
    hex::encode(sha.finalize())
}

#[test]
fn reference_runs_512() {
    assert_eq!(
        reference::<mlkem::MlKem512Params>(),
        "4d34994299a8f8dcb36c550951a00f6e16918d6d5b6f280ee2aa12a7bf8375a0"
    );
}

#[test]
fn reference_runs_768() {
    assert_eq!(
        reference::<mlkem::MlKem768Params>(),
        "b59ac4d2b429b1f8c3b8a5542fb638179da2fd8b1212891d2f976e70e219fed1"
    );
}

#[test]
fn reference_runs_1024() {
    assert_eq!(
        reference::<mlkem::MlKem1024Params>(),
        "3f577090c7cb7a345ce0417a2a2353153a9f1b8d79f8d927cb6a7b4ec17fd2a1"
    );
}
