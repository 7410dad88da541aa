//! Recordings, streams and pinned memory of any device.

use karat::backend::cuda::{Device, Gpu, Graph};
use karat::backend::{Backend, Erase, Matrix};
use karat::ring::presets::{MlKem, Saber};
use karat::{Error, Ring, RingContext, RingMul};

use super::Random;

fn same<R: Ring>(what: &str, got: Vec<R::Word>, expected: Vec<R::Word>) {
    assert!(got == expected, "{what} differs");
}

/// Every operation recorded, replayed on other operands, and compared with the same operations at once.
pub fn recordings<D: Device, R: Ring>(gpu: &Gpu<D>, ring: R, batch: usize)
where
    Gpu<D>: RingMul<R>,
{
    let (n, q) = (ring.spec().n(), ring.spec().q());
    let context = RingContext::new(gpu.clone(), ring.clone()).unwrap();
    let mut random = Random(n as u64);
    let mut operand = || context.upload(&random.residues::<R::Word>(batch * n, q, false)).unwrap();
    let (a, b, c) = (operand(), operand(), operand());
    let plan = RingMul::<R>::plan(gpu, &ring).unwrap();
    let words = RingMul::<R>::ntt_words(gpu, &plan);
    let expected = context.mul(&a, &c).unwrap().download().unwrap();
    // On raw buffers, so that the graph can be replayed after the operands change.
    let upload = |source: &[R::Word]| {
        let mut buffer = gpu.alloc::<R::Word>(source.len(), Erase::OnDrop).unwrap();
        gpu.upload(source, &mut buffer).unwrap();
        buffer
    };
    let (ba, mut bb) = (upload(&a.download().unwrap()), upload(&b.download().unwrap()));
    let ntt = || gpu.alloc::<u64>(batch * words, Erase::OnDrop).unwrap();
    let (mut fa, mut fb, mut fc) = (ntt(), ntt(), ntt());
    let out = || gpu.alloc::<R::Word>(batch * n, Erase::OnDrop).unwrap();
    let (mut product, mut steps) = (out(), out());
    let graph = Graph::record(gpu, |gpu| {
        RingMul::<R>::mul(gpu, &plan, batch, &ba, &bb, &mut product)?;
        RingMul::<R>::ntt(gpu, &plan, batch, &ba, &mut fa)?;
        RingMul::<R>::ntt(gpu, &plan, batch, &bb, &mut fb)?;
        let shape = Matrix { batch, rows: 1, columns: 1, shared: false };
        RingMul::<R>::mat_vec(gpu, &plan, shape, &fa, &fb, &mut fc)?;
        RingMul::<R>::intt(gpu, &plan, batch, &fc, &mut steps)
    })
    .unwrap();
    let fetch = |buffer: &<Gpu<D> as Backend>::Buffer<R::Word>| {
        let mut host = vec![R::Word::default(); batch * n];
        gpu.download(buffer, &mut host).unwrap();
        host
    };
    assert!(fetch(&product).iter().all(|x| *x == R::Word::default()), "a recorded operation ran");
    gpu.upload(&c.download().unwrap(), &mut bb).unwrap();
    for round in 0..3 {
        graph.replay().unwrap();
        same::<R>(&format!("mul, replay {round}"), fetch(&product), expected.clone());
        same::<R>(&format!("transforms, replay {round}"), fetch(&steps), expected.clone());
    }
    // Operations beside the replays use the same work space, and more of it.
    let many = context.upload(&vec![R::Word::default(); 3 * batch * n]).unwrap();
    let mut more = context.zeros(3 * batch).unwrap();
    context.mul_into(&many, &many, &mut more).unwrap();
    // Buffers and the plan go; what the graph needs stays.
    drop((ba, bb, fa, fb, fc, plan));
    graph.replay().unwrap();
    same::<R>("mul, after the operands are dropped", fetch(&product), expected.clone());
    same::<R>("transforms, after the operands are dropped", fetch(&steps), expected);
}

