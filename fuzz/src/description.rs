//! Descriptions of rings and polynomials: any text gets a ring or a typed error, and what karat prints it reads.

use arbitrary::{Result, Unstructured};
use karat::RingSpec;
use karat::ring::{MAX_N, MAX_Q, Quotient, Term};

/// Reads the bytes as text, and a polynomial that they describe in a spelling that they choose.
pub fn run(data: &[u8]) {
    if let Ok(text) = core::str::from_utf8(data) {
        any_text(text);
    }
    let _ = spelling(&mut Unstructured::new(data));
}

fn any_text(text: &str) {
    if let Ok((n, f)) = Quotient::parse(text) {
        assert!((1..=MAX_N).contains(&n) && f.lower_terms().len() <= Quotient::MAX_TERMS);
        reads_what_it_prints(n, &f);
    }
    match text.parse::<RingSpec>() {
        Ok(ring) => {
            assert!((1..=MAX_N).contains(&ring.n()) && (2..MAX_Q).contains(&ring.q()));
            let printed: RingSpec = ring.to_string().parse().expect("karat reads what it prints");
            assert_eq!((printed.n(), printed.q(), printed.f()), (ring.n(), ring.q(), ring.f()));
            // A ring always has a method, and says why.
            assert!(!ring.method().why(&ring).is_empty());
        }
        Err(error) => assert!(error.to_string().len() < 1024, "an error as long as the input"),
    }
}

fn reads_what_it_prints(n: usize, f: &Quotient) {
    let printed = f.display(n).to_string();
    match Quotient::parse(&printed) {
        Ok(again) => assert_eq!(again, (n, f.clone()), "`{printed}` is read as something else"),
        Err(error) => panic!("karat prints `{printed}` and does not read it: {error}"),
    }
}

/// A sum of terms in any order, split and spelled in any way, is the polynomial.
fn spelling(u: &mut Unstructured) -> Result<()> {
    let n = u.int_in_range(1..=MAX_N)?;
    let mut lower = Vec::new();
    let mut exponent = n;
    for _ in 0..u.int_in_range(0..=6usize)? {
        if exponent == 0 {
            break;
        }
        exponent = u.int_in_range(0..=exponent - 1)?;
        let coefficient = if u.arbitrary()? { u.int_in_range(-3..=3)? } else { u.arbitrary::<i64>()? };
        if coefficient != 0 {
            lower.push(Term { exponent, coefficient });
        }
    }
    let f = Quotient::from_lower_terms(lower.clone()).expect("falling exponents");
    reads_what_it_prints(n, &f);

    let mut terms = vec![(n, 1i64)];
    for term in lower {
        // i64::MIN has no digits of its own: it is the sum of two.
        let half = term.coefficient / 2;
        let split = u.arbitrary()? || term.coefficient == i64::MIN;
        match split {
            true => terms.extend([(term.exponent, half), (term.exponent, term.coefficient - half)]),
            false => terms.push((term.exponent, term.coefficient)),
        }
    }
    let start = u.int_in_range(0..=terms.len() - 1)?;
    terms.rotate_left(start);
    let mut text = String::new();
    for (i, (exponent, coefficient)) in terms.into_iter().enumerate() {
        let blank = |u: &mut Unstructured| -> Result<&str> { Ok(*u.choose(&["", " ", "  "])?) };
        text += blank(u)?;
        match coefficient < 0 {
            true => text.push('-'),
            false if i > 0 || u.arbitrary()? => text.push('+'),
            false => {}
        }
        text += blank(u)?;
        let size = coefficient.unsigned_abs();
        if size != 1 || exponent == 0 || u.arbitrary()? {
            text += &size.to_string();
            text += blank(u)?;
            if exponent > 0 && u.arbitrary()? {
                text.push('*');
                text += blank(u)?;
            }
        }
        match exponent {
            0 => {}
            1 if u.arbitrary()? => text.push('x'),
            _ => text += &format!("x{}^{}{exponent}", blank(u)?, blank(u)?),
        }
    }
    match Quotient::parse(&text) {
        Ok(read) => assert_eq!(read, (n, f), "`{text}` is read as something else"),
        Err(error) => panic!("`{text}` is refused: {error}"),
    }
    Ok(())
}
