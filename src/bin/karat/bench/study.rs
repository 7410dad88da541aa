//! What two studies of NTTs on GPUs reported, measured again on the GPU at hand.
//!
//! 000: Kim, Jung, Park, Ahn, *Accelerating number theoretic transformations for bootstrappable homomorphic encryption
//! on GPUs*, IISWC 2020. 001: Tan, Zhao, Wan et al., *Fast fully homomorphic encryption on GPUs*, 2024.

use std::fmt::Write;

use karat::backend::cuda::Cuda;
use serde::Serialize;

use super::rns::{Case, Row};
use crate::failure::Failure;

/// One comparison: this row's measured figure, and the published one where there is one.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub suite: &'static str,
    pub study: &'static str,
    pub what: String,
    pub measured: f64,
    pub published: Option<f64>,
    pub unit: &'static str,
}

fn case(log_n: u32, bits: u32, primes: usize, variant: &str) -> Case {
    Case { log_n, bits, primes, polys: 1, variant: variant.into() }
}

/// Findings, the rows that they come from, and what was wrong.
pub struct Study<'a> {
    gpu: &'a Cuda,
    pub rows: Vec<Row>,
    pub wrong: Vec<String>,
    pub findings: Vec<Finding>,
}

impl Study<'_> {
    fn row(&mut self, case: &Case) -> Result<Option<Row>, Failure> {
        let known = |row: &&Row| {
            (row.log_n, row.bits, row.primes, &row.variant) == (case.log_n, case.bits, case.primes, &case.variant)
        };
        if let Some(row) = self.rows.iter().find(known) {
            return Ok(Some(row.clone()));
        }
        let row = case.measure(self.gpu)?;
        match &row {
            Some(row) => self.rows.push(row.clone()),
            None => {
                self.wrong.push(format!("2^{} x {} of {} bits, {}", case.log_n, case.primes, case.bits, case.variant))
            }
        }
        Ok(row)
    }

    fn add(&mut self, study: &'static str, what: String, measured: f64, published: Option<f64>, unit: &'static str) {
        self.findings.push(Finding { suite: "study", study, what, measured, published, unit });
    }

    /// The time of one case over that of another.
    fn ratio(
        &mut self,
        study: &'static str,
        what: String,
        a: Case,
        b: Case,
        published: Option<f64>,
    ) -> Result<(), Failure> {
        if let (Some(a), Some(b)) = (self.row(&a)?, self.row(&b)?) {
            self.add(study, what, a.forward_us / b.forward_us, published, "times as fast");
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Failure> {
        let primes = 21;
        // 000, figure 1: products by Shoup against the machine's modulo, radix 2.
        let native = case(16, 60, primes, "radix2+native");
        let shoup = case(16, 60, primes, "radix2+shoup");
        self.ratio("000", "Shoup over native modulo, radix 2".into(), native, shoup.clone(), Some(2.4))?;
        let barrett = case(16, 60, primes, "radix2+barrett");
        self.ratio("000", "Shoup over Barrett, radix 2".into(), barrett, shoup, None)?;
        for log_n in [14, 15, 16, 17] {
            let radix2 = || case(log_n, 60, primes, "radix2+shoup");
            for variant in ["radix4", "radix8", "radix16", "smem/4", "smem/8", "smem/16"] {
                let other = case(log_n, 60, primes, &format!("{variant}+shoup"));
                self.ratio("000", format!("2^{log_n}: {variant} over radix 2"), radix2(), other, None)?;
            }
            for points in [8, 16] {
                let whole = case(log_n, 60, primes, &format!("smem/{points}+shoup"));
                let fly = case(log_n, 60, primes, &format!("smem-ot/{points}+shoup"));
                if let (Some(whole), Some(fly)) = (self.row(&whole)?, self.row(&fly)?) {
                    let bytes = |row: &Row| (row.data_bytes + row.twiddle_bytes) as f64;
                    let less = 100.0 * (1.0 - bytes(&fly) / bytes(&whole));
                    let what = format!("2^{log_n}: bytes saved on the fly, {points} points a thread");
                    self.add("000", what, less, Some(24.5), "% (counted)");
                    let what = format!("2^{log_n}: time saved on the fly, {points} points a thread");
                    let less = 100.0 * (1.0 - fly.forward_cold_us / whole.forward_cold_us);
                    self.add("000", what, less, Some(9.3), "% (cold)");
                }
            }
            let best = case(log_n, 60, primes, "smem-ot/8+shoup");
            self.ratio("000", format!("2^{log_n}: smem-ot over radix 2"), radix2(), best, Some(4.2))?;
            let mixed = case(log_n, 60, primes, "mixed");
            self.ratio("001", format!("2^{log_n}: mixed launches over one a layer"), radix2(), mixed, None)?;
        }
        for (bits, other) in [(60, 30), (60, 50)] {
            let what = format!("2^16: primes of {other} bits over {bits}");
            self.ratio("000", what, case(16, bits, primes, "auto"), case(16, other, primes, "auto"), None)?;
        }
        for primes in [1, 2, 4, 8, 16, 32, 45, 64] {
            if let Some(row) = self.row(&case(16, 60, primes, "auto"))? {
                self.add("000", format!("2^16: {primes} primes"), row.forward_us / primes as f64, None, "us a prime");
            }
        }
        Ok(())
    }
}

/// Measures everything.
pub fn run(gpu: &Cuda) -> Result<Study<'_>, Failure> {
    let mut study = Study { gpu, rows: Vec::new(), wrong: Vec::new(), findings: Vec::new() };
    study.run()?;
    Ok(study)
}

/// Pixels of a bar's line, of the text's column and of the longest bar.
const LINE: usize = 18;
const TEXT: usize = 360;
const BAR: f64 = 420.0;

/// Bars, measured over published, each kind of unit in its own scale.
pub fn svg(findings: &[Finding]) -> String {
    let largest = |unit: &str| {
        let of_unit = findings.iter().filter(|finding| finding.unit == unit);
        of_unit
            .flat_map(|finding| [finding.measured, finding.published.unwrap_or(0.0)])
            .fold(f64::MIN_POSITIVE, f64::max)
    };
    let (width, height) = (TEXT + BAR as usize + 180, LINE * (findings.len() + 1));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, finding) in findings.iter().enumerate() {
        let y = i * LINE + LINE / 2;
        let length = |value: f64| (value / largest(finding.unit)).clamp(0.0, 1.0) * BAR;
        let published = finding.published.map_or(String::new(), |value| format!(" (published {value})"));
        let _ = writeln!(
            out,
            "<text x=\"4\" y=\"{}\">{} {}</text><rect x=\"{TEXT}\" y=\"{y}\" width=\"{:.1}\" height=\"10\" fill=\"#4477aa\"/>\
             <text x=\"{:.1}\" y=\"{}\">{:.2} {}{published}</text>",
            y + 10,
            finding.study,
            finding.what,
            length(finding.measured),
            TEXT as f64 + length(finding.measured) + 4.0,
            y + 10,
            finding.measured,
            finding.unit
        );
        if let Some(value) = finding.published {
            let x = TEXT as f64 + length(value);
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{}\" stroke=\"#cc3311\"/>",
                y - 2,
                y + 12
            );
        }
    }
    out + "</svg>\n"
}
