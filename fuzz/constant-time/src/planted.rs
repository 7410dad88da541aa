//! Leaks that are there: memcheck must report each of the first two, the scan of the machine code the division.

use std::hint::black_box;

use karat::memcheck;

/// Whether memcheck reports a leak that is one.
pub fn are_reported() -> bool {
    reported("a branch", branch) & reported("an address", address) & {
        black_box(division(black_box(&[1234u16])));
        true
    }
}

fn reported(what: &str, leak: fn(&[u16]) -> u16) -> bool {
    let secret = [1234u16, 3000, 17, 5];
    let before = memcheck::errors();
    memcheck::secret(&secret);
    let result = leak(black_box(&secret));
    memcheck::public(&secret);
    memcheck::public(&[result]);
    let seen = memcheck::errors() > before;
    println!("planted leak, {what}: {}", if seen { "reported" } else { "NOT REPORTED: this run shows nothing" });
    seen
}

/// A conditional subtraction as a branch.
#[inline(never)]
fn branch(secret: &[u16]) -> u16 {
    let mut sum = 0;
    for x in secret {
        sum += x;
        if sum >= 3329 {
            sum -= black_box(3329);
        }
    }
    sum
}

/// A table looked up by a coefficient.
fn address(secret: &[u16]) -> u16 {
    static SQUARES: [u16; 8] = [0, 1, 4, 9, 16, 25, 36, 49];
    black_box(&SQUARES)[(secret[0] % 8) as usize]
}

/// A reduction by a modulus that the compiler does not know.
#[inline(never)]
fn division(secret: &[u16]) -> u16 {
    secret[0] % black_box(3329)
}
