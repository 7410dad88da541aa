//! The suite of RNS rings on a GPU. Without one: skipped, or failed where `KARAT_REQUIRE` names cuda.

use karat::backend::cuda::{Cuda, NttVariant};

fn gpu(ntt: &str) -> karat::Result<Cuda> {
    Ok(Cuda::new(0)?.with_ntt(NttVariant::parse(ntt)?))
}

karat::rns_conformance! {
    cuda: gpu("");
    shoup: gpu("ntt:shoup"), small, mixed, widths, long;
    radix2: gpu("ntt:radix2"), small, mixed, long;
    mixed: gpu("ntt:mixed"), lengths, long;
    smem: gpu("ntt:smem/4"), long;
    smem_ot: gpu("ntt:smem-ot/16"), long;
    barrett: gpu("ntt:smem/8+barrett"), widths, long;
    native: gpu("ntt:radix16+native"), widths;
}