/// Copies and waiting cannot be recorded; the stream is usable afterwards.
pub fn what_cannot_be_recorded<D: Device>(gpu: &Gpu<D>) {
    let mut buffer = gpu.alloc::<u32>(4, Erase::No).unwrap();
    let mut host = gpu.pinned::<u32>(4, Erase::No).unwrap();
    let other = gpu.fork().unwrap();
    let mut tries: Vec<Box<dyn FnMut(&Gpu<D>) -> karat::Result<()> + '_>> = vec![
        Box::new(|gpu| gpu.upload(&[1, 2, 3, 4], &mut gpu.alloc::<u32>(4, Erase::No)?)),
        Box::new(|gpu| gpu.download(&gpu.alloc::<u32>(4, Erase::No)?, &mut [0; 4])),
        Box::new(|gpu| gpu.synchronize()),
        Box::new(|gpu| gpu.start_upload(&host, 0, &mut gpu.alloc::<u32>(4, Erase::No)?, 4)),
        Box::new(|gpu| gpu.join(&other)),
        Box::new(|gpu| Graph::record(gpu, |_| Ok(())).map(drop)),
    ];
    for work in &mut tries {
        let error = Graph::record(gpu, work).map(drop).unwrap_err();
        assert!(matches!(error, Error::Device { operation: "recording operations", .. }), "{error}");
    }
    drop(tries);
    let failed = Graph::record(gpu, |_| Err(Error::Foreign("tests"))).map(drop);
    assert_eq!(failed, Err(Error::Foreign("tests")));
    let graph = Graph::record(gpu, |_| Ok::<(), Error>(())).unwrap();
    let error = Graph::record(gpu, |_| graph.replay()).map(drop).unwrap_err();
    assert!(matches!(error, Error::Device { .. }), "{error}");
    gpu.upload(&[1, 2, 3, 4], &mut buffer).unwrap();
    gpu.start_download(&buffer, &mut host, 0, 4).unwrap();
    assert_eq!(host.words().unwrap(), [1, 2, 3, 4]);
}

/// Work on forked streams, joined, at once and recorded.
pub fn forks<D: Device>(gpu: &Gpu<D>, batch: usize)
where
    Gpu<D>: RingMul<MlKem> + RingMul<Saber>,
{
    let context = RingContext::new(gpu.clone(), Saber).unwrap();
    let mut random = Random(5);
    let mut operand = || context.upload(&random.residues::<u16>(batch * 256, 8192, false)).unwrap();
    let (a, b) = (operand(), operand());
    let square = context.mul(&a, &a).unwrap();
    let expected = context.mul(&square, &context.mul(&b, &b).unwrap()).unwrap().download().unwrap();
    let raw = |source: &[u16]| {
        let mut buffer = gpu.alloc::<u16>(source.len(), Erase::OnDrop).unwrap();
        gpu.upload(source, &mut buffer).unwrap();
        buffer
    };
    let (a, b) = (raw(&a.download().unwrap()), raw(&b.download().unwrap()));
    let out = || gpu.alloc::<u16>(batch * 256, Erase::OnDrop).unwrap();
    let (mut x, mut y, mut z) = (out(), out(), out());
    let plan = RingMul::<Saber>::plan(gpu, &Saber).unwrap();
    let mut work = |gpu: &Gpu<D>| {
        let beside = gpu.fork()?;
        RingMul::<Saber>::mul(gpu, &plan, batch, &a, &a, &mut x)?;
        RingMul::<Saber>::mul(&beside, &plan, batch, &b, &b, &mut y)?;
        gpu.join(&beside)?;
        RingMul::<Saber>::mul(gpu, &plan, batch, &x, &y, &mut z)
    };
    work(gpu).unwrap();
    let graph = Graph::record(gpu, &mut work).unwrap();
    let mut got = vec![0; batch * 256];
    gpu.download(&z, &mut got).unwrap();
    assert!(got == expected, "forked work differs");
    gpu.upload(&vec![0; batch * 256], &mut z).unwrap();
    graph.replay().unwrap();
    gpu.download(&z, &mut got).unwrap();
    assert!(got == expected, "recorded forked work differs");
    // A buffer that another stream uses is dropped, and its memory used again at once.
    let beside = gpu.fork().unwrap();
    for _ in 0..20 {
        let temporary = raw(&expected);
        beside.join(gpu).unwrap();
        RingMul::<Saber>::mul(&beside, &plan, batch, &temporary, &temporary, &mut z).unwrap();
        drop(temporary);
        let _again = raw(&vec![1; batch * 256]);
    }
    gpu.join(&beside).unwrap();
    gpu.download(&z, &mut got).unwrap();
    let product = context.upload(&expected).unwrap();
    assert!(got == context.mul(&product, &product).unwrap().download().unwrap(), "memory was given back too early");
}

