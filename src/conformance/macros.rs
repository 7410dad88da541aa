//! From groups of rings to tests.

/// One `#[test]` for each backend, ring and property: see the [module's documentation](mod@crate::conformance).
///
/// Tests are named `<backend>::<ring>::<property>`. The expressions see what is in scope where the macro stands.
///
/// ```
/// use karat::{AnyBackend, Cpu};
///
/// karat::conformance! {
///     scalar: Cpu::scalar();
///     abacus: AnyBackend::from_name("abacus"), presets, small; // not there: skipped
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance {
    ($($name:ident: $backend:expr $(, $group:ident)*;)+) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[allow(dead_code)]
            fn candidate() -> $crate::conformance::Candidate<impl $crate::conformance::Universal> {
                $crate::conformance::Candidate::new(stringify!($name), $backend)
            }

            $crate::__conformance! { @groups $($group)* }
        }
    )+};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance {
    (@groups) => {
        $crate::__conformance! { @groups presets user thresholds lengths methods large_batches }
    };
    (@groups $($group:ident)+) => {
        $($crate::__conformance! { @group $group })+
    };

    (@group presets) => {
        $crate::__conformance! { @all
            ml_kem: named("ml-kem");
            ml_dsa: named("ml-dsa");
            falcon_512: named("falcon-512");
            falcon_1024: named("falcon-1024");
            newhope_1024: named("newhope-1024");
            haetae: named("haetae");
            raccoon: named("raccoon");
            saber: named("saber");
            smaug_t_128: named("smaug-t-128");
            smaug_t_192: named("smaug-t-192");
            smaug_t_256: named("smaug-t-256");
            ntru_hps2048509: named("ntru-hps2048509");
            ntru_hps2048677: named("ntru-hps2048677");
            ntru_hrss701: named("ntru-hrss701");
            ntru_hps4096821: named("ntru-hps4096821");
            sntrup653: named("sntrup653");
            sntrup761: named("sntrup761");
            sntrup857: named("sntrup857");
            sntrup953: named("sntrup953");
            sntrup1013: named("sntrup1013");
            sntrup1277: named("sntrup1277");
            ntruplus_576: named("ntruplus-576");
            ntruplus_768: named("ntruplus-768");
            ntruplus_864: named("ntruplus-864");
            ntruplus_1152: named("ntruplus-1152");
        }
    };
    (@group user) => {
        $crate::__conformance! { @group small }
        $crate::__conformance! { @all
            cyclic_1000: named("n=1000,q=1000,f=x^1000-1");
            sparse_100: named("n=100,q=97,f=x^100+3x^7+5");
            cyclic_256: named("q=257,f=x^256-1");
            tiny_moduli: tiny_moduli();
            composite_moduli: composite_moduli();
            odd_factors: odd_factors();
            odd_polynomials: odd_polynomials();
            random_moduli: random_moduli();
        }
        $crate::__conformance! { @some [products: Products; round_trip: RoundTrip; accumulation: Accumulation;]
            every_small_modulus: every_small_modulus();
        }
    };
    (@group small) => {
        $crate::__conformance! { @all small: small(); }
    };
    (@group thresholds) => {
        $crate::__conformance! { @some [
                products: Products;
                lanes: Lanes;
                round_trip: RoundTrip;
                linearity: Linearity;
                canonical_order: CanonicalOrder;
                pointwise: Pointwise;
                accumulation: Accumulation;
                mat_vec: MatVec;
                prepared: Prepared;
            ]
            around_2_7: around(7);
            around_2_14: around(14);
            around_2_15: around(15);
            around_2_16: around(16);
            around_2_26: around(26);
            around_2_28: around(28);
            around_2_29: around(29);
            around_2_30: around(30);
            around_2_31: around(31);
            around_2_32: around(32);
            around_2_49: around(49);
            around_2_50: around(50);
            around_2_51: around(51);
            around_2_52: around(52);
            around_2_58: around(58);
            around_2_59: around(59);
            around_2_60: around(60);
            around_2_61: around(61);
            around_2_62: around(62);
        }
    };
    (@group lengths) => {
        $crate::__conformance! { @some [
                products: Products;
                lanes: Lanes;
                batches: Batches;
                round_trip: RoundTrip;
                canonical_order: CanonicalOrder;
                pointwise: Pointwise;
                accumulation: Accumulation;
                prepared: Prepared;
            ]
            length_2_0: length(0);
            length_2_1: length(1);
            length_2_2: length(2);
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
        $crate::__conformance! { @some [
                products: Products;
                round_trip: RoundTrip;
                canonical_order: CanonicalOrder;
                pointwise: Pointwise;
            ]
            length_2_13: length(13);
            length_2_14: length(14);
            length_2_15: length(15);
            length_2_16: length(16);
            length_2_17: length(17);
        }
    };
    (@group methods) => {
        mod methods {
            $crate::__conformance! { @methods
                ml_kem: named("ml-kem");
                ml_dsa: named("ml-dsa");
                falcon_1024: named("falcon-1024");
                incomplete_512: named("q=3329,f=x^512+1");
                composite_128: named("q=3158273,f=x^128+1");
                odd_part_1536: named("q=12289,f=x^1536+1");
                cyclic_256: named("q=257,f=x^256-1");
                small: small();
                around_2_14: around(14);
                around_2_31: around(31);
                around_2_61: around(61);
                complete_2_12_of_31_bits: complete(12, 31);
                complete_2_12_of_60_bits: complete(12, 60);
                complete_2_13_of_62_bits: complete(13, 62);
                complete_2_14_of_30_bits: complete(14, 30);
                complete_2_15_of_50_bits: complete(15, 50);
                complete_2_16_of_60_bits: complete(16, 60);
                complete_2_17_of_60_bits: complete(17, 60);
            }
        }
    };
    (@group large_batches) => {
        mod large_batches {
            use super::candidate;
            $crate::__conformance! { @large
                ml_kem: named("ml-kem");
                ml_dsa: named("ml-dsa");
                falcon_512: named("falcon-512");
                falcon_1024: named("falcon-1024");
                haetae: named("haetae");
                raccoon: named("raccoon");
                saber: named("saber");
                ntru_hps2048509: named("ntru-hps2048509");
                ntru_hrss701: named("ntru-hrss701");
                sntrup761: named("sntrup761");
                sntrup1013: named("sntrup1013");
                ntruplus_768: named("ntruplus-768");
                cyclic_1000: named("n=1000,q=1000,f=x^1000-1");
                small: small();
            }
        }
    };

    (@all $($module:ident: $rings:expr;)*) => {
        $crate::__conformance! { @some [
                products: Products;
                lanes: Lanes;
                batches: Batches;
                round_trip: RoundTrip;
                linearity: Linearity;
                canonical_order: CanonicalOrder;
                pointwise: Pointwise;
                accumulation: Accumulation;
                mat_vec: MatVec;
                prepared: Prepared;
                operands: Operands;
            ]
            $($module: $rings;)*
        }
    };
    (@some $properties:tt $($module:ident: $rings:expr;)*) => {$(
        mod $module {
            use super::candidate;
            $crate::__conformance! { @tests $properties $rings }
        }
    )*};
    (@tests [$($test:ident: $Property:ident;)*] $rings:expr) => {$(
        #[test]
        fn $test() -> ::core::result::Result<(), $crate::conformance::Failure> {
            #[allow(unused_imports)]
            use $crate::conformance::rings::*;
            candidate().run($rings, $crate::conformance::Property::$Property)
        }
    )*};
    (@large $($test:ident: $rings:expr;)*) => {$(
        #[test]
        fn $test() -> ::core::result::Result<(), $crate::conformance::Failure> {
            #[allow(unused_imports)]
            use $crate::conformance::rings::*;
            candidate().run($rings, $crate::conformance::Property::LargeBatch)
        }
    )*};
    (@methods $($test:ident: $rings:expr;)*) => {$(
        #[test]
        fn $test() -> ::core::result::Result<(), $crate::conformance::Failure> {
            #[allow(unused_imports)]
            use $crate::conformance::rings::*;
            super::candidate().run_methods($rings)
        }
    )*};
}
