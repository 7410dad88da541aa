//! Several devices as one backend: a batch is split over all of them.
//!
//! A buffer knows no polynomials, so it stays on the host until an operation says how its batch is to be cut; then each
//! device holds one run of whole items. Operations of the same batch find their operands cut alike and move nothing.
//! Another cut goes through the host.

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::buffer::DeviceBuffer;
use super::device::Device;
use super::{Cuda, Driver, Gpu, Plan, devices};
use crate::arith::Word;
use crate::backend::{Backend, Erase, HostBuffer, Matrix, RingMul, expect_len};
use crate::ring::Ring;
use crate::{Error, Result};

/// Devices that share the work of each batch.
#[derive(Debug, Clone)]
pub struct Gpus<D> {
    each: Arc<[Gpu<D>]>,
}

impl Gpus<Driver> {
    /// Every GPU of this machine.
    ///
    /// # Errors
    /// As [`Cuda::new`], for the first that cannot be used.
    ///
    /// ```
    /// use karat::backend::cuda::Gpus;
    /// match Gpus::all() {
    ///     Ok(gpus) => assert!(!gpus.each().is_empty()),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    pub fn all() -> Result<Self> {
        // Without a GPU this says why.
        Self::new((0..devices()?.len().max(1)).map(Cuda::new).collect::<Result<_>>()?)
    }
}

impl<D: Device> Gpus<D> {
    /// These devices.
    ///
    /// # Errors
    /// `BackendUnavailable` where there is none.
    pub fn new(each: Vec<Gpu<D>>) -> Result<Self> {
        if each.is_empty() {
            let reason = "it takes at least one device".into();
            return Err(Error::BackendUnavailable { name: "cuda:all".into(), reason });
        }
        Ok(Self { each: each.into() })
    }

    /// The devices.
    pub fn each(&self) -> &[Gpu<D>] {
        &self.each
    }

    /// Calls `work` for all devices at the same time.
    fn at_once<T: Send>(&self, parts: Vec<T>, work: impl Fn(&Gpu<D>, T) -> Result<()> + Sync) -> Result<()> {
        let work = &work;
        thread::scope(|scope| {
            let threads: Vec<_> =
                self.each.iter().zip(parts).map(|(gpu, part)| scope.spawn(move || work(gpu, part))).collect();
            let panicked = |_| Err(Error::Device { operation: "copying", reason: "a thread panicked".into() });
            // All are joined, whatever the first says.
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).fold(Ok(()), Result::and)
        })
    }

    /// Where a batch is cut: the first item of each device, and the end.
    fn cuts(&self, batch: usize) -> Vec<usize> {
        let devices = self.each.len();
        (0..=devices).map(|i| (batch as u128 * i as u128 / devices as u128) as usize).collect()
    }

    /// A plan of these devices: that of the first.
    fn first<'a>(&self, plan: &'a [Plan<D>]) -> Result<&'a Plan<D>> {
        plan.first().filter(|_| plan.len() == self.each.len()).ok_or(Error::Foreign("devices"))
    }

    /// Calls `work` with each device that has items, its number and how many.
    fn for_each(&self, batch: usize, mut work: impl FnMut(&Gpu<D>, usize, usize) -> Result<()>) -> Result<()> {
        let cuts = self.cuts(batch);
        let counts = cuts.windows(2).map(|cut| cut[1] - cut[0]);
        self.each
            .iter()
            .zip(counts)
            .enumerate()
            .filter(|(_, (_, count))| *count > 0)
            .try_for_each(|(i, (gpu, count))| work(gpu, i, count))
    }

    fn layout(&self, batch: usize, words: usize, len: usize) -> Layout {
        let mut cuts: Vec<_> = self.cuts(batch).into_iter().map(|cut| cut * words).collect();
        // What lies behind the batch stays with the last.
        cuts[self.each.len()] = len;
        Layout::Cut(cuts)
    }

    /// An operand of `batch` times `words` words, cut.
    fn operand<W: Word>(
        &self,
        what: &'static str,
        buffer: &GpusBuffer<D, W>,
        batch: usize,
        words: usize,
    ) -> Result<Arc<Place<D, W>>> {
        expect_len(what, buffer.len, batch.saturating_mul(words))?;
        buffer.place(self, self.layout(batch, words, buffer.len))
    }

    /// An operand that all devices have whole.
    fn shared<W: Word>(&self, what: &'static str, buffer: &GpusBuffer<D, W>, words: usize) -> Result<Arc<Place<D, W>>> {
        expect_len(what, buffer.len, words)?;
        buffer.place(self, Layout::Copies)
    }

    /// A result, cut.
    fn result<'a, W: Word>(
        &self,
        buffer: &'a mut GpusBuffer<D, W>,
        batch: usize,
        words: usize,
    ) -> Result<&'a mut [DeviceBuffer<D, W>]> {
        drop(self.operand("the result", buffer, batch, words)?);
        let place = buffer.place.get_mut().unwrap_or_else(PoisonError::into_inner);
        match Arc::get_mut(place) {
            Some(Place::Devices(_, buffers)) => Ok(buffers),
            _ => Err(Error::Foreign("operations")),
        }
    }
}

