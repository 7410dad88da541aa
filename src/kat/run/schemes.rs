//! Vectors of schemes.

use std::boxed::Box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

use serde_json::Value;

use super::super::scheme::{Answer, Implementation, Own, Record, Verdict, judge};
use super::super::source::Source;
use super::super::{FileError, FileReport, Format, KatError, Progress, acvp, cctv, nist, wycheproof};
use super::Runner;

/// Largest file of these formats: they are read as a whole.
const MAX_FILE: u64 = 1 << 28;

impl Runner {
    /// Checks this implementation instead of karat's own schemes. Ring vectors still run on the backend, unless the
    /// implementation is foreign: nothing else would be checked, so their files are an error.
    ///
    /// ```
    /// use karat::{AnyBackend, kat::{Runner, scheme::Command}};
    /// use std::time::Duration;
    /// let other = Command::new("python3 my_kem.py", Duration::from_secs(10));
    /// let runner = Runner::new(AnyBackend::from_name("scalar")?).with_implementation(other);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_implementation(self, implementation: impl Implementation + 'static) -> Self {
        Self { implementation: Some(Box::new(implementation)), ..self }
    }

    /// What answers the vectors of schemes: karat's own, unless another was set.
    ///
    /// # Errors
    /// Where the backend cannot multiply in the rings.
    pub fn implementation(&mut self) -> Result<&mut dyn Implementation, KatError> {
        Ok(&mut **match &mut self.implementation {
            Some(implementation) => implementation,
            none => none.insert(Box::new(Own::new(&self.backend)?)),
        })
    }

    /// Whether somebody else's implementation is checked.
    pub(super) fn is_foreign(&self) -> bool {
        self.implementation.as_ref().is_some_and(|implementation| implementation.is_foreign())
    }

    pub(super) fn check_scheme(
        &mut self,
        format: Format,
        source: Source<'_>,
        report: &mut FileReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FileError> {
        let path = report.path.clone();
        let failed = |error| FileError::new(&path, 0, error);
        let bytes = source.bytes.clone();
        let text = read(source).map_err(failed)?;
        let at_line = |(line, error): (u64, KatError)| FileError::new(&path, line, error);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let records = match format {
            Format::Nist => nist::records(&text, &name, report).map_err(at_line)?,
            Format::Cctv => cctv::records(&text, &name, report).map_err(at_line)?,
            _ => json_records(&text, &path, report)?,
        };
        if records.is_empty() && report.failed + report.skipped() == 0 && report.prompt.is_none() {
            return Err(failed(KatError::NoRecords));
        }
        let mut tell = |report: &FileReport| {
            progress(Progress { bytes: bytes.get(), passed: report.passed, failed: report.failed });
        };
        self.check_records(&records, report, &mut tell).map_err(failed)
    }

    fn check_records(
        &mut self,
        records: &[Record],
        report: &mut FileReport,
        tell: &mut dyn FnMut(&FileReport),
    ) -> Result<(), KatError> {
        let implementation = self.implementation()?;
        let mut rest = records;
        while !rest.is_empty() {
            // As many records as fill a batch with their first operations.
            let (now, later) = rest.split_at(implementation.batch().clamp(1, rest.len()));
            let cases: Vec<_> = now.iter().flat_map(|record| &record.cases).collect();
            let mut answers = implementation.answer(&cases).into_iter();
            for record in now {
                let answers: Vec<Answer> = answers.by_ref().take(record.cases.len()).collect();
                count(record, &answers, report);
            }
            tell(report);
            rest = later;
        }
        Ok(())
    }
}

/// Judges one record.
fn count(record: &Record, answers: &[Answer], report: &mut FileReport) {
    let missing = Answer::Failure("no answer".into());
    let mut skipped = None;
    for (i, case) in record.cases.iter().enumerate() {
        match judge(&case.expected, answers.get(i).unwrap_or(&missing)) {
            Verdict::Right => {}
            Verdict::Skipped(why) => skipped = Some(why),
            Verdict::Wrong(why) => {
                report.failed += 1;
                let wrong = || std::format!("{}, {} of {}: {why}", record.id, case.op, case.scheme);
                report.wrong.get_or_insert_with(wrong);
                return;
            }
        }
    }
    match skipped {
        Some(why) => report.skip(&why, 1),
        None => report.passed += 1,
    }
}

fn read(source: Source<'_>) -> Result<String, KatError> {
    let mut bytes = Vec::new();
    source.reader.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(KatError::TooLarge { limit: MAX_FILE });
    }
    String::from_utf8(bytes).map_err(|_| KatError::NotText)
}

fn json_records(text: &str, path: &Path, report: &mut FileReport) -> Result<Vec<Record>, FileError> {
    let failed = |error| FileError::new(path, 0, error);
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let line = error.line() as u64;
        FileError::new(path, line, error)
    })?;
    if wycheproof::is_document(&document) {
        return wycheproof::records(&document, report).map_err(failed);
    }
    // An array of documents that hold their answers.
    if let Value::Array(documents) = &document
        && !documents.is_empty()
        && documents.iter().all(|document| acvp::is_document(document) && acvp::has_answers(document))
    {
        let mut out = Vec::new();
        for document in documents {
            out.append(&mut acvp::records(document, document, report).map_err(failed)?);
        }
        return Ok(out);
    }
    if !acvp::is_document(&document) {
        let what = match &document {
            Value::Array(messages) if messages.iter().all(Value::is_string) => "messages without known answers",
            Value::Object(fields) if fields.contains_key("algorithm") => "a registration: capabilities, no tests",
            _ => "a JSON document that is neither ACVP's nor Wycheproof's",
        };
        report.skip(what, 1);
        return Ok(Vec::new());
    }
    if acvp::only_answers(&document) {
        report.prompt = sibling(path, "prompt");
        if report.prompt.is_none() {
            report.skip("expected results without a prompt.json beside them", 1);
        }
        return Ok(Vec::new());
    }
    if acvp::has_answers(&document) {
        return acvp::records(&document, &document, report).map_err(failed);
    }
    let Some(answers) = sibling(path, "expectedResults") else {
        report.skip("a prompt without an expectedResults.json beside it", 1);
        return Ok(Vec::new());
    };
    let file = std::fs::File::open(&answers).map_err(|error| FileError::new(&answers, 0, error))?;
    let source = Source::new(file).map_err(|error| FileError::new(&answers, 0, error))?;
    let text = read(source).map_err(|error| FileError::new(&answers, 0, error))?;
    let answers = serde_json::from_str(&text).map_err(|error| FileError::new(&answers, 0, error))?;
    acvp::records(&document, &answers, report).map_err(failed)
}

/// The other file of a prompt and its expected results.
fn sibling(path: &Path, stem: &str) -> Option<PathBuf> {
    [".json", ".json.gz"].into_iter().map(|end| path.with_file_name([stem, end].concat())).find(|path| path.is_file())
}
