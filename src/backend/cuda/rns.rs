//! Programs of RNS operations, and the blocks that their kernels are launched with, laid out as in
//! `kernels/include/rns.cuh`.

use bytemuck::{Pod, Zeroable};

use super::Gpu;
use super::device::{Device, Grid};
pub(crate) use super::ntt_variant::{Arithmetic, NttVariant, Scheme};
use super::source::{Family, Program, WordClass};
use crate::Result;

/// Primes of a ring.
pub(crate) const MAX_PRIMES: usize = 64;

/// What multiplies at the end of an inverse transform: one factor alone and times the twiddles of the first four layers.
pub(crate) const SCALED_FACTORS: usize = 16;

/// Entries of these for each prime: the second half is there for lanes whose factors take more than one entry.
pub(crate) const SCALED: usize = 2 * SCALED_FACTORS;

/// The residue of least magnitude.
pub(crate) fn centred(value: u64, q: u64) -> f64 {
    if value > q / 2 { -((q - value) as f64) } else { value as f64 }
}

/// A twiddle of split lanes: see `rns_arith.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SplitTwiddle {
    /// The factor of low halves and that of high halves, congruent to it times `2^32`; with signed low words.
    pub factors: [u64; 2],
    /// Their quotients by the prime, times `2^32`, in halves of a word.
    pub quotients: u64,
}

impl SplitTwiddle {
    pub(crate) fn new(value: u64, q: u64) -> Self {
        let of = |value: u64| -> (u64, u32) {
            let quotient = |x: i64| ((i128::from(x) << 33) + i128::from(q)).div_euclid(2 * i128::from(q));
            let mut x = if value > q / 2 { value as i64 - q as i64 } else { value as i64 };
            if quotient(x) > i128::from(i32::MAX) {
                // Just below q/2: just above -q/2 instead, so that the quotient fits.
                x -= q as i64;
            }
            // The low word borrows from the high one where it is negative.
            ((x as u64).wrapping_add((x as u64 & 1 << 31) << 1), quotient(x) as i32 as u32)
        };
        let (low, high) = (of(value), of(((u128::from(value) << 32) % u128::from(q)) as u64));
        Self { factors: [low.0, high.0], quotients: u64::from(high.1) << 32 | u64::from(low.1) }
    }

    /// A table as kernels read it: all factors, then the quotients.
    pub(crate) fn table(values: &[u64], q: u64) -> Vec<u8> {
        let twiddles: Vec<Self> = values.iter().map(|value| Self::new(*value, q)).collect();
        let factors = twiddles.iter().flat_map(|twiddle| twiddle.factors);
        factors.chain(twiddles.iter().map(|twiddle| twiddle.quotients)).flat_map(u64::to_le_bytes).collect()
    }
}

/// A constant factor with its Shoup quotient, in words of either class.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RnsFactor {
    pub value: u64,
    pub quotient: u64,
}

/// One prime of a ring.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RnsPrime {
    pub q: u64,
    /// `q^-1 mod 2^w`.
    pub q_inv: u64,
    /// `floor(2^w / q)`.
    pub barrett: u64,
    /// `2^w`.
    pub one: RnsFactor,
    /// `n^-1`.
    pub scale: RnsFactor,
    /// `floor(2^(2 bits) / q)` for `bits` bits of `q`.
    pub product_factor: u64,
    /// `bits - 1`.
    pub product_shift: u32,
    /// What gives quotients of numbers below `16q`: see `rns.cuh`.
    pub estimate: u32,
    pub estimate_down: u32,
    pub estimate_shift: u32,
    pub real_q: f64,
    pub real_q_inv: f64,
}

/// Where polynomials lie: an address and limbs from one to the next.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RnsView {
    pub words: u64,
    pub stride: u64,
}

