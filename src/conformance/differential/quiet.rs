//! Panics of a function under test: caught, and not printed a thousand times while a counterexample shrinks.

use alloc::string::{String, ToString};
use core::any::Any;
use core::cell::Cell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::thread_local;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, panics of this thread print nothing.
pub(super) struct Quiet;

pub(super) fn panics() -> Quiet {
    static INSTALL: Once = Once::new();
    // The hook that was there goes on serving all other panics.
    INSTALL.call_once(|| {
        let hook = take_hook();
        set_hook(alloc::boxed::Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
    QUIET.set(true);
    Quiet
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(false);
    }
}

/// The message of a panic.
pub(super) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_string()
}
