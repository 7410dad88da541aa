//! What the suite `ckks` measures, and how each result is checked.

use karat::arith::Word;
use karat::ckks::{
    Chain, Ciphertext, Ckks, Complex64, Evaluator, KeyPlan, KeySet, Literal, Mode, Parameters, Plaintext, PublicKey,
    Result, SecretKey, SecretKind, Security, Special,
};
use karat::rns::RnsMul;

/// A set of parameters under its name in the suite.
pub struct Subject {
    pub name: &'static str,
    pub literal: Literal,
    pub word_bits: u32,
    pub ops: &'static [Op],
}

impl Subject {
    pub fn is_secure(&self) -> bool {
        Literal { security: Security::Classical128, ..self.literal.clone() }.validate().is_ok()
    }
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Encode,
    Encrypt,
    DecryptDecode,
    Add,
    Tensor,
    Relinearise,
    Rescale,
    MultiplyRelineariseRescale,
    Rotate,
    HoistedRotations,
}

/// Rotations of one hoisted call.
const HOISTED: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

impl Op {
    const ALL: [Self; 10] = [
        Self::Encode,
        Self::Encrypt,
        Self::DecryptDecode,
        Self::Add,
        Self::Tensor,
        Self::Relinearise,
        Self::Rescale,
        Self::MultiplyRelineariseRescale,
        Self::Rotate,
        Self::HoistedRotations,
    ];
    const PRODUCT: [Self; 1] = [Self::MultiplyRelineariseRescale];
    const RESIDENT: [Self; 7] = [
        Self::Add,
        Self::Tensor,
        Self::Relinearise,
        Self::Rescale,
        Self::MultiplyRelineariseRescale,
        Self::Rotate,
        Self::HoistedRotations,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Encrypt => "encrypt",
            Self::DecryptDecode => "decrypt-decode",
            Self::Add => "add",
            Self::Tensor => "multiply",
            Self::Relinearise => "relinearise",
            Self::Rescale => "rescale",
            Self::MultiplyRelineariseRescale => "multiply-relinearise-rescale",
            Self::Rotate => "rotate",
            Self::HoistedRotations => "hoisted-rotation-of-8",
        }
    }

    /// Results of one call: times are told for one.
    pub fn count(self) -> usize {
        if self == Self::HoistedRotations { HOISTED.len() } else { 1 }
    }
}

fn literal(log_n: u32, base: &[u32], depth: usize, log_scale: u32, special: &[u32], digits: usize) -> Literal {
    Literal {
        log_n,
        chain: Chain::Scaled { base: base.to_vec(), depth },
        split: base.len(),
        special: Special::Bits(special.to_vec()),
        digits,
        log_scale,
        secret: SecretKind::Ternary,
        security: Security::Insecure,
    }
}

/// The parameters of the suite: secure ones, the sizes of document 001, and chains as long as the peers', which are
/// above the bound of 128 bits.
pub fn subjects(on_gpu: bool) -> Vec<Subject> {
    let subject = |name, word_bits, ops, literal| Subject { name, literal, word_bits, ops };
    if on_gpu {
        return vec![
            subject("2^16-32bit", 32, &Op::RESIDENT, literal(16, &[31, 31], 22, 56, &[31; 12], 4)),
            subject("2^16-64bit", 64, &Op::RESIDENT, literal(16, &[60], 23, 55, &[60; 5], 5)),
            subject("2^16-50bit", 64, &Op::RESIDENT, literal(16, &[49], 28, 46, &[49; 6], 5)),
        ];
    }
    vec![
        subject("2^13", 64, &Op::ALL, literal(13, &[50], 3, 37, &[50], 4)),
        subject("2^15-secure", 64, &Op::ALL, literal(15, &[50], 14, 45, &[50; 3], 5)),
        subject("2^15-peers", 64, &Op::ALL, literal(15, &[60], 14, 58, &[60; 5], 3)),
        subject("001-2^13", 64, &Op::PRODUCT, literal(13, &[61], 1, 58, &[61], 2)),
        subject("001-2^14", 64, &Op::PRODUCT, literal(14, &[61], 1, 58, &[61], 2)),
        subject("001-2^15", 64, &Op::PRODUCT, literal(15, &[60], 12, 55, &[60], 13)),
    ]
}