/// A base conversion; addresses are the device's.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RnsConvert {
    pub digits: u64,
    pub factors: u64,
    pub minus_products: u64,
    pub reciprocals: u64,
    pub halves: u64,
    pub targets: u64,
    pub digit_stride: u32,
    pub source_step: u32,
    pub source_total: u32,
    pub width: u32,
    pub table_step: u32,
    pub exact: u32,
    pub parts: u32,
    pub own: u32,
}

/// What every RNS kernel takes.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RnsLaunch {
    pub primes: u64,
    pub tables: u64,
    pub a: RnsView,
    pub b: RnsView,
    pub c: RnsView,
    pub out: RnsView,
    pub factors: u64,
    pub convert: RnsConvert,
    pub table_len: u64,
    pub log_n: u32,
    pub polys: u32,
    pub limbs: u32,
    pub q_limbs: u32,
    pub special: u32,
    pub first: u32,
    pub depth: u32,
    pub galois: u32,
    pub op: u32,
    pub terms: u32,
}

/// The same with one scalar a limb.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RnsScalars {
    pub launch: RnsLaunch,
    pub scalars: [RnsFactor; MAX_PRIMES],
}

/// How residues are computed with: the class of a ring's largest prime, or one to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Lanes {
    /// Shoup's products in words of 32 or 64 bits that hold this many times a prime.
    Shoup(WordClass, u32),
    /// Products of both halves of signed words of 64 bits, of which unsigned ones hold this many times a prime.
    Split(u32),
    /// Double precision, primes to 50 bits.
    Double,
    /// Barrett's reduction of products.
    Barrett(WordClass),
    /// The machine's division.
    Native(WordClass),
}

impl Lanes {
    pub(crate) const fn word(self) -> WordClass {
        match self {
            Self::Shoup(word, _) | Self::Barrett(word) | Self::Native(word) => word,
            Self::Split(_) | Self::Double => WordClass::Word64,
        }
    }

    /// Bytes of a twiddle.
    pub(crate) const fn twiddle_bytes(self) -> usize {
        match self {
            Self::Shoup(word, _) => 2 * word.bytes(),
            Self::Split(_) => size_of::<SplitTwiddle>(),
            Self::Double => 8,
            Self::Barrett(word) | Self::Native(word) => word.bytes(),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Shoup(word, limit) => format!("ShoupLanes<{},{limit}>", word.type_name()),
            Self::Split(limit) => format!("SplitLanes<{limit}>"),
            Self::Double => "DoubleLanes".into(),
            Self::Barrett(word) => format!("PlainLanes<{},false>", word.type_name()),
            Self::Native(word) => format!("PlainLanes<{},true>", word.type_name()),
        }
    }

    /// What tuning knows it by.
    pub(crate) fn name(self) -> String {
        format!("{}/{}", self.suffix(), self.word().bits())
    }

    fn suffix(self) -> String {
        match self {
            Self::Shoup(_, limit) => format!("shoup{limit}"),
            Self::Split(limit) => format!("split{limit}"),
            Self::Double => "double".into(),
            Self::Barrett(_) => "barrett".into(),
            Self::Native(_) => "native".into(),
        }
    }
}

/// The shape of a transform in two launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Geometry {
    /// Layers of the columns and of the rows.
    pub column_layers: u32,
    pub row_layers: u32,
    /// log2 of the lanes of a thread.
    pub column_points: u32,
    pub row_points: u32,
    /// Columns and rows of a block.
    pub columns: u32,
    pub rows: u32,
    /// Layers whose twiddles are factored on the fly.
    pub fly: u32,
    /// Whether rows take lanes of any bound, as passes through global memory leave them.
    pub loose: bool,
    /// Blocks that a multiprocessor is to hold: what limits registers.
    pub column_blocks: u32,
    pub row_blocks: u32,
}

impl Geometry {
    pub(crate) const fn log_n(&self) -> u32 {
        self.column_layers + self.row_layers
    }

