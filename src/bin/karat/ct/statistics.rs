//! Whether two classes of times differ: Welch's t over all times, over those below some thresholds, and over the
//! squares of their distances from the mean (Reparaz, Balasch and Verbauwhede, *dude, is my code constant time?*, 2017).

/// Thresholds above which times are left out: what disturbs a machine makes times longer, a leak moves the short ones.
const CROPS: usize = 100;
/// A test with fewer times in a class says nothing.
const LEAST: f64 = 500.0;

/// Means and variances of two classes, one value at a time (Welford 1962).
#[derive(Debug, Clone, Copy, Default)]
struct Welch {
    classes: [Moments; 2],
}

#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    /// The sum of squares of distances from the mean.
    squares: f64,
}

impl Moments {
    fn push(&mut self, value: f64) {
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
    }

    /// The variance of the mean.
    fn error(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

impl Welch {
    /// The difference of the means in units of its standard deviation; `None` for too few values, or values that are
    /// all the same.
    fn t(&self) -> Option<f64> {
        let [a, b] = &self.classes;
        let deviation = (a.error() + b.error()).sqrt();
        (a.count >= LEAST && b.count >= LEAST && deviation > 0.0).then(|| (a.mean - b.mean) / deviation)
    }
}

/// All tests of one operation.
pub struct Tests {
    /// The times that each test takes: those below this.
    limits: Vec<f64>,
    tests: Vec<Welch>,
    /// Of squares of distances from the means of the first test.
    second: Welch,
}

impl Tests {
    /// Thresholds at quantiles of some first times, denser where most times lie.
    ///
    /// # Bounds
    /// `first` is not empty.
    pub fn new(first: &[f64]) -> Self {
        let mut sorted = first.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |i: usize| 1.0 - 0.5f64.powf(10.0 * (i + 1) as f64 / CROPS as f64);
        let crop = |i: usize| sorted[(quantile(i) * (sorted.len() - 1) as f64) as usize];
        let limits: Vec<f64> = std::iter::once(f64::INFINITY).chain((0..CROPS).map(crop)).collect();
        Self { tests: vec![Welch::default(); limits.len()], limits, second: Welch::default() }
    }

    /// Takes a time of class 0 or 1.
    pub fn push(&mut self, class: usize, time: f64) {
        for (limit, test) in self.limits.iter().zip(&mut self.tests) {
            if time < *limit {
                test.classes[class].push(time);
            }
        }
        let all = self.tests[0].classes[class];
        if all.count >= LEAST {
            self.second.classes[class].push((time - all.mean).powi(2));
        }
    }

    /// The t of largest size, and how many times its test has seen.
    pub fn worst(&self) -> Option<(f64, u64)> {
        let value = |test: &Welch| Some((test.t()?, test.classes.iter().map(|class| class.count as u64).sum()));
        let all = self.tests.iter().chain([&self.second]).filter_map(value);
        all.max_by(|a: &(f64, u64), b| a.0.abs().total_cmp(&b.0.abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operands::Stream;

    /// About normal: the sum of twelve uniform values.
    fn noise(stream: &mut Stream) -> f64 {
        (0..12).map(|_| (stream.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    }

    /// Times around 1000, with rare long ones; `time(class, noise)` gives each.
    fn worst(count: usize, time: impl Fn(usize, f64) -> f64) -> f64 {
        let mut stream = Stream(7);
        let mut times = Vec::new();
        for _ in 0..count {
            let class = (stream.next() & 1) as usize;
            let disturbed = if stream.next().is_multiple_of(50) { 5000.0 * (stream.next() % 64) as f64 } else { 0.0 };
            times.push((class, time(class, noise(&mut stream)) + disturbed));
        }
        let first: Vec<f64> = times.iter().take(1000).map(|(_, time)| *time).collect();
        let mut tests = Tests::new(&first);
        times.iter().for_each(|(class, time)| tests.push(*class, *time));
        tests.worst().expect("enough times").0
    }

    #[test]
    fn welch_by_definition() {
        let mut test = Welch::default();
        let (a, b) = ([1.0, 2.0, 4.0, 7.0], [3.0, 3.0, 9.0]);
        for _ in 0..200 {
            a.iter().for_each(|x| test.classes[0].push(*x));
            b.iter().for_each(|x| test.classes[1].push(*x));
        }
        let moments = |values: &[f64]| {
            let (n, k) = (200.0 * values.len() as f64, values.len() as f64);
            let mean = values.iter().sum::<f64>() / k;
            (mean, 200.0 * values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
        };
        let (a, b) = (moments(&a), moments(&b));
        let expected = (a.0 - b.0) / (a.1 + b.1).sqrt();
        assert!((test.t().unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn equal_classes_show_nothing() {
        assert!(worst(100_000, |_, noise| 1000.0 + 10.0 * noise).abs() < 5.0);
    }

    #[test]
    fn a_shift_shows_under_rare_long_times() {
        // A twentieth of the deviation of undisturbed times, of no size beside the disturbed ones.
        let t = worst(400_000, |class, noise| 1000.0 + 10.0 * noise + 0.5 * class as f64);
        assert!(t < -10.0, "{t}");
    }

    #[test]
    fn a_difference_in_spread_alone_shows() {
        let mut stream = Stream(9);
        let mut tests = Tests::new(&[1.0]);
        for i in 0..100_000 {
            tests.push(i % 2, 1000.0 + noise(&mut stream) * if i % 2 == 0 { 1.0 } else { 1.1 });
        }
        assert!(tests.tests[0].t().unwrap().abs() < 5.0 && tests.second.t().unwrap() < -10.0);
        assert!(tests.worst().unwrap().0 < -10.0);
    }

    #[test]
    fn few_or_equal_times_say_nothing() {
        let mut tests = Tests::new(&[1.0]);
        (0..2 * LEAST as usize - 2).for_each(|i| tests.push(i % 2, i as f64));
        assert_eq!(tests.worst(), None);
        let mut tests = Tests::new(&[1.0]);
        (0..10_000).for_each(|i| tests.push(i % 2, 5.0));
        assert_eq!(tests.worst(), None);
    }
}
