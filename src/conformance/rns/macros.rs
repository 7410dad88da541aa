//! From groups of RNS rings to tests.

/// One `#[test]` for each backend, group of RNS rings and property: see the
/// [module's documentation](mod@crate::conformance::rns).
///
/// Tests are named `<backend>::<group>::<property>`.
///
/// ```
/// karat::rns_conformance! {
///     scalar: karat::Cpu::scalar();
///     abacus: karat::AnyBackend::from_name("abacus"), small; // not there: skipped
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! rns_conformance {
    ($($name:ident: $backend:expr $(, $group:ident)*;)+) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[allow(dead_code)]
            fn candidate() -> $crate::conformance::Candidate<
                impl $crate::conformance::Universal + $crate::conformance::RnsUniversal
            > {
                $crate::conformance::Candidate::new(stringify!($name), $backend)
            }

            $crate::__rns_conformance! { @groups $($group)* }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __rns_conformance {
    (@groups) => {
        $crate::__rns_conformance! { @groups small widths mixed many lengths long }
    };
    (@groups $($group:ident)+) => {
        $($crate::__rns_conformance! { @group $group })+
    };
    (@group small) => { $crate::__rns_conformance! { @all small: small(); } };
    (@group widths) => { $crate::__rns_conformance! { @all widths: widths(); } };
    (@group mixed) => { $crate::__rns_conformance! { @all mixed: mixed(); } };
    (@group many) => { $crate::__rns_conformance! { @all many: many(); } };
    (@group lengths) => {
        $crate::__rns_conformance! { @all
            length_2_3: length(3);
            length_2_4: length(4);
            length_2_5: length(5);
            length_2_6: length(6);
            length_2_7: length(7);
            length_2_8: length(8);
            length_2_9: length(9);
            length_2_10: length(10);
            length_2_11: length(11);
            length_2_12: length(12);
        }
    };
    (@group long) => {
        $crate::__rns_conformance! { @all
            length_2_13: length(13);
            length_2_14: length(14);
            length_2_15: length(15);
            length_2_16: length(16);
            length_2_17: length(17);
        }
    };
    (@all $($module:ident: $rings:expr;)*) => {$(
        mod $module {
            use super::candidate;
            $crate::__rns_conformance! { @tests [
                    transforms: Transforms;
                    pointwise: Pointwise;
                    automorphism: Automorphism;
                    conversion: Conversion;
                    mod_up: ModUp;
                    key_product: KeyProduct;
                    mod_down: ModDown;
                    operands: Operands;
                    threads: Threads;
                ] $rings
            }
        }
    )*};
    (@tests [$($test:ident: $Property:ident;)*] $rings:expr) => {$(
        #[test]
        fn $test() -> ::core::result::Result<(), $crate::conformance::Failure> {
            use $crate::conformance::rns::rings::*;
            candidate().run_rns($rings, $crate::conformance::RnsProperty::$Property)
        }
    )*};
}
