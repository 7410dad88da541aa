//! The polynomial `f` of a ring `Z_q[x]/(f)`.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::error::excerpt;
use crate::{Error, Result};

/// One term `coefficient · x^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Exponent of `x`.
    pub exponent: usize,
    /// Coefficient, any representative.
    pub coefficient: i64,
}

/// The monic polynomial `f` of degree `N`, by what stands below `x^N`.
///
/// ```
/// use karat::ring::Quotient;
/// let (n, f) = Quotient::parse("x^761 - x - 1").unwrap();
/// assert_eq!((n, f.display(n).to_string().as_str()), (761, "x^761 - x - 1"));
/// assert_eq!(Quotient::parse("x^256+1").unwrap(), (256, Quotient::Negacyclic));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quotient {
    /// `x^N + 1`.
    Negacyclic,
    /// `x^N - 1`.
    Cyclic,
    /// `x^N` and these lower terms, by falling exponent.
    Sparse(Cow<'static, [Term]>),
}

impl Quotient {
    /// Lower terms that a sparse polynomial may have.
    pub const MAX_TERMS: usize = 64;

    /// The terms below `x^N`, by falling exponent.
    ///
    /// ```
    /// use karat::ring::{Quotient, Term};
    /// assert_eq!(Quotient::Cyclic.lower_terms(), [Term { exponent: 0, coefficient: -1 }]);
    /// ```
    pub fn lower_terms(&self) -> &[Term] {
        match self {
            Self::Negacyclic => &[Term { exponent: 0, coefficient: 1 }],
            Self::Cyclic => &[Term { exponent: 0, coefficient: -1 }],
            Self::Sparse(terms) => terms,
        }
    }

    /// Reads a sum of terms `[c][*]x[^e]`, blanks anywhere between tokens; gives the degree and the polynomial.
    ///
    /// # Errors
    /// `Parse` where the text is no such sum; `InvalidRing` where it is not monic, is constant, has a degree above
    /// [`MAX_N`](super::MAX_N), or more than [`Self::MAX_TERMS`] lower terms.
    pub fn parse(text: &str) -> Result<(usize, Self)> {
        let mut terms = BTreeMap::<usize, i64>::new();
        for (exponent, coefficient) in Parser::new(text).terms()? {
            let sum = terms.entry(exponent).or_insert(0);
            *sum = sum.checked_add(coefficient).ok_or_else(|| parse_error(text, "a coefficient is too large"))?;
        }
        terms.retain(|_, coefficient| *coefficient != 0);
        let Some((&n, &leading)) = terms.last_key_value() else {
            return Err(Error::InvalidRing("f = 0".into()));
        };
        if n == 0 {
            return Err(Error::InvalidRing("f is a constant: N = 0".into()));
        }
        if leading != 1 {
            return Err(Error::InvalidRing(alloc::format!("f is not monic: its leading coefficient is {leading}")));
        }
        terms.remove(&n);
        let lower: Vec<Term> =
            terms.into_iter().rev().map(|(exponent, coefficient)| Term { exponent, coefficient }).collect();
        Ok((n, Self::from_lower_terms(lower)?))
    }

    /// The polynomial with these terms below `x^N`, by falling exponent.
    ///
    /// # Errors
    /// `InvalidRing` for more than [`Self::MAX_TERMS`] terms or for exponents that do not fall.
    ///
    /// ```
    /// use karat::ring::{Quotient, Term};
    /// let one = vec![Term { exponent: 0, coefficient: 1 }];
    /// assert_eq!(Quotient::from_lower_terms(one).unwrap(), Quotient::Negacyclic);
    /// ```
    pub fn from_lower_terms(lower: Vec<Term>) -> Result<Self> {
        if lower.len() > Self::MAX_TERMS {
            return Err(Error::InvalidRing(alloc::format!(
                "f has {} terms below x^N; at most {} are supported",
                lower.len(),
                Self::MAX_TERMS
            )));
        }
        if lower.windows(2).any(|pair| pair[0].exponent <= pair[1].exponent) {
            return Err(Error::InvalidRing("the exponents of f must fall".into()));
        }
        Ok(match lower[..] {
            [Term { exponent: 0, coefficient: 1 }] => Self::Negacyclic,
            [Term { exponent: 0, coefficient: -1 }] => Self::Cyclic,
            _ => Self::Sparse(lower.into()),
        })
    }

    /// Prints `f` as a polynomial of degree `n`.
    ///
    /// ```
    /// assert_eq!(karat::ring::Quotient::Negacyclic.display(8).to_string(), "x^8 + 1");
    /// ```
    pub fn display(&self, n: usize) -> impl fmt::Display + '_ {
        Display { quotient: self, n }
    }
}

