//! Parameters: presets of every depth, primes, and what is refused.

use karat::ckks::{Chain, Error, Literal, Parameters, Prime, SecretKind, Security, Special};

use crate::setup::literal;

/// Every preset is secure, keeps its scale over all levels, has distinct primes of their sizes, and comes back from bytes.
#[test]
fn presets_of_every_depth() {
    for prime in [Prime::Bits30, Prime::Bits50, Prime::Bits60] {
        for depth in [1, 2, 3, 5, 8, 13, 20, 27, 30] {
            let literal = Literal::preset(prime, depth).unwrap();
            let p = literal.validate().unwrap();
            assert_eq!(p.max_level(), depth);
            assert_eq!(p.security(), Security::Classical128);
            let limit = Security::Classical128.max_log_qp(p.log_n(), p.secret()).unwrap();
            assert!(p.log_qp() <= f64::from(limit));
            let ceiling = match prime {
                Prime::Bits30 => 31,
                Prime::Bits50 => 50,
                Prime::Bits60 => 61,
            };
            let all: Vec<u64> = p.q().iter().chain(p.p()).copied().collect();
            for (i, q) in all.iter().enumerate() {
                assert!(*q < 1 << ceiling && q % (2 * p.n() as u64) == 1 && !all[..i].contains(q));
            }
            // The product of each level's primes is within half a bit of the scale.
            for level in 1..=depth {
                let dropped = &p.q()[p.limbs(level - 1)..p.limbs(level)];
                let bits: f64 = dropped.iter().map(|q| (*q as f64).log2()).sum();
                assert!((bits - f64::from(p.log_scale())).abs() < 0.5, "{prime:?} {depth} {level}: {bits}");
            }
            assert_eq!(Parameters::from_bytes(&p.to_bytes()).unwrap(), p);
        }
    }
}

/// The first prime and scaling primes of one size, special primes of the same size: all distinct, none narrower.
#[test]
fn primes_of_equal_sizes_are_distinct() {
    for (bits, count) in [(40u32, 8usize), (50, 12), (30, 6)] {
        let literal = Literal {
            chain: Chain::Bits(vec![bits; count]),
            special: Special::Bits(vec![bits; 4]),
            digits: count.div_ceil(4),
            log_scale: bits - 2,
            ..literal(12, 0)
        };
        let p = literal.validate().unwrap();
        let all: Vec<u64> = p.q().iter().chain(p.p()).copied().collect();
        for (i, q) in all.iter().enumerate() {
            assert!(!all[..i].contains(q) && ((*q as f64).log2() - f64::from(bits)).abs() < 0.5);
            // What the fastest lanes hold.
            assert!(bits != 50 || *q < 1 << 50);
        }
    }
    // More than there are within half a bit.
    let many = Literal { chain: Chain::Bits(vec![20; 40]), log_scale: 18, digits: 40, ..literal(16, 0) };
    assert!(matches!(many.validate(), Err(Error::Engine(_))));
}

#[test]
fn what_is_refused() {
    let good = literal(12, 3);
    good.validate().unwrap();
    let refused = |change: &dyn Fn(&mut Literal)| {
        let mut literal = good.clone();
        change(&mut literal);
        let error = literal.validate().unwrap_err();
        assert!(matches!(error, Error::Parameters(_)), "{error}");
    };
    refused(&|l| l.log_n = 2);
    refused(&|l| l.log_n = 18);
    refused(&|l| l.split = 0);
    refused(&|l| l.digits = 0);
    refused(&|l| l.digits = 5);
    refused(&|l| l.log_scale = 0);
    refused(&|l| l.log_scale = 58);
    refused(&|l| l.secret = SecretKind::Sparse { weight: 0 });
    refused(&|l| l.secret = SecretKind::Sparse { weight: 5000 });
    refused(&|l| l.special = Special::Bits(vec![40]));
    refused(&|l| l.chain = Chain::Primes(vec![]));
    refused(&|l| l.chain = Chain::Primes(vec![40961]));
    refused(&|l| l.chain = Chain::Bits(vec![50; 70]));
    refused(&|l| l.chain = Chain::Scaled { base: vec![], depth: 2 });
    refused(&|l| l.chain = Chain::Bits(vec![63]));
    let same = good.validate().unwrap();
    refused(&|l| l.special = Special::Primes(same.q()[..1].to_vec()));
    // Security is asked for by default in presets, and insecurity by name only.
    let error = Literal { security: Security::Classical128, ..good.clone() }.validate().unwrap_err();
    let Error::Insecure { log_n: 12, .. } = error else { panic!("{error}") };
    assert!(error.to_string().contains("106 bits"), "{error}");
    let sparse = SecretKind::Sparse { weight: 64 };
    let error = Literal { security: Security::Classical128, secret: sparse, ..good }.validate().unwrap_err();
    assert!(error.to_string().contains("no published estimate"), "{error}");
}

#[test]
fn hostile_parameters() {
    let bytes = literal(10, 2).validate().unwrap().to_bytes();
    for len in 0..bytes.len() {
        assert!(Parameters::from_bytes(&bytes[..len]).is_err(), "{len} bytes");
    }
    for i in 0..bytes.len() {
        for flip in [1u8, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[i] ^= flip;
            if let Ok(parameters) = Parameters::from_bytes(&changed) {
                assert_eq!(parameters.to_bytes(), changed, "byte {i}");
            }
        }
    }
}