/// How a buffer lies on the devices.
#[derive(Debug, PartialEq, Eq)]
enum Layout {
    /// Each has the words between two of these.
    Cut(Vec<usize>),
    /// Each has all.
    Copies,
}

impl Layout {
    /// The words of a device.
    fn range(&self, device: usize, len: usize) -> core::ops::Range<usize> {
        match self {
            Self::Cut(cuts) => cuts[device]..cuts[device + 1],
            Self::Copies => 0..len,
        }
    }
}

/// Where a buffer's words are.
enum Place<D: Device, W> {
    /// Nowhere yet: zeros.
    Zero,
    Host(HostBuffer<W>),
    Devices(Layout, Vec<DeviceBuffer<D, W>>),
}

impl<D: Device, W> Place<D, W> {
    fn buffers(&self) -> &[DeviceBuffer<D, W>] {
        match self {
            Self::Devices(_, buffers) => buffers,
            _ => &[],
        }
    }
}

/// Words on several devices. `Debug` prints no contents.
pub struct GpusBuffer<D: Device, W> {
    len: usize,
    erase: Erase,
    place: Mutex<Arc<Place<D, W>>>,
}

impl<D: Device, W> fmt::Debug for GpusBuffer<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpusBuffer({} words)", self.len)
    }
}

impl<D: Device, W: Word> GpusBuffer<D, W> {
    fn now(&self) -> Arc<Place<D, W>> {
        Arc::clone(&self.place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn read(&self, gpus: &Gpus<D>, place: &Place<D, W>, target: &mut [W]) -> Result<()> {
        match place {
            Place::Zero => target.fill(W::default()),
            Place::Host(words) => target.copy_from_slice(words),
            Place::Devices(_, buffers) if buffers.len() != gpus.each.len() => return Err(Error::Foreign("devices")),
            Place::Devices(Layout::Copies, buffers) => gpus.each[0].download(&buffers[0], target)?,
            Place::Devices(layout, buffers) => {
                let mut parts = Vec::new();
                let mut rest = target;
                for (i, buffer) in buffers.iter().enumerate() {
                    let (part, behind) = rest.split_at_mut(layout.range(i, self.len).len());
                    parts.push((buffer, part));
                    rest = behind;
                }
                gpus.at_once(parts, |gpu, (buffer, part)| gpu.download(buffer, part))?;
            }
        }
        Ok(())
    }

    /// The words on the devices in this layout.
    fn place(&self, gpus: &Gpus<D>, layout: Layout) -> Result<Arc<Place<D, W>>> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        match &**place {
            Place::Devices(_, buffers) if buffers.len() != gpus.each.len() => return Err(Error::Foreign("devices")),
            Place::Devices(now, _) if *now == layout => return Ok(Arc::clone(&place)),
            _ => {}
        }
        let ranges: Vec<_> = (0..gpus.each.len()).map(|i| layout.range(i, self.len)).collect();
        let mut buffers = Vec::new();
        for (gpu, range) in gpus.each.iter().zip(&ranges) {
            buffers.push(gpu.alloc::<W>(range.len(), self.erase)?);
        }
        let mut moved;
        let words: Option<&[W]> = match &**place {
            Place::Zero => None,
            Place::Host(words) => Some(words),
            Place::Devices(..) => {
                moved = HostBuffer::new(self.len, self.erase)?;
                self.read(gpus, &place, &mut moved)?;
                Some(&moved)
            }
        };
        if let Some(words) = words {
            let parts = buffers.iter_mut().zip(ranges).collect();
            gpus.at_once(parts, |gpu, (buffer, range)| gpu.upload(&words[range], buffer))?;
        }
        *place = Arc::new(Place::Devices(layout, buffers));
        Ok(Arc::clone(&place))
    }
}

impl<D: Device> Backend for Gpus<D> {
    fn name(&self) -> &'static str {
        self.each[0].name()
    }

