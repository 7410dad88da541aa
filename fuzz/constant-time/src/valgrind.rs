//! Client requests of valgrind's memcheck, as `valgrind.h` and `memcheck.h` define them for x86-64. Outside valgrind
//! they do nothing.

/// `VG_USERREQ__RUNNING_ON_VALGRIND`.
const RUNNING: u64 = 0x1001;
/// `VG_USERREQ__COUNT_ERRORS`.
const COUNT_ERRORS: u64 = 0x1201;
/// `VG_USERREQ__MAKE_MEM_UNDEFINED`: the tool base `MC`, and 1.
const UNDEFINED: u64 = 0x4d43_0001;
/// `VG_USERREQ__MAKE_MEM_DEFINED`.
const DEFINED: u64 = 0x4d43_0002;

/// Whether memcheck watches.
pub fn is_watching() -> bool {
    request(RUNNING, 0, 0) > 0
}

/// Errors that memcheck has found so far.
pub fn errors() -> u64 {
    request(COUNT_ERRORS, 0, 0)
}

/// Makes these values secret: a branch or an address that depends on them is an error from now on.
pub fn secret<T: Copy>(values: &[T]) {
    request(UNDEFINED, values.as_ptr() as u64, size_of_val(values) as u64);
}

/// Makes them public again.
pub fn public<T: Copy>(values: &[T]) {
    request(DEFINED, values.as_ptr() as u64, size_of_val(values) as u64);
}

#[cfg(target_arch = "x86_64")]
fn request(code: u64, first: u64, second: u64) -> u64 {
    let arguments = [code, first, second, 0, 0, 0];
    let mut result = 0u64;
    // SAFETY: the four rotations by 128 bits in all leave rdi as it was, and exchanging rbx with itself does nothing.
    // Valgrind knows this sequence; it reads the six words at rax, writes rdx, and changes nothing that Rust sees but
    // what it knows about the memory in the arguments.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") result,
            options(nostack),
        );
    }
    result
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: u64, _: u64, _: u64) -> u64 {
    0
}
