//! Literals that claim where they come from: `magic: 20159 == round(2^26 / 3329)`.

/// Whether code holds a decimal or hexadecimal literal of four or more digits outside strings. Masks are none: binary
/// literals, and hexadecimal ones of one repeated digit.
pub fn has_long_literal(code: &str) -> bool {
    let outside: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    outside.split(|c: char| !is_word(c)).any(|token| {
        let digits = token.strip_prefix("0x").unwrap_or(token);
        let digits: String = digits.chars().filter(|c| *c != '_').collect();
        let repeated = digits.trim_end_matches('u').chars().all(|c| digits.starts_with(c));
        let mask = token.starts_with("0b") || token.starts_with("0x") && repeated;
        !mask
            && token.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().take_while(|c| c.is_ascii_hexdigit()).count() >= 4
    })
}

/// Checks a claim `left == right`.
pub fn check(claim: &str) -> Result<(), String> {
    let (left, right) = claim.split_once("==").ok_or_else(|| format!("`{claim}` has no =="))?;
    let (a, b) = (evaluate(left)?, evaluate(right)?);
    if a.0 * b.1 == b.0 * a.1 { Ok(()) } else { Err(format!("`{claim}`: {}/{} and {}/{}", a.0, a.1, b.0, b.1)) }
}

/// A rational number, denominator positive.
type Rational = (i128, i128);

fn evaluate(text: &str) -> Result<Rational, String> {
    let mut parser = Parser { rest: text.trim() };
    let value = parser.sum()?;
    if parser.rest.trim().is_empty() { Ok(value) } else { Err(format!("`{}` is left over", parser.rest)) }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn take(&mut self, wanted: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<Rational, String> {
        let mut a = self.product()?;
        loop {
            let sign = if self.take("+") {
                1
            } else if self.take("-") {
                -1
            } else {
                return Ok(a);
            };
            let b = self.product()?;
            a = (a.0 * b.1 + sign * b.0 * a.1, a.1 * b.1);
        }
    }

    fn product(&mut self) -> Result<Rational, String> {
        let mut a = self.power()?;
        loop {
            if self.take("*") {
                let b = self.power()?;
                a = (a.0 * b.0, a.1 * b.1);
            } else if self.take("/") {
                let b = self.power()?;
                if b.0 <= 0 {
                    return Err("division by a number that is not positive".into());
                }
                a = (a.0 * b.1, a.1 * b.0);
            } else {
                return Ok(a);
            }
        }
    }

    fn power(&mut self) -> Result<Rational, String> {
        let base = self.atom()?;
        if !self.take("^") {
            return Ok(base);
        }
        let (exponent, 1) = self.atom()? else { return Err("an exponent must be whole".into()) };
        let exponent = u32::try_from(exponent).map_err(|e| e.to_string())?;
        Ok((base.0.pow(exponent), base.1.pow(exponent)))
    }

    fn atom(&mut self) -> Result<Rational, String> {
        for (name, round) in [("round(", 1), ("floor(", 0), ("ceil(", 2)] {
            if self.take(name) {
                let (n, d) = self.sum()?;
                self.close()?;
                // floor((2n + round·d) / 2d), and the ceiling as a floor of the negative.
                return Ok(match round {
                    2 => (-(-n).div_euclid(d), 1),
                    _ => ((2 * n + round * d).div_euclid(2 * d), 1),
                });
            }
        }
        if self.take("(") {
            let value = self.sum()?;
            self.close()?;
            return Ok(value);
        }
        self.rest = self.rest.trim_start();
        let digits: String = self.rest.chars().take_while(|c| c.is_ascii_digit() || *c == '_').collect();
        self.rest = &self.rest[digits.len()..];
        let value = digits.replace('_', "").parse().map_err(|_| format!("no number at `{}`", self.rest))?;
        Ok((value, 1))
    }

    fn close(&mut self) -> Result<(), String> {
        if self.take(")") { Ok(()) } else { Err(format!("`)` is missing at `{}`", self.rest)) }
    }
}

#[test]
fn claims_are_evaluated() {
    check("20159 == round(2^26 / 3329)").unwrap();
    check("1441 == ceil(2^12 * 1441 / (2^12)) - 0").unwrap();
    check("2_000 == floor(10^4/5 + 1/2)").unwrap();
    assert!(check("20158 == round(2^26 / 3329)").is_err());
    assert!(check("1 + == 2").is_err() && check("1").is_err() && check("1 == 1 1").is_err());
}

#[test]
fn long_literals_are_seen() {
    assert!(has_long_literal("let x = 3329;") && has_long_literal("1_000u64") && has_long_literal("0xfffe_u32"));
    assert!(
        !has_long_literal("x2048 + 100 + u128::MAX + \"12345\"")
            && !has_long_literal("1 << 62 & 0xffffu & 0b1010_1010")
    );
}
