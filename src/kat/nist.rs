//! The `.rsp` files of NIST's submission kit, for KEMs and signatures.
//!
//! Records of `count`, `seed`, `pk`, `sk`, and `ct`, `ss`, or `mlen`, `msg`, `smlen`, `sm`; upper-case hexadecimal. All
//! randomness of a record comes from an AES-256-CTR-DRBG seeded with `seed`, and the seeds themselves from an outer one.
//! A KEM draws `d ‖ z` at once (Kyber: `d`, then `z`), then `m`; a signature draws the key's seed, then `rnd`, and
//! signs with an empty context.

use std::io::Write;
use std::string::{String, ToString};
use std::vec::Vec;

use super::drbg::Drbg;
use super::scheme::{Answer, Case, Expected, Implementation, Record, Values};
use super::{FileReport, KatError};

/// The entropy of the outer generator in NIST's own files: bytes 0 to 47.
pub const ENTROPY: [u8; 48] = {
    let mut out = [0; 48];
    let mut i = 0;
    while i < 48 {
        out[i] = i as u8;
        i += 1;
    }
    out
};

/// The parameter sets that have such files here.
pub const SCHEMES: [&str; 12] = [
    "ML-KEM-512",
    "ML-KEM-768",
    "ML-KEM-1024",
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
    "Kyber512",
    "Kyber768",
    "Kyber1024",
    "Dilithium2",
    "Dilithium3",
    "Dilithium5",
];

/// The parameter set of this name, whatever its case.
///
/// ```
/// assert_eq!(karat::kat::nist::scheme("ml-kem-768"), Some("ML-KEM-768"));
/// assert_eq!(karat::kat::nist::scheme("x25519"), None);
/// ```
pub fn scheme(name: &str) -> Option<&'static str> {
    SCHEMES.into_iter().find(|scheme| scheme.eq_ignore_ascii_case(name))
}

/// Whether a parameter set is a KEM.
pub(super) fn is_kem(scheme: &str) -> bool {
    scheme.starts_with("ML-KEM") || scheme.starts_with("Kyber")
}

/// The randomness of a record.
struct Draws {
    /// `d ‖ z`, or the key's seed.
    key: Vec<u8>,
    /// `m`, or `rnd`.
    second: [u8; 32],
}

impl Draws {
    fn new(scheme: &str, seed: &[u8; 48]) -> Self {
        let mut drbg = Drbg::new(seed);
        let key = match scheme {
            _ if scheme.starts_with("ML-KEM") => drbg.draw::<64>().to_vec(),
            _ if is_kem(scheme) => [drbg.draw::<32>(), drbg.draw::<32>()].concat(),
            _ => drbg.draw::<32>().to_vec(),
        };
        Self { key, second: drbg.draw() }
    }
}

fn malformed(line: &str, expected: &'static str) -> KatError {
    KatError::Malformed { text: crate::error::excerpt(line), expected }
}

/// An error and its line.
type AtLine<T> = Result<T, (u64, KatError)>;

/// The fields that records have.
const KNOWN: [&str; 10] = ["count", "seed", "mlen", "msg", "pk", "sk", "ct", "ss", "smlen", "sm"];

/// The fields of one record: line, name and value. The first is `count`.
#[derive(Default)]
struct Fields<'a> {
    count: u64,
    fields: Vec<(u64, &'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    /// The line where the record begins.
    fn line(&self) -> u64 {
        self.fields.first().map_or(0, |(line, ..)| *line)
    }

    /// The line and the value of a field.
    fn text(&self, name: &'static str) -> AtLine<(u64, &'a str)> {
        let missing = KatError::MissingField { count: self.count, field: name };
        let found = self.fields.iter().find(|(_, key, _)| *key == name);
        found.map(|(line, _, value)| (*line, *value)).ok_or((self.line(), missing))
    }

    fn bytes(&self, name: &'static str) -> AtLine<Vec<u8>> {
        let (line, text) = self.text(name)?;
        hex::decode(text).map_err(|_| (line, malformed(text, "bytes in hexadecimal")))
    }

    /// Adds a field.
    fn push(&mut self, line: u64, key: &'a str, value: &'a str) -> AtLine<()> {
        if self.fields.iter().any(|(_, known, _)| *known == key)
            && let Some(field) = KNOWN.into_iter().find(|known| *known == key)
        {
            return Err((line, KatError::DuplicateField { count: self.count, field }));
        }
        self.fields.push((line, key, value));
        Ok(())
    }
}

