//! The same code for each level of the CPU: compilers make vector code of plain loops where they may.

/// A function that is compiled twice, portable and with AVX2, and gets the lanes of the level as one argument more, the
/// first. The body must not call functions that are not inlined.
macro_rules! levels {
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident $(<$G:ident: $Bound:ident>)? ($($arg:ident: $T:ty),* $(,)?) $(-> $Out:ty)? $body:block
    ) => {
        $(#[$doc])*
        $vis fn $name $(<$G: $Bound>)? (lanes: crate::schemes::hash::Lanes, $($arg: $T),*) $(-> $Out)? {
            #[inline(always)]
            fn portable $(<$G: $Bound>)? ($($arg: $T),*) $(-> $Out)? $body

            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            if lanes.avx2().is_some() {
                #[target_feature(enable = "avx2,bmi1,bmi2")]
                fn avx2 $(<$G: $Bound>)? ($($arg: $T),*) $(-> $Out)? {
                    portable $(::<$G>)? ($($arg),*)
                }
                // SAFETY: the lanes prove that this CPU has the features.
                return unsafe { avx2 $(::<$G>)? ($($arg),*) };
            }
            let _ = lanes;
            portable $(::<$G>)? ($($arg),*)
        }
    };
}
pub(super) use levels;
