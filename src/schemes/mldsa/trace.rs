//! The internal values of 10,000 runs, against the digests that the reference implementation's authors publish for its
//! test program (github.com/pq-crystals/dilithium, `SHA256SUMS`), of round 3 and of the final standard. For Dilithium
//! they are the only public vectors.

use std::fmt::Write;
use std::string::String;

use sha2::{Digest, Sha256};
use shake::{ExtendableOutput, Shake128, Shake128Reader, Update, XofReader};

use super::round::{decompose, power2round};
use super::sample::{Expanded, challenge, mask, matrix, matrix_and_secrets};
use super::{
    Array, Coeffs, Dilithium2Params, Dilithium3Params, Dilithium5Params, Dsa, MlDsa44Params, MlDsa65Params,
    MlDsa87Params, N, Parameters, Q,
};
use crate::Cpu;
use crate::schemes::hash::{Lanes, shake256};

/// The program's randomness.
enum Random {
    /// Round 3: SHAKE-128 of the number of the draw.
    Counted(u64),
    /// Final: the SHAKE-128 stream of the empty string.
    Stream(Shake128Reader),
}

impl Random {
    fn new<P: Parameters>() -> Self {
        if P::ROUND3 { Self::Counted(0) } else { Self::Stream(Shake128::default().finalize_xof()) }
    }

    fn draw<const LEN: usize>(&mut self) -> [u8; LEN] {
        let mut out = [0; LEN];
        match self {
            Self::Counted(counter) => {
                let mut hash = Shake128::default();
                hash.update(&counter.to_le_bytes());
                hash.finalize_xof().read(&mut out);
                *counter += 1;
            }
            Self::Stream(stream) => stream.read(&mut out),
        }
        out
    }
}

fn centred(c: u32) -> i32 {
    if c > Q / 2 { c as i32 - Q as i32 } else { c as i32 }
}