/// The records of a file; its parameter set stands in the first comment, or in the file's name.
pub(super) fn records(text: &str, name: &str, report: &mut FileReport) -> AtLine<Vec<Record>> {
    let comment = text.lines().next().and_then(|line| line.strip_prefix('#')).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let Some(scheme) = scheme(comment.trim()).or_else(|| scheme(stem)) else {
        report.skip(
            "a response file of a scheme that karat does not have; its first line names it, `# ML-KEM-768` for example",
            1,
        );
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    let mut current = Fields::default();
    let mut finish = |fields: &mut Fields| -> AtLine<()> {
        let fields = std::mem::take(fields);
        if !fields.fields.is_empty() {
            out.extend(record(scheme, &fields, report)?);
        }
        Ok(())
    };
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            return Err((number, malformed(line, "a line `name = value`")));
        };
        if key == "count" {
            let count = value.parse::<u64>().map_err(|_| (number, malformed(line, "`count` and a number")))?;
            let expected = if current.fields.is_empty() { count } else { current.count.wrapping_add(1) };
            if count != expected {
                return Err((number, KatError::OutOfOrder { expected, got: count }));
            }
            finish(&mut current)?;
            current.count = count;
        } else if current.fields.is_empty() {
            return Err((number, malformed(line, "`count` at the beginning of a record")));
        }
        current.push(number, key, value)?;
    }
    finish(&mut current)?;
    Ok(out)
}

/// A record, unless it is wrong by itself: that is counted in the report.
fn record(scheme: &str, fields: &Fields, report: &mut FileReport) -> AtLine<Option<Record>> {
    let (line, _) = fields.text("seed")?;
    let seed = fields.bytes("seed")?;
    let seed = seed.try_into().map_err(|_| (line, malformed("seed", "48 bytes in hexadecimal")))?;
    let id = std::format!("count = {}", fields.count);
    let draws = Draws::new(scheme, &seed);
    let (pk, sk) = (fields.bytes("pk")?, fields.bytes("sk")?);
    let case = |op: &str, inputs: Values, expected: Values| Case {
        scheme: scheme.into(),
        op: op.into(),
        inputs,
        expected: Expected::Values(expected),
    };
    let (known, cases): (&[&str], _) = if is_kem(scheme) {
        let (c, k) = (fields.bytes("ct")?, fields.bytes("ss")?);
        let encaps = Vec::from([("ek", pk.clone()), ("m", draws.second.to_vec())]);
        let decaps = Vec::from([("dk", sk.clone()), ("c", c.clone())]);
        let cases = Vec::from([
            case("keygen", Vec::from([("seed", draws.key)]), Vec::from([("ek", pk), ("dk", sk)])),
            case("encaps", encaps, Vec::from([("c", c), ("k", k.clone())])),
            case("decaps", decaps, Vec::from([("k", k)])),
        ]);
        (&["count", "seed", "pk", "sk", "ct", "ss"], cases)
    } else {
        let (message, mut signature) = (fields.bytes("msg")?, fields.bytes("sm")?);
        let length = |name: &'static str, value: &[u8]| {
            let (line, text) = fields.text(name)?;
            match text.parse::<usize>() {
                Ok(length) if value.len() == length => Ok(()),
                _ => Err((line, malformed(text, "the number of bytes of the field that follows"))),
            }
        };
        length("mlen", &message)?;
        length("smlen", &signature)?;
        let Some(end) = signature.len().checked_sub(message.len()).filter(|end| signature[*end..] == message) else {
            let (line, _) = fields.text("sm")?;
            report.fail(std::format!("{id} (line {line}): `sm` is no signature followed by `msg`"));
            return Ok(None);
        };
        signature.truncate(end);
        let sign = Vec::from([
            ("sk", sk.clone()),
            ("message", message.clone()),
            ("context", Vec::new()),
            ("rnd", draws.second.to_vec()),
        ]);
        let verify = Vec::from([
            ("pk", pk.clone()),
            ("message", message),
            ("context", Vec::new()),
            ("signature", signature.clone()),
        ]);
        let cases = Vec::from([
            case("keygen", Vec::from([("seed", draws.key)]), Vec::from([("pk", pk), ("sk", sk)])),
            case("sign", sign, Vec::from([("signature", signature)])),
            case("verify", verify, Vec::new()),
        ]);
        (&["count", "seed", "mlen", "msg", "pk", "sk", "smlen", "sm"], cases)
    };
    for (_, key, _) in fields.fields.iter().filter(|(_, key, _)| !known.contains(key)) {
        report.skip(&std::format!("field `{}`, which this format does not define", crate::error::excerpt(key)), 1);
    }
    Ok(Some(Record { id, cases }))
}