    pub(crate) const fn column_threads(&self) -> u32 {
        self.columns << (self.column_layers - self.column_points)
    }

    pub(crate) const fn row_threads(&self) -> u32 {
        self.rows << (self.row_layers - self.row_points)
    }

    /// Words of shared memory.
    pub(crate) const fn column_shared(&self) -> u32 {
        ((1 << self.column_layers) + (1 << (self.column_layers - self.column_points))) * self.columns
    }

    pub(crate) const fn row_shared(&self) -> u32 {
        self.rows * ((1 << self.row_layers) + (1 << (self.row_layers - self.row_points)))
    }

    /// The launch of the columns of so many polynomials modulo one prime.
    pub(crate) fn column_grid(&self, lanes: Lanes, polys: u32) -> Grid {
        let blocks = polys * ((1 << self.row_layers) / self.columns);
        Grid::new(blocks, self.column_threads(), self.column_shared() * lanes.word().bytes() as u32).early()
    }

    /// The launch of their rows.
    pub(crate) fn row_grid(&self, lanes: Lanes, polys: u32) -> Grid {
        let blocks = polys * ((1 << self.column_layers) / self.rows);
        Grid::new(blocks, self.row_threads(), self.row_shared() * lanes.word().bytes() as u32).early()
    }

    /// Layers of the last group of the rows, whose twiddles lie apart: one entry a thread.
    pub(crate) const fn last_depth(&self) -> u32 {
        self.row_points
    }

    /// Layers of the last group whose twiddles are all in the table.
    pub(crate) const fn whole(&self) -> u32 {
        self.last_depth().saturating_sub(self.fly)
    }

    /// Entries a thread of the last group.
    pub(crate) fn entries(&self, lanes: Lanes) -> u32 {
        match (self.whole(), lanes) {
            (0, Lanes::Double) => 1,
            (whole, _) => (1 << whole) - 1 + self.last_depth() - whole,
        }
    }

    /// What is wrong with it, where something is.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let fits = |layers: u32, points: u32| {
            // Groups before the last are at most as deep.
            (1..=4).contains(&points) && layers >= points && layers <= 12
        };
        if !fits(self.column_layers, self.column_points) || !fits(self.row_layers, self.row_points) {
            return Some(
                "a thread takes 2, 4, 8 or 16 lanes, no more than a column or a row has, of at most 12 layers",
            );
        }
        if !self.columns.is_power_of_two() || self.columns > 1 << self.row_layers {
            return Some("columns of a block: a power of two, no more than there are");
        }
        if !self.rows.is_power_of_two() || self.rows > 1 << self.column_layers {
            return Some("rows of a block: a power of two, no more than there are");
        }
        let threads = 32..=512;
        if !threads.contains(&self.column_threads()) || !threads.contains(&self.row_threads()) {
            return Some("a block has 32 to 512 threads");
        }
        None
    }
}

fn defines(extra: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("KARAT_SIZEOF_RNS_PRIME", size_of::<RnsPrime>().to_string()),
        ("KARAT_SIZEOF_RNS_LAUNCH", size_of::<RnsLaunch>().to_string()),
        ("KARAT_SIZEOF_RNS_SCALARS", size_of::<RnsScalars>().to_string()),
        ("KARAT_RNS_MAX_PRIMES", MAX_PRIMES.to_string()),
        ("KARAT_SCALED", SCALED.to_string()),
    ];
    all.extend(extra);
    all
}

