//! Compiles every program of the CUDA backend as C++20, instrumented for the detector, and the runtime without.

use std::path::Path;
use std::{env, fs};

fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let base = || {
        let mut build = cc::Build::new();
        build.cpp(true).std("c++20").include("src").include("../include").include("..").warnings(true);
        build.flag("-fno-strict-aliasing").flag("-Wno-unknown-pragmas").flag("-Wno-unused-function");
        build.opt_level(2).debug(false);
        build
    };
    let mut kernels = base();
    kernels.flag("-fsanitize=thread").flag("-fno-sanitize=undefined").link_lib_modifier("+whole-archive");
    for program in karat::backend::cuda::programs() {
        let path = Path::new(&out).join(program.name()).with_extension("cpp");
        let mut text = format!("#define EMULATED_PROGRAM \"{}\"\n", program.name());
        for (name, value) in program.defines() {
            text += &format!("#define {name} {value}\n");
        }
        // A namespace of its own: programs differ in constants, not in names.
        let constants = Path::new(&out).join(program.name());
        fs::create_dir_all(&constants).unwrap();
        fs::write(constants.join("constants.cuh"), program.constants()).unwrap();
        text += &format!(
            "#include \"emulation.h\"\nnamespace program_{} {{\n#include \"{}\"\n}}\n",
            program.name(),
            program.family().file()
        );
        fs::write(&path, text).unwrap();
        kernels.clone().include(constants).file(path).compile(&format!("kernels_{}", program.name()));
    }
    base().file("src/runtime.cpp").compile("karat_runtime");
    for path in ["src", "../include", "..", "build.rs"] {
        println!("cargo:rerun-if-changed={path}");
    }
}