    type Buffer<W: Word> = GpusBuffer<D, W>;

    fn alloc<W: Word>(&self, len: usize, erase: Erase) -> Result<GpusBuffer<D, W>> {
        let bytes = len as u128 * size_of::<W>() as u128;
        if bytes > isize::MAX as u128 {
            return Err(Error::OutOfMemory { bytes });
        }
        Ok(GpusBuffer { len, erase, place: Mutex::new(Arc::new(Place::Zero)) })
    }

    fn upload<W: Word>(&self, source: &[W], target: &mut GpusBuffer<D, W>) -> Result<()> {
        expect_len("the buffer", target.len, source.len())?;
        let mut words = HostBuffer::new(target.len, target.erase)?;
        if source.len() < target.len {
            target.read(self, &target.now(), &mut words)?;
        }
        words[..source.len()].copy_from_slice(source);
        *target.place.get_mut().unwrap_or_else(PoisonError::into_inner) = Arc::new(Place::Host(words));
        Ok(())
    }

    fn download<W: Word>(&self, source: &GpusBuffer<D, W>, target: &mut [W]) -> Result<()> {
        expect_len("the buffer", source.len, target.len())?;
        let place = source.now();
        if source.len == target.len() {
            return source.read(self, &place, target);
        }
        let mut words = HostBuffer::new(source.len, source.erase)?;
        source.read(self, &place, &mut words)?;
        target.copy_from_slice(&words[..target.len()]);
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.each.iter().try_for_each(Gpu::synchronize)
    }
}

impl<D: Device, R: Ring> RingMul<R> for Gpus<D> {
    type Plan = Vec<Plan<D>>;

    fn plan(&self, ring: &R) -> Result<Vec<Plan<D>>> {
        self.each.iter().map(|gpu| RingMul::<R>::plan(gpu, ring)).collect()
    }

    fn ntt_words(&self, plan: &Vec<Plan<D>>) -> usize {
        plan[0].ntt_words()
    }

    fn prepared_words(&self, plan: &Vec<Plan<D>>) -> usize {
        plan[0].prepared_words()
    }

    fn max_terms(&self, plan: &Vec<Plan<D>>) -> u64 {
        plan[0].max_terms()
    }

    fn ntt(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        coefficients: &GpusBuffer<D, R::Word>,
        ntt: &mut GpusBuffer<D, u64>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        let a = self.operand("the operand", coefficients, batch, first.n)?;
        let out = self.result(ntt, batch, first.words)?;
        self.for_each(batch, |gpu, i, count| RingMul::<R>::ntt(gpu, &plan[i], count, &a.buffers()[i], &mut out[i]))
    }

    fn intt(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        ntt: &GpusBuffer<D, u64>,
        coefficients: &mut GpusBuffer<D, R::Word>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        let a = self.operand("the operand", ntt, batch, first.words)?;
        let out = self.result(coefficients, batch, first.n)?;
        self.for_each(batch, |gpu, i, count| RingMul::<R>::intt(gpu, &plan[i], count, &a.buffers()[i], &mut out[i]))
    }