/// `{value:width$}`, for a hundred million numbers.
fn number(text: &mut String, width: usize, value: i32) {
    let (mut digits, mut start, mut rest) = ([b' '; 16], 16, value.unsigned_abs());
    while rest > 0 || start == 16 {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if value < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    text.push_str(core::str::from_utf8(&digits[start.min(16 - width)..]).unwrap());
}

/// Numbers of one width, and what stands between polynomials.
fn numbers(
    text: &mut String,
    name: &str,
    width: usize,
    polynomials: &[[i32; N]],
    between: impl Fn(usize) -> &'static str,
) {
    write!(text, "{name} = ([").unwrap();
    for (i, polynomial) in polynomials.iter().enumerate() {
        for (j, c) in polynomial.iter().enumerate() {
            if j > 0 {
                text.push_str(", ");
            }
            number(text, width, *c);
        }
        text.push_str(if i + 1 == polynomials.len() { "])\n" } else { between(i) });
    }
}

fn hashed(text: &mut String, name: &str, bytes: &[u8]) {
    let mut out = [0; 32];
    shake256(&[bytes], &mut out);
    writeln!(text, "{name} = {}", hex::encode(out)).unwrap();
}

fn values(polynomials: &[Coeffs], map: impl Fn(u32) -> i32) -> Vec<[i32; N]> {
    polynomials.iter().map(|polynomial| polynomial.map(&map)).collect()
}

fn digest<P: Parameters>() -> String {
    let dsa = Dsa::<P>::new(Cpu::new()).unwrap();
    let plan = dsa.ring().plan();
    let lanes = Lanes::best();
    let (mut sha, mut random) = (Sha256::new(), Random::new::<P>());
    // The terminating zero belongs to it.
    let context: &[u8] = if P::ROUND3 { b"" } else { b"test_vectors\0" };
    let split = |c: u32| {
        if P::GAMMA2 == (Q - 1) / 88 { decompose::<{ (Q - 1) / 88 }>(c) } else { decompose::<{ (Q - 1) / 32 }>(c) }
    };
    for count in 0..10_000 {
        let mut text = format!("count = {count}\n");
        let message: [u8; 32] = random.draw();
        writeln!(text, "m = {}", hex::encode(message)).unwrap();
        let (pk, sk) = dsa.keygen(&random.draw());
        hashed(&mut text, "pk", pk.as_ref());
        hashed(&mut text, "sk", sk.as_ref());
        let rnd = if P::ROUND3 { [0; 32] } else { random.draw() };
        let signature = dsa.sign(sk.as_ref(), &message, context, &rnd).unwrap();
        hashed(&mut text, "sig", signature.as_ref());
        assert_eq!(dsa.verify(pk.as_ref(), &message, context, signature.as_ref()), Ok(()));
        let seed: [u8; 64] = random.draw();
        writeln!(text, "seed = {}", hex::encode_upper(seed)).unwrap();

        let mut a = vec![[0; N]; P::K * P::L];
        let mut a_ntt = P::Matrix::filled(super::ZERO);
        matrix::<P>(lanes, &seed[..32], &[], &mut [], |row, column, values| {
            a[row * P::L + column].copy_from_slice(values);
            plan.import(values, &mut a_ntt.as_mut()[row * P::L + column]);
        });
        numbers(
            &mut text,
            "A",
            8,
            &values(&a, |c| c as i32),
            |i| {
                if (i + 1) % P::L == 0 { "];\n     [" } else { "], [" }
            },
        );
        let mut s = vec![[0; N]; P::K + P::L];
        matrix_and_secrets::<P>(lanes, &seed[..32], &seed, |expanded| {
            if let Expanded::Secret(i, values) = expanded {
                s[i].copy_from_slice(values);
            }
        });
        numbers(&mut text, "s", 3, &values(&s[..P::L], centred), |_| "],\n     [");
        let mut y = vec![[0; N]; P::L];
        let mut y_ntt = P::Columns::filled(super::ZERO);
        mask::<P>(lanes, &seed, 0, &mut y[..P::L]);
        for (y, y_ntt) in y.iter().zip(y_ntt.as_mut()) {
            plan.forward(y, y_ntt);
        }
        numbers(&mut text, "y", 8, &values(&y, centred), |_| "],\n     [");
        let mut w_ntt = P::Rows::filled(super::ZERO);
        let flat = (a_ntt.as_ref().as_flattened(), y_ntt.as_ref().as_flattened());
        plan.mat_vec(P::L, flat.0, flat.1, w_ntt.as_mut().as_flattened_mut());
        let mut w = vec![[0; N]; P::K];
        for (w, w_ntt) in w.iter_mut().zip(w_ntt.as_ref()) {
            plan.inverse(w_ntt, w);
        }
        let between = |_| "],\n      [";
        numbers(&mut text, "w1", 2, &values(&w, |c| split(c).0 as i32), between);
        numbers(&mut text, "w0", 8, &values(&w, |c| split(c).1), between);
        numbers(&mut text, "t1", 3, &values(&w, |c| power2round(c).0 as i32), between);
        numbers(&mut text, "t0", 5, &values(&w, |c| centred(power2round(c).1)), between);
        let mut c = [0; N];
        challenge::<P>(&seed[..P::CHALLENGE], &mut c);
        let c: Vec<String> = c.iter().map(|c| format!("{:2}", centred(*c))).collect();
        write!(text, "c = [{}]\n\n", c.join(", ")).unwrap();
        Digest::update(&mut sha, text.as_bytes());
    }
    hex::encode(sha.finalize())
}

/// Gigabytes of text go through the hash: only where all vectors are wanted.
fn check<P: Parameters>(expected: &str) {
    if std::env::var_os("KARAT_VECTORS").is_none() {
        eprintln!("skipped: KARAT_VECTORS is not set");
        return;
    }
    assert_eq!(digest::<P>(), expected, "{}", P::NAME);
}

#[test]
fn dilithium2() {
    check::<Dilithium2Params>("1f95a7fa4f3e5268ee6dd66b535e67ef92115ee20e3a9bc34c807bd5ce0b51b2");
}

#[test]
fn dilithium3() {
    check::<Dilithium3Params>("754226e0a60df21f639b3f9e43c14977aeda724bf9c0a8823e84c158d739a468");
}

#[test]
fn dilithium5() {
    check::<Dilithium5Params>("6c09be6018121da1fc8cb8077dcc2ff5a31b0cadc921629e253f87c7bede84cf");
}

#[test]
fn ml_dsa_44() {
    check::<MlDsa44Params>("5f0d135c0f7fd43f3fb9727265fcd6ec3651eb8c67c04ea5f3d8dfa1d99740d2");
}

#[test]
fn ml_dsa_65() {
    check::<MlDsa65Params>("14bf84918ee90e7afbd580191d3eb890d4557e0900b1145e39a8399ef7dd3fba");
}

#[test]
fn ml_dsa_87() {
    check::<MlDsa87Params>("759a3ba35210c7e27ff90a7ce5e399295533b82ef125e6ec98af158e00268e44");
}
