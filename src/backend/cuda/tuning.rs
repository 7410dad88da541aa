//! What was measured to be fastest, as data. `karat tune` measures it anew for the GPU at hand.

use serde::{Deserialize, Serialize};

use super::Variant;
use super::cluster::ClusterShape;
use super::ntt_variant::{NttVariant, Scheme};
use super::rns::Geometry;

/// How products in registers are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WarpTuning {
    /// Whether the sums at the points are reduced in double precision; for moduli below 2^14.
    pub doubles: bool,
    /// Blocks that a multiprocessor holds at once: bounds the registers of a thread.
    pub blocks: u32,
}

/// Thresholds and parameters of a device.
///
/// ```
/// use karat::backend::cuda::{Cuda, Tuning};
/// let Ok(gpu) = Cuda::new(0) else { return };
/// let gpu = gpu.with_tuning(Tuning { fused_lanes: 1 << 11, ..Tuning::default() });
/// assert_eq!(gpu.tuning().fused_lanes, 2048);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    /// Moduli below 2^14, N = 256, 512 and 1024.
    pub small: [WarpTuning; 3],
    /// Larger moduli.
    pub shoup: WarpTuning,
    /// Lanes of a transform up to which one block does all of it.
    pub fused_lanes: usize,
    /// Layers of the second half of a transform in halves, at most.
    pub node_layers: u32,
    /// Bytes of the columns that a block reads side by side.
    pub column_bytes: usize,
    /// The shapes of clusters for N = 2^13 to 2^16.
    pub cluster: [ClusterShape; 4],
    /// How whole products run where the variant is automatic; where no row fits, the built-in way.
    pub products: Vec<ProductChoice>,
    /// Shapes of RNS transforms, where they were tuned.
    pub ntt: Vec<NttShape>,
}

/// The variant that is fastest for products of one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductChoice {
    /// The logarithm of the length.
    pub log_n: u32,
    /// Bits of the modulus, from and to.
    pub bits: (u32, u32),
    /// Products of a batch, at least.
    pub batch: usize,
    /// The variant, as `KARAT_CUDA_VARIANT` names it behind `product:`.
    pub variant: String,
}

impl ProductChoice {
    /// The variant, where the text names one that this table may choose.
    pub(super) fn variant(&self) -> Option<Variant> {
        Variant::named(&self.variant).filter(|variant| matches!(variant, Variant::Large | Variant::Cluster(_)))
    }
}

/// The shape of RNS transforms that is fastest for some primes of one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NttShape {
    /// The arithmetic.
    pub lanes: String,
    /// The logarithm of the length.
    pub log_n: u32,
    /// Primes that it was measured with.
    pub primes: usize,
    /// The shape, as [`NttVariant`] names it.
    pub shape: String,
}

impl NttShape {
    /// The shape, where the text is one that is possible.
    pub(crate) fn geometry(&self) -> Option<Geometry> {
        match NttVariant::parse(&format!("ntt:{}", self.shape)).ok()?.scheme {
            Scheme::Shape(geometry) if geometry.fault().is_none() && geometry.log_n() == self.log_n => Some(geometry),
            _ => None,
        }
    }
}

impl Tuning {
    /// Whether every parameter is one that kernels can be compiled and launched with.
    pub(super) fn is_sane(&self) -> bool {
        let warp = |tuning: &WarpTuning| (1..=8).contains(&tuning.blocks);
        self.small.iter().all(warp)
            && warp(&self.shoup)
            && self.fused_lanes <= 1 << 16
            && (1..=16).contains(&self.node_layers)
            && (8..=512).contains(&self.column_bytes)
            && self.column_bytes.is_power_of_two()
            && self.cluster.iter().all(|shape| shape.is_sane())
            && self.products.iter().all(|choice| choice.variant().is_some())
            && self.ntt.iter().all(|shape| shape.geometry().is_some())
    }
}

impl Default for Tuning {
    /// Measured on an H200 (CUDA 13.0).
    fn default() -> Self {
        Self {
            // 2^18 products of ML-KEM's ring: 175 µs without doubles, 167 with; 2^17 of Falcon-512's: 221 and 216. Doubles in
            // the layers too: 170 and 218. Four blocks: 175 and 223.
            small: [WarpTuning { doubles: true, blocks: 5 }; 3],
            // 2^18 products of ML-DSA's ring: 249 µs; with four or six blocks no faster.
            shoup: WarpTuning { doubles: false, blocks: 5 },
            // 45 products of 60-bit words in one launch and in halves: 40 and 50 µs for 2^12 lanes, 68 and 60 for 2^13.
            fused_lanes: 1 << 12,
            // Nodes of 45 products of 2^16 60-bit words: 195 µs with 12 layers, 138 with 11, 128 with 10, 112 with 9,
            // 114 with 8; of 2^14: 50 with 10, 46 with 9, 44 with 8, 47 with 7.
            node_layers: 9,
            // Columns of 45 polynomials of 2^16 60-bit words: 54 µs with 32 bytes, 47 with 64, 45 with 128, 46 with 256.
            column_bytes: 128,
            // M products a second with 2, 4, 8 (and 16) blocks, 45 of 60 bits: 1.66, 1.67, 1.69 for 2^13, 0.97, 0.94, 1.17
            // (0.81) for 2^14; 2^15 with 8 and 16: 0.52 and 0.52, 0.85 and 0.90 in doubles; 2^16: 0.27 and 0.26.
            cluster: [8, 8, 16, 8].map(|blocks| ClusterShape { blocks, lanes: 16, alpha: 0 }),
            // 45 products of 2^13 in clusters with 16 and 8 lanes a thread, and in three launches: 19.1, 17.4 and 29.1 µs, in
            // doubles 14.0, 12.4 and 20.9; of 2^14 29.6, 32.0 and 33.3, in doubles 20.8, 22.3 and 25.3. With 16 products
            // clusters win in doubles only; above 2^14 they do not.
            products: [
                (13, (51, 60), 45, "cluster/8/8/1"),
                (14, (51, 60), 45, "cluster/8/16/2"),
                (13, (29, 50), 16, "cluster/8/8/2"),
                (14, (29, 50), 16, "cluster/8/16/2"),
            ]
            .map(|(log_n, bits, batch, variant)| ProductChoice { log_n, bits, batch, variant: variant.into() })
            .into(),
            ntt: Vec::new(),
        }
    }
}
