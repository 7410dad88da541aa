//! Compiles every program of the CUDA backend as C++20, and programs with planted faults, which must be found.
//!
//! `KARAT_EMULATION` chooses the build: `race` (the default) instruments the kernels for the detector of `runtime.cpp`;
//! `asan` builds kernels and runtime with GCC's AddressSanitizer and UBSan, which end the process at the first fault.

use std::path::Path;
use std::{env, fs};

use karat::backend::cuda::{Family, Program, programs};

/// A fault: its name, the program, the text, and what stands there instead.
const FAULTS: &[(&str, &str, &str, &str)] = &[
    (
        "no_barrier_between_layers",
        "product_u16",
        "unit<true, ROOMY>(g, x, i, chunk, first, layer, depth, zetas, m);\n        sync_block();",
        "unit<true, ROOMY>(g, x, i, chunk, first, layer, depth, zetas, m);",
    ),
    (
        "no_barrier_before_points",
        "product_u16",
        "b.set(i, reduce_lazy(launch, b.get(i), m));\n        }\n        sync_block();",
        "b.set(i, reduce_lazy(launch, b.get(i), m));\n        }",
    ),
    (
        "no_warp_barrier",
        "warp_u32_256_3329_1_5",
        "store_outer(a, region, lane);\n    sync_warp();",
        "store_outer(a, region, lane);",
    ),
    (
        "no_warp_barrier_before_reuse",
        "warp_u32_256_3329_1_5",
        "forward_outer(b);\n    sync_warp();",
        "forward_outer(b);",
    ),
    (
        "wrong_twiddle",
        "product_u16",
        "zetas[(node << r) + (k >> (R - r))]",
        "zetas[(node << r) + (k >> (R - r)) + (k == 4)]",
    ),
    (
        "write_out_of_range",
        "product_u16",
        "out[i] = static_cast<W>(x.get(i));",
        "out[i + (i == 255 && block_index() == 1)] = static_cast<W>(x.get(i));",
    ),
    // Undefined in C++, whatever a device does.
    ("shift_too_far", "product_u16", "zetas[(node << r) + (k >> (R - r))]", "zetas[(node << r) + (k >> (R - r + 32))]"),
    (
        "barrier_in_a_branch",
        "product_u16",
        "    sync_block();\n        forward_layers_of(launch, geometry(launch), a",
        "    if (thread_index() != 5) sync_block();\n        forward_layers_of(launch, geometry(launch), a",
    ),
    (
        "two_blocks_write_one_result",
        "product_u16",
        "static_cast<W*>(launch.out) + first);\n}",
        "static_cast<W*>(launch.out));\n}",
    ),
    (
        "no_barrier_between_rows",
        "rns_ntt_u64_double_5_6_points4_4_blocks1_1_fly2_wide16_8",
        "x.put<GROUP>(v, thread);\n        sync_row();",
        "x.put<GROUP>(v, thread);",
    ),
    (
        "no_barrier_between_columns",
        "rns_ntt_u64_double_5_6_points4_4_blocks1_1_fly2_wide16_8",
        "x.put<GROUP>(v, thread);\n        sync_block();",
        "x.put<GROUP>(v, thread);",
    ),
    ("no_meeting_before_stores", "cluster_u64_13_53_64_blocks8_lanes16_alpha0", "if (factor == 0) cluster_wait();", ""),
    (
        "no_barrier_after_stores",
        "cluster_u64_13_53_64_blocks8_lanes16_alpha0",
        "    cluster_arrive();\n    cluster_wait();\n    Place<LAST> last(thread);",
        "    Place<LAST> last(thread);",
    ),
    (
        "no_barrier_before_the_way_back",
        "cluster_u64_13_53_64_blocks8_lanes16_alpha0",
        "    cluster_wait();\n    Place<POINTS> second(thread);",
        "    Place<POINTS> second(thread);",
    ),
    (
        "no_barrier_in_a_cluster_block",
        "cluster_u64_13_53_64_blocks8_lanes16_alpha0",
        "at.put(region, x);\n        sync_block();",
        "at.put(region, x);",
    ),
    (
        "wrong_block",
        "cluster_u64_13_53_64_blocks8_lanes16_alpha0",
        "padded_index(i % NODES * SHARES + share), i / NODES, x[i]",
        "padded_index(i % NODES * SHARES + share), (i / NODES) ^ 1, x[i]",
    ),
    (
        "block_ends_early",
        "cluster_u64_13_53_64_blocks8_lanes16_alpha0",
        "    cluster_arrive();\n    cluster_wait();\n    UNROLL for (u32 i = 0; i < LANES; i++) x[i] = shared",
        "    if (cluster_rank() == 3) return;\n    sync_block();\n    UNROLL for (u32 i = 0; i < LANES; i++) x[i] = shared",
    ),
];