    fn mat_vec(
        &self,
        plan: &Vec<Plan<D>>,
        shape: Matrix,
        matrix: &GpusBuffer<D, u64>,
        vector: &GpusBuffer<D, u64>,
        out: &mut GpusBuffer<D, u64>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        let words = |polynomials: usize| polynomials.saturating_mul(first.words);
        let whole = words(shape.rows.saturating_mul(shape.columns));
        let a = match shape.shared {
            true => self.shared("the matrix", matrix, whole)?,
            false => self.operand("the matrix", matrix, shape.batch, whole)?,
        };
        let b = self.operand("the vector", vector, shape.batch, words(shape.columns))?;
        let out = self.result(out, shape.batch, words(shape.rows))?;
        self.for_each(shape.batch, |gpu, i, batch| {
            let shape = Matrix { batch, ..shape };
            RingMul::<R>::mat_vec(gpu, &plan[i], shape, &a.buffers()[i], &b.buffers()[i], &mut out[i])
        })
    }

    fn prepare(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        ntt: &GpusBuffer<D, u64>,
        prepared: &mut GpusBuffer<D, u64>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        let a = self.operand("the operand", ntt, batch, first.words)?;
        let out = self.result(prepared, batch, first.words)?;
        self.for_each(batch, |gpu, i, count| RingMul::<R>::prepare(gpu, &plan[i], count, &a.buffers()[i], &mut out[i]))
    }

    fn pointwise_prepared(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        shared: bool,
        a: &GpusBuffer<D, u64>,
        prepared: &GpusBuffer<D, u64>,
        out: &mut GpusBuffer<D, u64>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        let words = first.words;
        let b = match shared {
            true => self.shared("the prepared factor", prepared, words)?,
            false => self.operand("the prepared factor", prepared, batch, words)?,
        };
        let a = self.operand("the first factor", a, batch, words)?;
        let out = self.result(out, batch, words)?;
        self.for_each(batch, |gpu, i, count| {
            let (a, b) = (&a.buffers()[i], &b.buffers()[i]);
            RingMul::<R>::pointwise_prepared(gpu, &plan[i], count, shared, a, b, &mut out[i])
        })
    }

    fn mul(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        a: &GpusBuffer<D, R::Word>,
        b: &GpusBuffer<D, R::Word>,
        out: &mut GpusBuffer<D, R::Word>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        let n = first.n;
        let a = self.operand("the first factor", a, batch, n)?;
        let b = self.operand("the second factor", b, batch, n)?;
        let out = self.result(out, batch, n)?;
        self.for_each(batch, |gpu, i, count| {
            RingMul::<R>::mul(gpu, &plan[i], count, &a.buffers()[i], &b.buffers()[i], &mut out[i])
        })
    }

    fn export_ntt(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        ntt: &GpusBuffer<D, u64>,
        residues: &mut GpusBuffer<D, R::Word>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        first.check_exportable()?;
        let a = self.operand("the operand", ntt, batch, first.words)?;
        let out = self.result(residues, batch, first.n)?;
        self.for_each(batch, |gpu, i, count| {
            RingMul::<R>::export_ntt(gpu, &plan[i], count, &a.buffers()[i], &mut out[i])
        })
    }

    fn import_ntt(
        &self,
        plan: &Vec<Plan<D>>,
        batch: usize,
        residues: &GpusBuffer<D, R::Word>,
        ntt: &mut GpusBuffer<D, u64>,
    ) -> Result<()> {
        let first = self.first(plan)?;
        first.check_exportable()?;
        let a = self.operand("the operand", residues, batch, first.n)?;
        let out = self.result(ntt, batch, first.words)?;
        self.for_each(batch, |gpu, i, count| {
            RingMul::<R>::import_ntt(gpu, &plan[i], count, &a.buffers()[i], &mut out[i])
        })
    }
}