/// Transforms in two launches.
pub(crate) fn transform_program(lanes: Lanes, g: &Geometry) -> Program {
    let suffix = format!(
        "{}_{}_{}_points{}_{}_blocks{}_{}_fly{}_wide{}_{}{}",
        lanes.suffix(),
        g.column_layers,
        g.row_layers,
        g.column_points,
        g.row_points,
        g.column_blocks,
        g.row_blocks,
        g.fly,
        g.columns,
        g.rows,
        if g.loose { "_loose" } else { "" }
    );
    let number = |value: u32| value.to_string();
    let extra = defines(vec![
        ("KARAT_RNS_LANES", lanes.text()),
        ("KARAT_COLUMN_LAYERS", number(g.column_layers)),
        ("KARAT_ROW_LAYERS", number(g.row_layers)),
        ("KARAT_COLUMN_POINTS", number(g.column_points)),
        ("KARAT_ROW_POINTS", number(g.row_points)),
        ("KARAT_COLUMNS", number(g.columns)),
        ("KARAT_ROWS", number(g.rows)),
        ("KARAT_FLY", number(g.fly)),
        ("KARAT_LOOSE", number(g.loose as u32)),
        ("KARAT_COLUMN_THREADS", number(g.column_threads())),
        ("KARAT_ROW_THREADS", number(g.row_threads())),
        ("KARAT_COLUMN_SHARED", number(g.column_shared())),
        ("KARAT_ROW_SHARED", number(g.row_shared())),
        ("KARAT_COLUMN_BLOCKS", number(g.column_blocks)),
        ("KARAT_ROW_BLOCKS", number(g.row_blocks)),
    ]);
    Program::new(Family::RnsNtt, lanes.word()).with_constants(&suffix, String::new(), extra)
}

/// Transforms pass by pass.
pub(crate) fn passes_program(lanes: Lanes) -> Program {
    let extra = defines(vec![("KARAT_RNS_LANES", lanes.text())]);
    Program::new(Family::RnsPasses, lanes.word()).with_constants(&lanes.suffix(), String::new(), extra)
}

/// Operations word by word.
pub(crate) fn ops_program(word: WordClass) -> Program {
    Program::new(Family::RnsOps, word).with_constants("all", String::new(), defines(Vec::new()))
}

/// What runs emulated on a CPU: every class, and transforms in two launches of a few shapes.
pub(super) fn programs() -> Vec<Program> {
    let (narrow, wide) = (WordClass::Word32, WordClass::Word64);
    let lanes = [
        Lanes::Shoup(wide, 16),
        Lanes::Shoup(wide, 8),
        Lanes::Shoup(wide, 4),
        Lanes::Split(16),
        Lanes::Split(8),
        Lanes::Split(4),
        Lanes::Double,
        Lanes::Shoup(narrow, 16),
        Lanes::Shoup(narrow, 4),
        Lanes::Shoup(narrow, 2),
        Lanes::Barrett(wide),
        Lanes::Native(wide),
        Lanes::Barrett(narrow),
        Lanes::Native(narrow),
    ];
    let mut all: Vec<Program> = [narrow, wide].map(ops_program).into();
    all.extend(lanes.map(passes_program));
    for (lanes, geometry) in emulated_transforms() {
        all.push(transform_program(lanes, &geometry));
    }
    all
}

/// The transforms of [`programs`]: groups of equal and of different depth, rows within a warp and beyond it, twiddles
/// whole, factored and squared.
pub(crate) fn emulated_transforms() -> Vec<(Lanes, Geometry)> {
    let (narrow, wide) = (WordClass::Word32, WordClass::Word64);
    let shape = |layers: [u32; 2], points: [u32; 2], columns, rows, fly| Geometry {
        column_layers: layers[0],
        row_layers: layers[1],
        column_points: points[0],
        row_points: points[1],
        columns,
        rows,
        fly,
        loose: false,
        column_blocks: 1,
        row_blocks: 1,
    };
    let small = shape([5, 5], [3, 3], 8, 8, 2);
    vec![
        (Lanes::Shoup(wide, 16), small),
        (Lanes::Split(16), small),
        (Lanes::Split(16), Geometry { loose: true, ..small }),
        (Lanes::Split(16), shape([5, 6], [4, 4], 16, 8, 0)),
        (Lanes::Split(16), shape([7, 7], [3, 4], 8, 4, 2)),
        (Lanes::Split(8), small),
        (Lanes::Split(4), small),
        (Lanes::Double, shape([5, 5], [3, 3], 16, 8, 3)),
        (Lanes::Double, shape([5, 6], [4, 4], 16, 8, 2)),
        (Lanes::Double, shape([7, 7], [4, 4], 16, 8, 4)),
        (Lanes::Double, shape([5, 8], [2, 2], 8, 1, 0)),
        (Lanes::Double, shape([4, 9], [3, 4], 16, 4, 2)),
        (Lanes::Shoup(narrow, 16), small),
        (Lanes::Shoup(narrow, 4), small),
        (Lanes::Shoup(narrow, 4), shape([7, 7], [4, 4], 16, 8, 2)),
        (Lanes::Shoup(narrow, 2), small),
        (Lanes::Barrett(wide), Geometry { fly: 0, ..small }),
        (Lanes::Native(narrow), Geometry { fly: 0, ..small }),
    ]
}

