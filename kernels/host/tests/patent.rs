//! Each kernel of the k-NTT against the scalar step of the same name.

mod common;

use common::{Random, agree};
use karat::backend::cuda::{MAX_POINTS, Patent, Variant};
use karat::ring::kntt::Kntt;
use karat::{Error, RingSpec};
use karat_emulation::Emulated;

const BATCH: usize = 2;

fn parts(flat: &[u64], points: usize) -> Vec<Vec<u64>> {
    flat.chunks_exact(points).map(<[u64]>::to_vec).collect()
}

fn steps(text: &str) {
    let ring: RingSpec = text.parse().unwrap();
    let device = Emulated::new();
    let patent = Patent::new(&device, &ring).unwrap();
    let kntt = Kntt::new(&ring).unwrap();
    let (n, k) = (kntt.ntt().shape().points, kntt.parts());
    let mut random = Random(ring.q());
    for extreme in [false, true] {
        let coefficients: Vec<u64> = random.residues(BATCH * ring.n(), ring.q(), extreme);
        let f: Vec<u64> = random.residues(BATCH * ring.n(), ring.q(), extreme);
        let g: Vec<u64> = random.residues(BATCH * ring.n(), ring.q(), extreme);

        // split and interleave
        let split = patent.split_host(&coefficients).unwrap();
        let expected: Vec<u64> = coefficients.chunks_exact(ring.n()).flat_map(|f| kntt.split(f).concat()).collect();
        assert_eq!(patent.download(&split).unwrap(), expected, "{text}: split");
        assert_eq!(patent.interleave_host(&split).unwrap(), coefficients, "{text}: interleave");

        // transform and inverse
        for forward in [true, false] {
            let mut values = patent.upload(BATCH, k, &f).unwrap();
            if forward { patent.transform(&mut values) } else { patent.inverse(&mut values) }.unwrap();
            let mut expected = parts(&f, n);
            expected.iter_mut().for_each(|part| if forward { kntt.transform(part) } else { kntt.inverse(part) });
            assert_eq!(patent.download(&values).unwrap(), expected.concat(), "{text}: forward = {forward}");
        }

        // pointwise, cross, wrap, knttmul
        let (df, dg) = (patent.upload(BATCH, k, &f).unwrap(), patent.upload(BATCH, k, &g).unwrap());
        let squares = patent.pointwise(&df, &dg).unwrap();
        let cross = patent.cross(&df, &dg, &squares).unwrap();
        let wraps = patent.wrap(&squares, &cross).unwrap();
        let product = patent.knttmul(&squares, &cross, &wraps).unwrap();
        let [squares, cross, wraps, product] =
            [&squares, &cross, &wraps, &product].map(|v| patent.download(v).unwrap());
        let (pairs, len) = (k * (k - 1) / 2, k * n);
        for item in 0..BATCH {
            let (f, g) = (parts(&f[item * len..][..len], n), parts(&g[item * len..][..len], n));
            let p: Vec<_> = f.iter().zip(&g).map(|(f, g)| kntt.pointwise(f, g)).collect();
            assert_eq!(squares[item * len..][..len], p.concat(), "{text}: pointwise");
            let mut x = Vec::new();
            for i in 0..k {
                for j in i + 1..k {
                    x.push(kntt.cross((&f[i], &f[j]), (&g[i], &g[j]), (&p[i], &p[j])));
                }
            }
            assert_eq!(cross[item * pairs * n..][..pairs * n], x.concat(), "{text}: cross");
            let pair = |i: usize, j: usize| i * k - i * (i + 1) / 2 + j - i - 1;
            let at = |i: usize, j: usize| if i == j { &p[i][..] } else { &x[pair(i, j)] };
            let m = kntt.ntt().modulus();
            let z: Vec<_> = (0..k - 1)
                .map(|degree| {
                    let degree = degree + k;
                    let mut sum = vec![0; n];
                    for i in degree + 1 - k..=degree / 2 {
                        sum.iter_mut().zip(at(i, degree - i)).for_each(|(s, x)| *s = m.add(*s, *x));
                    }
                    kntt.wrap(&sum)
                })
                .collect();
            assert_eq!(wraps[item * (k - 1) * n..][..(k - 1) * n], z.concat(), "{text}: wrap");
            assert_eq!(product[item * len..][..len], kntt.knttmul(at).concat(), "{text}: knttmul");
        }
    }
}

#[test]
fn every_step() {
    for ring in [
        "ml-kem",
        "ml-dsa",
        "falcon-1024",
        "q=17,f=x+1",
        "q=17,f=x^8+1",
        "q=17,f=x^8+1,alpha=1",
        "q=17,f=x^8+1,alpha=3",
        "q=12289,f=x^1024+1,alpha=2",
        "q=12289,f=x^1536+1",
        "raccoon",
        "q=4611686018326724609,f=x^512+1,alpha=3",
    ] {
        steps(ring);
    }
}

#[test]
fn whole_products() {
    let backend = Emulated::new().backend(Variant::Patent);
    for ring in
        ["ml-kem", "ml-dsa", "q=12289,f=x^1024+1,alpha=2", "raccoon", "q=12289,f=x^1536+1", "q=17,f=x^16+1,alpha=2"]
    {
        agree(&backend, ring, 3);
    }
    let backend = Emulated::new().without_detector().backend(Variant::Patent);
    for alpha in 2..=5 {
        let n = MAX_POINTS << alpha;
        agree(&backend, &format!("q=1152921504606584833,f=x^{n}+1,alpha={alpha}"), 1);
    }
}

#[test]
fn a_smaller_alpha_is_an_error() {
    let ring: RingSpec = "q=1152921504606584833,f=x^16384+1,alpha=2".parse().unwrap();
    let error = Patent::new(&Emulated::new(), &ring).err().unwrap();
    assert!(matches!(error, Error::InvalidAlpha { alpha: 2, .. }));
    assert!(error.to_string().contains("least usable alpha is 3"), "{error}");
    assert!(Patent::new(&Emulated::new(), &"saber".parse().unwrap()).is_err());
}
