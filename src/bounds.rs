//! Range contracts: `# Bounds` sections in the documentation, and these checks in builds with debug assertions.

/// Checks that every value of an iterator lies in a half-open range, in builds with debug assertions; elsewhere
/// `cfg!` is a constant and nothing is left of it.
///
/// The values may be secret: the check runs in test builds only, and its message prints no value.
macro_rules! debug_bounds {
    ($values:expr, $range:expr, $what:expr) => {
        if cfg!(debug_assertions) {
            let range = $range;
            for (index, value) in $values.into_iter().enumerate() {
                assert!(range.contains(value), "{}: value {} lies outside {:?}", $what, index, range);
            }
        }
    };
}
