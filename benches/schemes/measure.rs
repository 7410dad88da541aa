//! Times, taken in turns so that whatever disturbs the machine disturbs all alike.

use std::time::{Duration, Instant};

use karat::{AnyBackend, Cpu};

/// The CPU at the level that `KARAT_BACKEND` names, the fastest without it.
pub fn cpu() -> Cpu {
    match AnyBackend::from_env() {
        Ok(AnyBackend::Cpu(cpu)) => cpu,
        other => panic!("KARAT_BACKEND takes a level of this CPU here: {other:?}"),
    }
}

/// An implementation of one operation.
pub struct Call<'a> {
    pub name: &'static str,
    pub run: Box<dyn FnMut() + 'a>,
}

/// For lists of calls.
pub fn call<'a>(name: &'static str, run: impl FnMut() + 'a) -> Call<'a> {
    Call { name, run: Box::new(run) }
}

/// What was measured for one implementation.
struct Row {
    operation: String,
    name: &'static str,
    median_us: f64,
    /// To karat, which comes first.
    ratio: f64,
}

/// Measures operations and keeps the rows.
pub struct Bench {
    filter: Option<String>,
    rows: Vec<Row>,
}

/// A round of one implementation takes at least this long.
const ROUND: Duration = Duration::from_micros(300);
/// Rounds, and the time after which there are enough of them.
const ROUNDS: usize = 301;
const FEWEST_ROUNDS: usize = 11;
const ENOUGH: Duration = Duration::from_secs(2);

impl Bench {
    pub fn new(filter: Option<String>) -> Self {
        Self { filter, rows: Vec::new() }
    }

    /// Measures one operation. `units` is how many operations a call does; karat's call comes first.
    pub fn measure(&mut self, operation: &str, units: usize, calls: impl IntoIterator<Item = Call<'static>>) {
        if self.filter.as_ref().is_some_and(|filter| !operation.contains(filter.as_str())) {
            return;
        }
        let mut runs: Vec<_> = calls
            .into_iter()
            .map(|mut call| {
                let repeats = calibrate(&mut call);
                (call, repeats, Vec::new())
            })
            .collect();
        let start = Instant::now();
        for round in 0..ROUNDS {
            if round >= FEWEST_ROUNDS && start.elapsed() > ENOUGH {
                break;
            }
            for (call, repeats, times) in &mut runs {
                times.push(sample(call, *repeats).as_secs_f64() * 1e6 / f64::from(*repeats) / units as f64);
            }
        }
        let mut own = None;
        for (call, _, mut times) in runs {
            times.sort_by(f64::total_cmp);
            let median_us = times[times.len() / 2];
            let ratio = median_us / *own.get_or_insert(median_us);
            println!("{operation:28} {:22} {median_us:9.2} us   {ratio:5.2}x", call.name);
            self.rows.push(Row { operation: operation.into(), name: call.name, median_us, ratio });
        }
    }

    /// The rows as one JSON object.
    pub fn json(&self) -> String {
        let row = |row: &Row| {
            serde_json::json!({
                "suite": "schemes", "op": row.operation, "name": row.name, "median_us": row.median_us,
                "ratio": row.ratio,
            })
        };
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        serde_json::json!({"schema": 1, "command": "bench", "rows": rows}).to_string()
    }
}

fn sample(call: &mut Call, repeats: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        (call.run)();
    }
    start.elapsed()
}

/// Repeats that fill a round; warms up on the way.
fn calibrate(call: &mut Call) -> u32 {
    let mut repeats = 1;
    while sample(call, repeats) < ROUND {
        repeats *= 2;
    }
    repeats
}