/// Products from pinned memory in several parts.
pub fn pipeline<D: Device>(gpu: &Gpu<D>, batch: usize)
where
    Gpu<D>: RingMul<MlKem, Plan = karat::backend::cuda::Plan<D>>,
{
    let context = RingContext::new(gpu.clone(), MlKem).unwrap();
    let mut random = Random(77);
    let mut host = || {
        let mut buffer = gpu.pinned::<u16>(batch * 256, Erase::OnDrop).unwrap();
        buffer.words_mut().unwrap().copy_from_slice(&random.residues::<u16>(batch * 256, 3329, false));
        buffer
    };
    let (a, b, mut out) = (host(), host(), host());
    let upload = |host: &karat::backend::cuda::PinnedBuffer<D, u16>| context.upload(host.words().unwrap()).unwrap();
    let expected = context.mul(&upload(&a), &upload(&b)).unwrap().download().unwrap();
    gpu.mul_pinned::<MlKem>(context.plan(), batch, &a, &b, &mut out).unwrap();
    assert!(out.words().unwrap() == expected, "products from pinned memory differ");
    let too_long = gpu.mul_pinned::<MlKem>(context.plan(), batch + 1, &a, &b, &mut out);
    assert!(matches!(too_long, Err(Error::WrongLength { .. })));
    gpu.mul_pinned::<MlKem>(context.plan(), 0, &a, &b, &mut out).unwrap();
}

/// Parts of pinned buffers, to and fro.
pub fn pinned<D: Device>(gpu: &Gpu<D>) {
    let mut host = gpu.pinned::<u16>(1001, Erase::OnDrop).unwrap();
    assert!(host.words().unwrap().iter().all(|x| *x == 0) && host.len() == 1001 && !host.is_empty());
    host.words_mut().unwrap().iter_mut().zip(0..).for_each(|(word, i)| *word = i);
    let mut buffer = gpu.alloc::<u16>(500, Erase::OnDrop).unwrap();
    gpu.start_upload(&host, 501, &mut buffer, 500).unwrap();
    gpu.start_download(&buffer, &mut host, 3, 500).unwrap();
    let words = host.words().unwrap();
    assert!(words[..3] == [0, 1, 2] && words[3..503].iter().copied().eq(501..1001) && words[503] == 503);
    let too_long = gpu.start_upload(&host, 502, &mut buffer, 500);
    assert!(matches!(too_long, Err(Error::WrongLength { .. })));
    let too_long = gpu.start_download(&buffer, &mut host, 0, 501);
    assert!(matches!(too_long, Err(Error::WrongLength { .. })));
    let empty = gpu.pinned::<u64>(0, Erase::No).unwrap();
    assert!(empty.is_empty() && empty.words().unwrap().is_empty());
    assert!(gpu.pinned::<u64>(usize::MAX / 4, Erase::No).is_err());
}