struct Display<'a> {
    quotient: &'a Quotient,
    n: usize,
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        power(f, self.n)?;
        for term in self.quotient.lower_terms() {
            let size = term.coefficient.unsigned_abs();
            write!(f, " {} ", if term.coefficient < 0 { '-' } else { '+' })?;
            if size != 1 || term.exponent == 0 {
                write!(f, "{size}")?;
            }
            if term.exponent > 0 {
                power(f, term.exponent)?;
            }
        }
        Ok(())
    }
}

fn power(f: &mut fmt::Formatter<'_>, exponent: usize) -> fmt::Result {
    match exponent {
        1 => write!(f, "x"),
        _ => write!(f, "x^{exponent}"),
    }
}

fn parse_error(text: &str, reason: &str) -> Error {
    Error::Parse { text: excerpt(text), reason: alloc::format!("{reason}; f is a sum of terms such as x^761 - x - 1") }
}

/// Reads terms left to right.
struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, rest: text }
    }

    fn error(&self, reason: &str) -> Error {
        parse_error(self.text, reason)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn number(&mut self) -> Result<Option<u64>> {
        self.rest = self.rest.trim_start();
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().map(Some).map_err(|_| self.error("a number is too large"))
    }

    fn terms(mut self) -> Result<Vec<(usize, i64)>> {
        let mut out = Vec::new();
        loop {
            let negative = self.take('-');
            if !negative && !self.take('+') && !out.is_empty() {
                return Err(self.error("a sign is missing between two terms"));
            }
            let (exponent, size) = self.term()?;
            // The least number is one further from zero than the greatest.
            let coefficient = if negative { 0i64.checked_sub_unsigned(size) } else { size.try_into().ok() };
            out.push((exponent, coefficient.ok_or_else(|| self.error("a number is too large"))?));
            if self.rest.trim_start().is_empty() {
                return Ok(out);
            }
            if out.len() > 4 * Quotient::MAX_TERMS {
                return Err(self.error("it has too many terms"));
            }
        }
    }

    fn term(&mut self) -> Result<(usize, u64)> {
        let coefficient = self.number()?;
        let times = self.take('*');
        if times && coefficient.is_none() {
            return Err(self.error("a factor is missing before `*`"));
        }
        if !self.take('x') {
            return match coefficient {
                Some(_) if times => Err(self.error("`x` is missing after `*`")),
                Some(c) => Ok((0, c)),
                None => Err(self.error("a term is missing")),
            };
        }
        let exponent = if self.take('^') {
            self.number()?.ok_or_else(|| self.error("an exponent is missing after `^`"))?
        } else {
            1
        };
        match usize::try_from(exponent) {
            Ok(exponent) if exponent <= super::MAX_N => Ok((exponent, coefficient.unwrap_or(1))),
            _ => Err(Error::InvalidRing(alloc::format!(
                "exponent {exponent} of f is above the largest degree, {}",
                super::MAX_N
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn reads_what_it_prints() {
        for text in [
            "x^256 + 1",
            "x^509 - 1",
            "x^761 - x - 1",
            "x^100 + 3x^7 + 5",
            "x - 4",
            "x^2",
            "x^768 - x^384 + 1",
            "x^2 + 9223372036854775807x - 9223372036854775807",
            "x^2 - 9223372036854775808x - 9223372036854775808",
        ] {
            let (n, f) = Quotient::parse(text).unwrap();
            assert_eq!(f.display(n).to_string(), text);
        }
    }

    #[test]
    fn spellings() {
        let expected = Quotient::parse("x^100 + 3x^7 + 5").unwrap();
        for text in ["x^100+3x^7+5", " 5 + x ^ 100 + 3 * x ^ 7 ", "x^100+2x^7+x^7+6-1", "+1*x^100 + 3*x^7+5"] {
            assert_eq!(Quotient::parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn hostile_text_is_an_error() {
        for text in [
            "",
            " ",
            "1",
            "0",
            "x^",
            "x^0",
            "^3",
            "x^2 +",
            "x^2 + + 1",
            "x^2 1",
            "2x^3+1",
            "-x^2+1",
            "x^2*3",
            "y^2+1",
            "3*",
            "*x",
            "x^-2",
            "x^99999999999999999999+1",
            "x^200000+1",
            "99999999999999999999x+x^2",
            "x^2+9223372036854775808x",
            "x^2-9223372036854775809x",
            "x^2-9223372036854775808x-x",
            "x^18446744073709551615+1",
            "x^2-x^2",
            "x^2+1é",
        ] {
            assert!(Quotient::parse(text).is_err(), "{text}");
        }
        let long = (0..1000).map(|e| alloc::format!("x^{e}")).collect::<Vec<_>>().join("+");
        assert!(Quotient::parse(&long).is_err());
    }
}