/// Operations of one set of parameters, with their operands.
pub struct Case<B: RnsMul<W>, W: Word> {
    ckks: Ckks<B, W>,
    secret: SecretKey<B, W>,
    public: PublicKey<B, W>,
    keys: KeySet<B, W>,
    values: Vec<Complex64>,
    plaintext: Plaintext<B, W>,
    x: Ciphertext<B, W>,
    /// The square in three parts, and in two; neither is rescaled.
    product: Ciphertext<B, W>,
    raised: Ciphertext<B, W>,
}

impl<B: RnsMul<W>, W: Word> Case<B, W> {
    pub fn new(backend: B, literal: &Literal) -> Result<Self> {
        let ckks = Ckks::new(backend, literal.validate()?)?;
        let mut keygen = ckks.keygen();
        let secret = keygen.secret_key()?;
        let public = keygen.public_key(&secret)?;
        let plan = KeyPlan::new(ckks.parameters()).relinearisation().rotations(&HOISTED);
        let keys = keygen.keys(&secret, &plan)?;
        let slots = ckks.parameters().slots();
        let values: Vec<_> = (0..slots).map(|j| Complex64::from_polar(0.9, 2.4 * j as f64)).collect();
        let plaintext = ckks.encode(&values)?;
        let x = ckks.encrypt(&plaintext, &public)?;
        let manual = ckks.manual_evaluator(&keys)?;
        let product = manual.multiply(&x, &x)?;
        let raised = manual.relinearise(&product)?;
        Ok(Self { ckks, secret, public, keys, values, plaintext, x, product, raised })
    }

    pub fn parameters(&self) -> &Parameters {
        self.ckks.parameters()
    }

    fn evaluator(&self, mode: Mode) -> Result<Evaluator<'_, B, W>> {
        match mode {
            Mode::Automatic => self.ckks.evaluator(&self.keys),
            Mode::Manual => self.ckks.manual_evaluator(&self.keys),
        }
    }

    /// The result of an operation on ciphertexts.
    fn result(&self, op: Op) -> Result<Option<Ciphertext<B, W>>> {
        let manual = self.evaluator(Mode::Manual)?;
        Ok(Some(match op {
            Op::Encode | Op::DecryptDecode => return Ok(None),
            Op::Encrypt => self.ckks.encrypt(&self.plaintext, &self.public)?,
            Op::Add => manual.add(&self.x, &self.x)?,
            Op::Tensor => manual.multiply(&self.x, &self.x)?,
            Op::Relinearise => manual.relinearise(&self.product)?,
            Op::Rescale => manual.rescale(&self.raised)?,
            Op::MultiplyRelineariseRescale => self.evaluator(Mode::Automatic)?.multiply(&self.x, &self.x)?,
            Op::Rotate => manual.rotate(&self.x, 1)?,
            Op::HoistedRotations => {
                let all = manual.rotate_hoisted(&self.x, &HOISTED)?;
                return Ok(all.into_iter().next());
            }
        }))
    }

    /// Runs the operation once.
    pub fn run(&self, op: Op) -> Result<()> {
        match op {
            Op::Encode => self.ckks.encode(&self.values).map(drop),
            Op::DecryptDecode => self.ckks.decode(&self.ckks.decrypt(&self.x, &self.secret)?).map(drop),
            _ => self.result(op).map(drop),
        }
    }

    /// Compares the result with a plain computation.
    pub fn is_right(&self, op: Op) -> Result<bool> {
        let got = match (op, self.result(op)?) {
            (Op::Encode, _) => self.ckks.decode(&self.plaintext)?,
            (_, Some(ciphertext)) => self.ckks.decode(&self.ckks.decrypt(&ciphertext, &self.secret)?)?,
            (_, None) => self.ckks.decode(&self.ckks.decrypt(&self.x, &self.secret)?)?,
        };
        let slots = self.values.len();
        let wanted = |j: usize| match op {
            Op::Add => self.values[j] * 2.0,
            Op::Tensor | Op::Relinearise | Op::Rescale | Op::MultiplyRelineariseRescale => {
                self.values[j] * self.values[j]
            }
            Op::Rotate | Op::HoistedRotations => self.values[(j + 1) % slots],
            _ => self.values[j],
        };
        Ok(got.iter().enumerate().all(|(j, value)| (value - wanted(j)).norm() < 1e-3))
    }
}
