//! Times, taken in turns so that whatever disturbs the machine disturbs all alike.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Samples of each; an odd number has a middle.
const SAMPLES: usize = 101;
/// A sample repeats the call until it takes this long, so that the clock's steps do not matter.
const SAMPLE: Duration = Duration::from_micros(200);

/// A call that is timed.
pub type Call<'a> = &'a mut dyn FnMut() -> Result<(), Failure>;

/// The median time of each call, in nanoseconds.
pub fn medians<const N: usize>(calls: [Call<'_>; N]) -> Result<[f64; N], Failure> {
    let mut runs = Vec::new();
    for call in calls {
        let repeats = calibrate(call)?;
        runs.push((call, repeats, Vec::with_capacity(SAMPLES)));
    }
    for _ in 0..SAMPLES {
        for (call, repeats, times) in &mut runs {
            times.push(sample(*call, *repeats)?.as_secs_f64() * 1e9 / f64::from(*repeats));
        }
    }
    let mut out = [0.0; N];
    for ((_, _, times), median) in runs.iter_mut().zip(&mut out) {
        times.sort_by(f64::total_cmp);
        *median = times[SAMPLES / 2];
    }
    Ok(out)
}

fn sample(call: Call<'_>, repeats: u32) -> Result<Duration, Failure> {
    let start = Instant::now();
    for _ in 0..repeats {
        call()?;
    }
    Ok(start.elapsed())
}

/// Repeats that fill a sample; warms up on the way.
fn calibrate(call: Call<'_>) -> Result<u32, Failure> {
    let mut repeats = 1;
    while sample(call, repeats)? < SAMPLE {
        repeats *= 2;
    }
    Ok(repeats)
}
