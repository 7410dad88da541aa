//! Threads, contexts side by side, memory, and what may be published.

use karat::ckks::{Error, Flooding, Noise, PrecisionReport};
use karat::rns::RnsMul;

use crate::setup::{Setup, literal, random, values};

/// First use of a fresh context from 64 threads at once.
pub fn many_threads<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 2), |plan| plan.rotations(&[1]));
    let a = values(512, 0.5);
    let wanted: Vec<_> = (0..512).map(|j| a[j] * a[j] + a[(j + 1) % 512] * a[(j + 1) % 512]).collect();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
                let square = evaluator.square(&setup.encrypt(&a)).unwrap();
                let sum = evaluator.add(&square, &evaluator.rotate(&square, 1).unwrap()).unwrap();
                setup.expect(&sum, &wanted, 23.0);
            });
        }
    });
}

/// Two contexts of different parameters in one process, dropped in both orders.
pub fn two_contexts<B: RnsMul<u64>>(backend: B) {
    let make = |log_n, depth| Setup::new(backend.clone(), &literal(log_n, depth), |plan| plan);
    let check = |setup: &Setup<B>| {
        let a = values(setup.ckks.parameters().slots(), 0.5);
        let square: Vec<_> = a.iter().map(|z| z * z).collect();
        let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
        setup.expect(&evaluator.square(&setup.encrypt(&a)).unwrap(), &square, 24.0);
    };
    for first in [true, false] {
        let (a, b) = (make(10, 1), make(11, 2));
        check(&a);
        check(&b);
        let (dropped, left) = if first { (a, b) } else { (b, a) };
        drop(dropped);
        check(&left);
    }
}

/// Mixed operations take no more memory than the first round did.
pub fn memory_is_used_again<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 3), |plan| plan.rotations(&[1, 2]));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let x = setup.encrypt(&values(512, 0.5));
    let round = || {
        let square = evaluator.square(&x).unwrap();
        let sum = evaluator.add(&square, &evaluator.rotate(&x, 1).unwrap()).unwrap();
        let rotated = evaluator.rotate_hoisted(&sum, &[1, 2]).unwrap();
        evaluator.multiply(&rotated[0], &rotated[1]).unwrap();
        setup.ckks.idle_words()
    };
    round();
    let after = round();
    for _ in 0..50 {
        assert_eq!(round(), after);
    }
}

/// Decoding for publication adds noise of the announced size; without enough of it, it refuses.
pub fn published_values<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(12, 1), |plan| plan);
    let parameters = setup.ckks.parameters();
    let a = values(2048, 0.5);
    let plaintext = setup.ckks.decrypt(&setup.encrypt(&a), &setup.secret).unwrap();
    let noise = Noise::new(parameters);
    let flooding = Flooding { deviation: noise.fresh_public(), decryptions: 16, bits: 30 };
    let decode =
        |flooding: &Flooding, seed| setup.ckks.decode_to_publish_with(&plaintext, flooding, &mut random(seed)).unwrap();
    let published = decode(&flooding, 1);
    let exact = setup.ckks.decode(&plaintext).unwrap();
    let got = PrecisionReport::new(&exact, &published).real.std;
    let expected = noise.slot_bits(flooding.noise(), &parameters.default_scale(), 2048);
    // At least the noise asked for, at most twice that.
    assert!((expected - 1.2..expected + 0.1).contains(&got), "{got} bits where {expected} were expected");
    assert_ne!(published, decode(&flooding, 2));
    // Far more than the error itself: what it drowns is 2^15 times smaller and more.
    let error = PrecisionReport::new(&a, &exact).real.std;
    assert!(error - got > 15.0);
    for wrong in [
        Flooding { deviation: 0.0, ..flooding },
        Flooding { deviation: f64::NAN, ..flooding },
        Flooding { decryptions: 0, ..flooding },
        Flooding { bits: 10, ..flooding },
    ] {
        assert!(matches!(setup.ckks.decode_to_publish(&plaintext, &wrong), Err(Error::Argument(_))));
    }
    let huge = Flooding { deviation: 1e30, ..flooding };
    assert!(matches!(setup.ckks.decode_to_publish(&plaintext, &huge), Err(Error::TooLarge { .. })));
}
