#!/usr/bin/env bash
# Lines of karat's `src` that each target covers: seeds and corpus replayed under -C instrument-coverage, any toolchain
# with the component llvm-tools. Names of targets as arguments; all without.
set -euo pipefail
cd "$(dirname "$0")"

host=$(rustc -vV | sed -n 's/^host: //p')
tools=$(rustc --print sysroot)/lib/rustlib/$host/bin
[ -x "$tools/llvm-cov" ] || {
    echo "llvm-cov is missing: rustup component add llvm-tools"
    exit 1
}
target=${CARGO_TARGET_DIR:-target}/coverage
features=${FEATURES:-cuda}
RUSTFLAGS="-C instrument-coverage --cfg fuzzing" CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    cargo build --quiet --release --target "$host" --target-dir "$target" --features "$features" --bin all
program=$target/$host/release/all
profiles=$target/profiles
rm -rf "$profiles"
mkdir -p "$profiles"

report() { # name, profiles
    "$tools/llvm-profdata" merge -sparse "${@:2}" -o "$profiles/$1.profdata"
    # The last line of a report is the sum; columns 8 and 9 are lines and lines missed.
    "$tools/llvm-cov" report "$program" -instr-profile="$profiles/$1.profdata" \
        -ignore-filename-regex='(registry|rustc|rustlib|/fuzz/|/kernels/)' |
        awk -v name="$1" '/^TOTAL/ { printf "%-20s %6d of %6d lines of src\n", name, $8 - $9, $8 }'
}

targets=("$@")
[ $# -gt 0 ] || targets=($(cd seeds && ls))
for name in "${targets[@]}"; do
    # A feature that was left out.
    [ "$name" = emulated_kernels ] && [[ $features != *emulation* ]] && continue
    folders=("seeds/$name")
    [ -d "corpus/$name" ] && folders+=("corpus/$name")
    log=$(KARAT_FUZZ=$name LLVM_PROFILE_FILE="$profiles/$name-%p.profraw" "$program" -runs=0 "${folders[@]}" 2>&1) ||
        { printf '%s\n' "$name:" "$log" | tail -20; exit 1; }
    report "$name" "$profiles/$name"-*.profraw
done
report all "$profiles"/*.profraw
