//! The library's conformance suite on the emulated device.
//!
//! `small` has one short ring of every method; it runs with the detector on every way of computing products. The
//! presets run as a user gets them.

use karat::backend::cuda::Variant;
use karat_emulation::Emulated;

karat::conformance! {
    emulated: Emulated::new().without_detector().backend(Variant::Automatic), small, presets;
    detector: Emulated::new().backend(Variant::Automatic), small;
    fused: Emulated::new().backend(Variant::Fused), small;
    halves: Emulated::new().backend(Variant::Halves(0)), small;
    passes: Emulated::new().backend(Variant::Passes), small;
}
