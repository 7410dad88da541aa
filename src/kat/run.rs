//! Validates vector files on a backend.

#[cfg(feature = "cli")]
mod schemes;

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec::Vec;

use super::source::Source;
use super::{FileError, FileReport, Format, KatError, Mismatch, Multiplier, Progress, rsp};
use crate::{AnyBackend, Error, RingSpec};

/// Coefficients of one operand that are multiplied at once.
pub(super) const BATCH: usize = 1 << 17;
/// Rings that stay prepared.
const CACHE: usize = 16;

/// Validates vector files on one backend.
///
/// Memory is bounded by one batch of products, about ten MiB, and the tables of a few rings.
///
/// ```
/// use karat::{AnyBackend, kat::{Runner, files}};
/// let mut runner = Runner::new(AnyBackend::from_name("scalar")?);
/// for path in files(&["kats".into()]) {
///     let report = runner.check_file(&path, &mut |_| ());
///     assert!(report.is_ok(), "{}: {:?} {:?}", path.display(), report.mismatch, report.error);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runner {
    backend: AnyBackend,
    /// Most recently used last.
    cache: Vec<(Arc<RingSpec>, Arc<Multiplier>)>,
    /// What answers the vectors of schemes, once one was seen.
    #[cfg(feature = "cli")]
    implementation: Option<std::boxed::Box<dyn super::scheme::Implementation>>,
}

impl Runner {
    /// A runner on this backend.
    pub fn new(backend: AnyBackend) -> Self {
        Self {
            backend,
            cache: Vec::new(),
            #[cfg(feature = "cli")]
            implementation: None,
        }
    }

    /// The backend.
    pub fn backend(&self) -> &AnyBackend {
        &self.backend
    }

    /// Checks a file. `progress` is called after every batch.
    ///
    /// Whatever is wrong with the file is in the report.
    pub fn check_file(&mut self, path: &Path, progress: &mut dyn FnMut(Progress)) -> FileReport {
        match File::open(path) {
            Ok(file) => self.check_reader(path, file, progress),
            Err(error) => {
                let error = Some(FileError::new(path, 0, error));
                FileReport { error, ..FileReport::new(path.into()) }
            }
        }
    }

    /// Checks what a reader gives; `name` stands for a path in the report.
    pub fn check_reader(
        &mut self,
        name: impl Into<PathBuf>,
        reader: impl Read,
        progress: &mut dyn FnMut(Progress),
    ) -> FileReport {
        let mut report = FileReport::new(name.into());
        let result = Source::new(reader).map_err(|error| FileError::new(&report.path, 0, error)).and_then(|source| {
            match Format::detect(&report.path, &source.head) {
                Ok(format) => {
                    report.format = Some(format);
                    match format {
                        #[cfg(feature = "cli")]
                        Format::Ring if self.is_foreign() => {
                            Err(FileError::new(&report.path, 0, KatError::RingForProgram))
                        }
                        Format::Ring => self.check_ring(source, &mut report, progress),
                        #[cfg(feature = "cli")]
                        format => self.check_scheme(format, source, &mut report, progress),
                    }
                }
                Err(reason) => {
                    report.skip(&reason, 1);
                    Ok(())
                }
            }
        });
        report.error = result.err();
        report
    }

    fn check_ring(
        &mut self,
        source: Source<'_>,
        report: &mut FileReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), FileError> {
        let Source { reader, bytes, .. } = source;
        let mut reader = rsp::Reader::new(report.path.clone(), reader);
        let mut batch = Batch::default();
        let result = self.fill(&mut reader, &mut batch, report, &mut |report| {
            progress(Progress { bytes: bytes.get(), passed: report.passed, failed: report.failed });
        });
        report.skip("headers that this format does not define", reader.unknown_headers());
        // Records before an error count.
        let last = self.flush(&mut batch, report);
        progress(Progress { bytes: bytes.get(), passed: report.passed, failed: report.failed });
        last.and(result)
    }

    fn fill(
        &mut self,
        reader: &mut rsp::Reader<impl BufRead>,
        batch: &mut Batch,
        report: &mut FileReport,
        progress: &mut dyn FnMut(&FileReport),
    ) -> Result<(), FileError> {
        while let Some(record) = reader.read()? {
            if !batch.takes(record) {
                self.flush(batch, report)?;
                progress(report);
            }
            batch.push(record, report);
        }
        Ok(())
    }

    /// Multiplies and compares what was collected.
    fn flush(&mut self, batch: &mut Batch, report: &mut FileReport) -> Result<(), FileError> {
        let Some(ring) = batch.ring.take() else { return Ok(()) };
        let places = std::mem::take(&mut batch.places);
        let products = self.multiplier(&ring).and_then(|multiplier| multiplier.mul(&batch.a, &batch.b));
        let line = places.first().map_or(0, |(_, line)| *line);
        let products = match products {
            Ok(products) => products,
            Err(error @ Error::Unsupported { .. }) => {
                report.skip(&std::format!("{ring}: {error}"), places.len() as u64);
                batch.clear();
                return Ok(());
            }
            Err(error) => return Err(FileError::new(&report.path, line, KatError::Engine(error))),
        };
        let n = ring.n();
        for ((count, line), (expected, got)) in places.into_iter().zip(batch.c.chunks(n).zip(products.chunks(n))) {
            match expected.iter().zip(got).position(|(expected, got)| expected != got) {
                None => report.passed += 1,
                Some(index) => {
                    report.failed += 1;
                    let (expected, got) = (expected[index], got[index]);
                    report.mismatch.get_or_insert(Mismatch { count, line, index, expected, got });
                }
            }
        }
        batch.clear();
        Ok(())
    }

    fn multiplier(&mut self, ring: &Arc<RingSpec>) -> crate::Result<Arc<Multiplier>> {
        let entry = match self.cache.iter().position(|(cached, _)| cached == ring) {
            Some(index) => self.cache.remove(index),
            None => (Arc::clone(ring), Arc::new(Multiplier::new(&self.backend, ring)?)),
        };
        if self.cache.len() == CACHE {
            self.cache.remove(0);
        }
        let multiplier = Arc::clone(&entry.1);
        self.cache.push(entry);
        Ok(multiplier)
    }
}

/// Records of one ring that wait to be multiplied.
#[derive(Default)]
struct Batch {
    ring: Option<Arc<RingSpec>>,
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
    /// Number and line of each.
    places: Vec<(u64, u64)>,
}

impl Batch {
    fn takes(&self, record: &rsp::Record) -> bool {
        let Some(ring) = &self.ring else { return true };
        (Arc::ptr_eq(ring, &record.ring) || *ring == record.ring) && self.a.len() + record.a.len() <= BATCH
    }

    fn push(&mut self, record: &rsp::Record, report: &mut FileReport) {
        if self.ring.is_none() {
            report.add_ring(&record.ring);
            self.ring = Some(Arc::clone(&record.ring));
        }
        self.a.extend_from_slice(&record.a);
        self.b.extend_from_slice(&record.b);
        self.c.extend_from_slice(&record.c);
        self.places.push((record.count, record.line));
        for field in &record.unknown {
            report.skip(&std::format!("field `{field}`, which this format does not define"), 1);
        }
    }

    fn clear(&mut self) {
        self.a.clear();
        self.b.clear();
        self.c.clear();
    }
}
