//! The levels of the CPU backend beside other implementations, on one thread.
//!
//! Each row checks both results first, then times the level and the peer in turn, many short rounds each, and prints
//! both medians, their ratio (above 1: karat is faster), and how many times the floor its time is: that of its
//! butterflies alone with everything in registers, measured in the same run. `--json FILE` writes the same rows; any
//! other argument is a filter on the names.
//!
//! ```text
//! cargo bench --features bench-peers --bench ring_mul -- [--json FILE] [FILTER]
//! ```

mod floor;
mod peers;
mod rows;

use std::hint::black_box;
use std::time::{Duration, Instant};

use floor::Class;
use karat::Cpu;
use karat::backend::cpu::Level;

/// One comparison.
struct Row {
    name: String,
    level: &'static str,
    peer: &'static str,
    own_ns: f64,
    peer_ns: f64,
    /// Nanoseconds of the butterflies alone.
    floor_ns: Option<f64>,
}

/// Times two pieces of work in turn and keeps the row.
pub struct Bench {
    filter: Option<String>,
    rows: Vec<Row>,
    /// What a butterfly of each class costs at each level.
    floors: Vec<(Level, Class, Option<f64>)>,
}

impl Bench {
    /// Whether a row of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }

    /// Measures both.
    pub fn row(
        &mut self,
        name: &str,
        cpu: Cpu,
        butterflies: Option<(usize, Class)>,
        peer: &'static str,
        mut own: impl FnMut(),
        mut other: impl FnMut(),
    ) {
        let (own_ns, peer_ns) = in_turn(&mut own, &mut other);
        let level = cpu.level().name();
        let floor_ns = butterflies.and_then(|(count, class)| Some(count as f64 * self.floor(cpu, class)?));
        let floor = floor_ns.map_or(String::new(), |floor| format!("{:5.2} x floor", own_ns / floor));
        println!(
            "{name:24} {level:7} {own_ns:10.1} ns  {peer:12} {peer_ns:10.1} ns  {:5.2}x  {floor}",
            peer_ns / own_ns
        );
        self.rows.push(Row { name: name.into(), level, peer, own_ns, peer_ns, floor_ns });
    }

    /// The cost of a butterfly, measured once a run.
    fn floor(&mut self, cpu: Cpu, class: Class) -> Option<f64> {
        let key = |entry: &&(Level, Class, Option<f64>)| (entry.0, entry.1) == (cpu.level(), class);
        if let Some((_, _, floor)) = self.floors.iter().find(key) {
            return *floor;
        }
        let floor = floor::butterfly(cpu, class);
        self.floors.push((cpu.level(), class, floor));
        floor
    }
}

/// Medians of nanoseconds a call, from short rounds in turn.
fn in_turn(own: &mut dyn FnMut(), other: &mut dyn FnMut()) -> (f64, f64) {
    const ROUND: Duration = Duration::from_micros(60);
    const ROUNDS: usize = 1500;
    let count = |work: &mut dyn FnMut()| {
        let mut best = Duration::MAX;
        for _ in 0..20 {
            let start = Instant::now();
            work();
            best = best.min(start.elapsed());
        }
        (ROUND.as_nanos() / best.as_nanos().max(1)).clamp(1, 5000) as u32
    };
    let (own_count, other_count) = (count(own), count(other));
    let time = |work: &mut dyn FnMut(), count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            work();
        }
        start.elapsed().as_nanos() as f64 / count as f64
    };
    let (mut owns, mut others) = (Vec::new(), Vec::new());
    let end = Instant::now() + Duration::from_millis(700);
    while owns.len() < ROUNDS && (owns.len() < 30 || Instant::now() < end) {
        owns.push(time(own, own_count));
        others.push(time(other, other_count));
    }
    (median(owns), median(others))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut json, mut filter) = (None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = arguments.next(),
            "--bench" => {}
            _ => filter = Some(argument),
        }
    }
    let mut bench = Bench { filter, rows: Vec::new(), floors: Vec::new() };
    rows::all(&mut bench);
    if let Some(path) = json {
        let rows: Vec<String> = bench.rows.iter().map(line).collect();
        let text = format!("{{\"schema\":1,\"command\":\"bench\",\"rows\":[\n{}\n]}}\n", rows.join(",\n"));
        std::fs::write(&path, text).expect("the JSON file can be written");
    }
    black_box(bench.rows.len());
}

fn line(row: &Row) -> String {
    format!(
        "{{\"suite\":\"cpu\",\"op\":\"{}\",\"backend\":\"{}\",\"batch\":1,\"median_ns\":{:.1},\"peer\":\"{}\",\"peer_median_ns\":{:.1},\"ratio\":{:.3},\"floor_ns\":{},\"times_floor\":{}}}",
        row.name,
        row.level,
        row.own_ns,
        row.peer,
        row.peer_ns,
        row.peer_ns / row.own_ns,
        row.floor_ns.map_or("null".into(), |floor| format!("{floor:.1}")),
        row.floor_ns.map_or("null".into(), |floor| format!("{:.3}", row.own_ns / floor))
    )
}
