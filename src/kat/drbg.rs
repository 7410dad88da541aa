//! AES-256-CTR-DRBG without derivation function (SP 800-90A, section 10.2.1), as NIST's submission kit uses it: not
//! for keys, only for vectors that everybody can make again.

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

/// The generator.
pub(super) struct Drbg {
    key: [u8; 32],
    counter: u128,
}

impl Drbg {
    /// Starts from 48 bytes of entropy.
    pub(super) fn new(entropy: &[u8; 48]) -> Self {
        let mut drbg = Self { key: [0; 32], counter: 0 };
        drbg.update(entropy);
        drbg
    }

    fn block(&mut self, cipher: &Aes256) -> [u8; 16] {
        self.counter = self.counter.wrapping_add(1);
        let mut block = self.counter.to_be_bytes().into();
        cipher.encrypt_block(&mut block);
        block.into()
    }

    fn update(&mut self, provided: &[u8; 48]) {
        let cipher = Aes256::new(&self.key.into());
        let mut next = *provided;
        for chunk in next.as_chunks_mut::<16>().0 {
            let block = self.block(&cipher);
            chunk.iter_mut().zip(block).for_each(|(a, b)| *a ^= b);
        }
        let (key, counter) = next.split_at(32);
        self.key.copy_from_slice(key);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(counter);
        self.counter = u128::from_be_bytes(bytes);
    }

    /// One draw. Two draws are not one draw of both lengths.
    pub(super) fn fill(&mut self, out: &mut [u8]) {
        let cipher = Aes256::new(&self.key.into());
        for chunk in out.chunks_mut(16) {
            let block = self.block(&cipher);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
        self.update(&[0; 48]);
    }

    /// One draw of a fixed length.
    pub(super) fn draw<const LEN: usize>(&mut self) -> [u8; LEN] {
        let mut out = [0; LEN];
        self.fill(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first seed of every `.rsp` file of NIST's kit.
    #[test]
    fn first_seed() {
        let entropy = core::array::from_fn(|i| i as u8);
        let seed = Drbg::new(&entropy).draw::<48>();
        assert_eq!(
            hex::encode_upper(seed),
            "061550234D158C5EC95595FE04EF7A25767F2E24CC2BC479D09D86DC9ABCFDE7056A8C266F9EF97ED08541DBD2E1FFA1"
        );
    }
}
