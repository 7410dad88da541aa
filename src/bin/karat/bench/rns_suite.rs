//! `karat bench rns`: the rows, the study, and how they are shown.

use karat::AnyBackend;

use super::Args;
use super::rns::{Case, Row, cases};
use super::study;
use crate::failure::Failure;
use crate::output::{Output, Summary, complain, progress};

const HEADER: [&str; 10] =
    ["N", "bits", "primes", "variant", "forward us", "inverse us", "cold us", "single us", "data MB", "twiddles MB"];

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let AnyBackend::Cuda(gpu) = args.backend.backend()? else {
        return Err(Failure::Usage("the suite rns measures GPUs: add --backend cuda".into()));
    };
    if args.study {
        let study::Study { findings, rows, wrong, .. } = study::run(&gpu)?;
        for finding in &findings {
            out.row(finding)?;
        }
        let published = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |v| format!("{v}"));
        let cells = findings.iter().map(|f| {
            vec![f.study.into(), f.what.clone(), format!("{:.2}", f.measured), published(f.published), f.unit.into()]
        });
        out.table(&["study", "what", "measured", "published", "unit"], &["measured", "published"], cells.collect())?;
        if let Some(file) = &args.svg {
            std::fs::write(file, study::svg(&findings)).map_err(Failure::io(file))?;
        }
        return print(&rows, &wrong, out);
    }
    let id = |case: &Case| format!("ntt/2^{}-{}/{}/{}", case.log_n, case.bits, case.variant, case.primes);
    let wanted = |case: &Case| args.filter.as_deref().is_none_or(|text| id(case).contains(text));
    let cases: Vec<Case> = cases(&args.variant).into_iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err(Failure::Usage("no row matches --filter; without it all are measured".into()));
    }
    let bar = progress(Some(cases.len() as u64), "measuring");
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for case in &cases {
        match case.measure(&gpu)? {
            Some(row) => rows.push(row),
            None => wrong.push(id(case)),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&rows, &wrong, out)
}

fn print(rows: &[Row], wrong: &[String], out: &mut Output) -> Result<Summary, Failure> {
    for row in rows {
        out.row(row)?;
    }
    let mb = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let cells = rows.iter().map(|row| {
        vec![
            format!("2^{}", row.log_n),
            row.bits.to_string(),
            row.primes.to_string(),
            row.variant.clone(),
            format!("{:.2}", row.forward_us),
            format!("{:.2}", row.inverse_us),
            format!("{:.2}", row.forward_cold_us),
            format!("{:.2}", row.forward_single_us),
            mb(row.data_bytes),
            mb(row.twiddle_bytes),
        ]
    });
    out.table(&HEADER, &HEADER[4..], cells.collect())?;
    for id in wrong {
        complain(format_args!("wrong result, not timed: {id}"));
    }
    Ok(Summary { passed: rows.len() as u64, failed: wrong.len() as u64, skipped: 0 })
}