/// Writes `count` records as NIST's kit does: the files of [`ENTROPY`] are NIST's own. Published digests of such files
/// leave out the first line, which names the parameter set, and the empty one after it.
///
/// # Errors
/// `Io`, or `Refused` where the implementation does not answer.
///
/// ```
/// use karat::{AnyBackend, kat::{nist, scheme::Own}};
/// let mut own = Own::new(&AnyBackend::from_name("scalar")?)?;
/// let mut text = Vec::new();
/// nist::write(&mut own, "ML-KEM-512", &nist::ENTROPY, 1, &mut text)?;
/// assert!(text.starts_with(b"# ML-KEM-512\n\ncount = 0\nseed = 061550234D158C5EC95595FE04EF7A25"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(
    implementation: &mut dyn Implementation,
    scheme: &str,
    entropy: &[u8; 48],
    count: u64,
    mut writer: impl Write,
) -> Result<(), KatError> {
    writeln!(writer, "# {scheme}")?;
    for (i, record) in generate(implementation, scheme, entropy, count).enumerate() {
        let record = record?;
        writeln!(writer, "\ncount = {i}")?;
        let field = |writer: &mut dyn Write, name: &str, value: &str| {
            writeln!(writer, "{name} = {}", hex::encode_upper(record.get(value)))
        };
        field(&mut writer, "seed", "drbg")?;
        if is_kem(scheme) {
            for (name, value) in [("pk", "ek"), ("sk", "dk"), ("ct", "c"), ("ss", "k")] {
                field(&mut writer, name, value)?;
            }
        } else {
            let (message, signature) = (record.get("message"), record.get("signature"));
            writeln!(writer, "mlen = {}", message.len())?;
            field(&mut writer, "msg", "message")?;
            field(&mut writer, "pk", "pk")?;
            field(&mut writer, "sk", "sk")?;
            let signed = [signature, message].concat();
            writeln!(writer, "smlen = {}\nsm = {}", signed.len(), hex::encode_upper(&signed))?;
        }
    }
    Ok(writer.flush()?)
}

/// Everything about one generated record, by the names of [`scheme`](super::scheme); `drbg` is its seed.
pub(super) struct Generated(Values);

impl Generated {
    pub(super) fn get(&self, name: &str) -> &[u8] {
        self.0.iter().find(|(key, _)| *key == name).map_or(&[], |(_, value)| value)
    }
}

/// Generates records with the draws of NIST's kit.
pub(super) fn generate(
    implementation: &mut dyn Implementation,
    scheme: &str,
    entropy: &[u8; 48],
    count: u64,
) -> impl Iterator<Item = Result<Generated, KatError>> {
    let mut outer = Drbg::new(entropy);
    (0..count).map(move |i| {
        let drbg: [u8; 48] = outer.draw();
        let Draws { key, second } = Draws::new(scheme, &drbg);
        let mut ask = |op: &str, inputs: Values| ask(implementation, scheme, op, inputs);
        if is_kem(scheme) {
            let [ek, dk] = ask("keygen", Vec::from([("seed", key.clone())]))?.take(["ek", "dk"])?;
            let inputs = Vec::from([("ek", ek.clone()), ("m", second.to_vec())]);
            let [c, k] = ask("encaps", inputs)?.take(["c", "k"])?;
            let (d, z) = (key[..32].to_vec(), key[32..].to_vec());
            let m = second.to_vec();
            let values =
                [("drbg", drbg.to_vec()), ("d", d), ("z", z), ("m", m), ("ek", ek), ("dk", dk), ("c", c), ("k", k)];
            return Ok(Generated(values.into()));
        }
        let mut message = std::vec![0; 33 * (i as usize + 1)];
        outer.fill(&mut message);
        let [pk, sk] = ask("keygen", Vec::from([("seed", key.clone())]))?.take(["pk", "sk"])?;
        let mut values =
            Vec::from([("sk", sk), ("message", message), ("context", Vec::new()), ("rnd", second.to_vec())]);
        let [signature] = ask("sign", values.clone())?.take(["signature"])?;
        values.extend([("drbg", drbg.to_vec()), ("seed", key), ("pk", pk), ("signature", signature)]);
        Ok(Generated(values))
    })
}

/// Outputs of an implementation.
pub(super) struct Outputs(Vec<(String, Vec<u8>)>);

impl Outputs {
    /// The outputs of these names.
    pub(super) fn take<const LEN: usize>(mut self, names: [&'static str; LEN]) -> Result<[Vec<u8>; LEN], KatError> {
        let mut out = [const { Vec::new() }; LEN];
        for (out, name) in out.iter_mut().zip(names) {
            let found = self.0.iter_mut().find(|(key, _)| key == name);
            let (_, value) = found.ok_or_else(|| KatError::Refused(std::format!("no output `{name}`")))?;
            *out = std::mem::take(value);
        }
        Ok(out)
    }
}

/// Asks for one operation whose answer is not known.
pub(super) fn ask(
    implementation: &mut dyn Implementation,
    scheme: &str,
    op: &str,
    inputs: Values,
) -> Result<Outputs, KatError> {
    let case = Case { scheme: scheme.into(), op: op.into(), inputs, expected: Expected::Refusal };
    match implementation.answer(&[&case]).pop() {
        Some(Answer::Values(values)) => Ok(Outputs(values)),
        Some(Answer::Refusal(why) | Answer::Failure(why) | Answer::Unknown(why)) => Err(KatError::Refused(why)),
        None => Err(KatError::Refused("no answer".to_string())),
    }
}