/// The text of a program with all its headers inside.
fn expand(file: &str, constants: &str, seen: &mut Vec<String>) -> String {
    if seen.iter().any(|name| name == file) {
        return String::new();
    }
    seen.push(file.into());
    let folder = if file.ends_with(".cu") { ".." } else { "../include" };
    let text = match file {
        "constants.cuh" => constants.to_string(),
        _ => fs::read_to_string(Path::new(folder).join(file)).unwrap(),
    };
    let mut out = String::new();
    for line in text.lines() {
        match line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) {
            Some("emulation.h") => {}
            Some(name) => out += &expand(name, constants, seen),
            None if line.trim() == "#pragma once" => {}
            None => {
                out += line;
                out.push('\n');
            }
        }
    }
    out
}

/// A C++ file: the constants, and the program's text in a namespace of its own, for programs share names.
fn write(path: &Path, name: &str, program: &Program, text: &str) {
    let defines: String = program.defines().iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
    let text = format!(
        "#define EMULATED_PROGRAM \"{name}\"\n{defines}#include \"emulation.h\"\nnamespace program_{name} {{\n{text}}}\n"
    );
    fs::write(path, text).unwrap();
}

fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let base = || {
        let mut build = cc::Build::new();
        build.cpp(true).std("c++20").include("src").warnings(true).opt_level(1).debug(false);
        build.flag("-fno-strict-aliasing").flag("-Wno-unknown-pragmas").flag("-Wno-unused-function");
        build
    };
    println!("cargo:rerun-if-env-changed=KARAT_EMULATION");
    println!("cargo:rustc-check-cfg=cfg(emulation_asan)");
    let asan = match env::var("KARAT_EMULATION").as_deref() {
        Ok("asan") => true,
        Ok("race" | "") | Err(_) => false,
        Ok(other) => panic!("KARAT_EMULATION is `{other}`: race and asan are the builds"),
    };
    let (mut kernels, mut runtime) = (base(), base());
    if asan {
        println!("cargo:rustc-cfg=emulation_asan");
        let checks = "-fsanitize=address,undefined,float-cast-overflow";
        for build in [&mut kernels, &mut runtime] {
            build.flag(checks).flag("-fno-sanitize-recover=all").flag("-fno-omit-frame-pointer");
        }
        println!("cargo:rustc-link-arg={checks}");
    } else {
        kernels.flag("-fsanitize=thread");
    }
    kernels.link_lib_modifier("+whole-archive");
    let general = env::var_os("CARGO_FEATURE_GENERAL").is_some();
    let mut all = programs();
    // Beginnings of names, to work on a few programs.
    println!("cargo:rerun-if-env-changed=KARAT_EMULATED");
    let wanted = env::var("KARAT_EMULATED").unwrap_or_default();
    let wanted = |name: &str| wanted.split(',').any(|start| name.starts_with(start));
    all.retain(|program| wanted(&program.name()));
    if general {
        let families = [Family::Steps, Family::Product, Family::Halves, Family::Patent];
        all.retain(|program| families.contains(&program.family()));
    }
    for program in &all {
        let path = Path::new(&out).join(program.name()).with_extension("cpp");
        write(&path, &program.name(), program, &expand(program.family().file(), program.constants(), &mut Vec::new()));
        kernels.file(path);
    }
    for (fault, name, from, to) in FAULTS.iter().filter(|fault| !general && wanted(fault.1)) {
        let program = all.iter().find(|program| program.name() == *name).expect("a program of this name");
        let text = expand(program.family().file(), program.constants(), &mut Vec::new());
        assert!(text.contains(from), "fault {fault}: the text to change is gone");
        let name = format!("{name}_{fault}");
        let path = Path::new(&out).join(&name).with_extension("cpp");
        write(&path, &name, program, &text.replacen(from, to, 1));
        kernels.file(path);
    }
    kernels.compile("karat_kernels");
    runtime.file("src/runtime.cpp").compile("karat_runtime");
    for path in ["src", "../include", "..", "build.rs"] {
        println!("cargo:rerun-if-changed={path}");
    }
}
