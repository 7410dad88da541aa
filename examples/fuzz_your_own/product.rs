//! Product functions as someone might write them, with a mistake on demand.

/// What may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// The last step leaves values in `[0, 2q)`.
    NoFinalReduction,
    /// Two neighbours of the table of twiddles changed places.
    SwappedTwiddle,
    /// Sums of `N` products are held in 64 bits, which is enough unless all factors are near `q - 1`.
    NarrowSum,
}

const Q: u32 = 8_380_417;

fn mul(a: u32, b: u32) -> u32 {
    (u64::from(a) * u64::from(b) % u64::from(Q)) as u32
}

/// Powers of ML-DSA's root in bit-reversed order.
fn zetas() -> [u32; 256] {
    let mut out = [0; 256];
    for (i, zeta) in out.iter_mut().enumerate() {
        *zeta = (0..(i as u8).reverse_bits()).fold(1, |power, _| mul(power, 1753));
    }
    out
}

/// A product in ML-DSA's ring by its transform.
pub fn ntt(mistake: Option<Mistake>, a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut zetas = zetas();
    if mistake == Some(Mistake::SwappedTwiddle) {
        zetas.swap(140, 141);
    }
    let forward = |polynomial: &[u32]| {
        let mut c = polynomial.to_vec();
        let mut node = 1;
        let mut half = 128;
        while half > 0 {
            for start in (0..256).step_by(2 * half) {
                for j in start..start + half {
                    let t = mul(zetas[node], c[j + half]);
                    (c[j], c[j + half]) = ((c[j] + t) % Q, (c[j] + Q - t) % Q);
                }
                node += 1;
            }
            half /= 2;
        }
        c
    };
    let mut c: Vec<u32> = forward(a).into_iter().zip(forward(b)).map(|(x, y)| mul(x, y)).collect();
    let mut node = 255;
    let mut half = 1;
    while half < 256 {
        for start in (0..256).step_by(2 * half) {
            // The inverse of a root is minus its mirror image in the layer.
            let zeta = Q - zetas[node];
            for j in start..start + half {
                let (x, y) = (c[j], c[j + half]);
                (c[j], c[j + half]) = ((x + y) % Q, mul(zeta, x + Q - y));
            }
            node -= 1;
        }
        half *= 2;
    }
    let scale = 8_347_681; // 256^-1 modulo q
    let lazy = |x: u32| mul(x, scale) + if x % 1000 == 1 { Q } else { 0 };
    let reduce = |x: u32| if mistake == Some(Mistake::NoFinalReduction) { x } else { x % Q };
    c.into_iter().map(lazy).map(reduce).collect()
}

/// A product modulo `x^N + 1` and any `q` below `2^31`, by definition.
pub fn schoolbook(mistake: Option<Mistake>, q: u32, a: &[u32], b: &[u32]) -> Vec<u32> {
    let n = a.len();
    let coefficient = |k: usize| {
        let products = |range: core::ops::Range<usize>, shift: usize| {
            range.map(move |i| u64::from(a[i]) * u64::from(b[k + shift - i]))
        };
        let sum = |products: &mut dyn Iterator<Item = u64>| -> u64 {
            match mistake {
                Some(Mistake::NarrowSum) => products.fold(0, u64::wrapping_add) % u64::from(q),
                _ => (products.map(u128::from).sum::<u128>() % u128::from(q)) as u64,
            }
        };
        let low = sum(&mut products(0..k + 1, 0));
        let high = sum(&mut products(k + 1..n, n));
        ((low + u64::from(q) - high) % u64::from(q)) as u32
    };
    (0..n).map(coefficient).collect()
}