impl<D: Device> Gpu<D> {
    /// Starts an RNS kernel. Callers fill the block with operands whose lengths they checked and which they kept.
    #[allow(unsafe_code)]
    pub(crate) fn start_rns(
        &self,
        module: &D::Module,
        kernel: &'static str,
        grid: Grid,
        launch: &impl bytemuck::NoUninit,
    ) -> Result<()> {
        // SAFETY: as said above; only this crate calls it.
        unsafe { self.device.launch(module, kernel, grid, bytemuck::bytes_of(launch)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product as `split.cuh` computes it, with every step checked against its word.
    fn product(x: i64, twiddle: SplitTwiddle, q: u64) -> i128 {
        let low = i64::from(x as i32);
        let high = i64::from(i32::try_from((i128::from(x) - i128::from(low)) >> 32).unwrap());
        let [l, h] = [twiddle.quotients as i32, (twiddle.quotients >> 32) as i32].map(i128::from);
        let quotients = i128::from(low) * l + i128::from(high) * h + (1 << 31);
        let quotient = i32::try_from(i64::try_from(quotients).unwrap() >> 32).unwrap();
        // Low words are signed and high words take that back.
        let whole = |x: u64| i128::from((x >> 32) as i32) * (1 << 32) + i128::from(x as i32);
        let [w, v] = twiddle.factors.map(whole);
        i128::from(low) * w + i128::from(high) * v - i128::from(quotient) * i128::from(q)
    }

    /// At the bounds of lanes, for twiddles whose quotients are the largest and primes of all sizes.
    #[test]
    fn products_of_split_words() {
        for q in [12289, (1 << 31) - 1, (1 << 50) - 27, (1 << 60) - (1 << 18) + 1, (1 << 62) - (1 << 16) + 1u64] {
            let most = (i64::MAX - (1 << 54)).min((8 * i128::from(q)).min(i64::MAX.into()) as i64);
            for value in [0, 1, 2, q / 2 - 1, q / 2, q / 2 + 1, q - 2, q - 1, q / 3, q / 7 * 5] {
                let twiddle = SplitTwiddle::new(value, q);
                for x in [0, 1, -1, i32::MAX.into(), 1 << 31, -1 << 31, most, -most, most - (1 << 31), most / 3 * 2] {
                    let x = x.clamp(-most, most);
                    let r = product(x, twiddle, q);
                    let exact = i128::from(x) * i128::from(value);
                    assert_eq!((r - exact).rem_euclid(q.into()), 0, "{x} * {value} modulo {q}");
                    let bound = 0.75 + (x as f64).abs() / 2f64.powi(65);
                    assert!(r as f64 <= bound * 1.000001 * q as f64, "{x} * {value} modulo {q}: {r}");
                    assert!(r as f64 >= -bound * 1.000001 * q as f64, "{x} * {value} modulo {q}: {r}");
                }
            }
        }
    }
}
