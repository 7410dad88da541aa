//! What the compiler made of the schemes, in this very executable.
//!
//! A division takes longer for some operands than for others: where secrets are handled there must be none.

use std::process::Command;

use karat::schemes::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use karat::schemes::mlkem::{MlKem512, MlKem768, MlKem1024};
use karat::{Cpu, Reference};

/// Everything that is generic gets compiled into this executable.
fn use_everything() {
    macro_rules! kem {
        ($($T:ident),*) => {$({
            let kem = $T::new(Cpu::new()).unwrap();
            let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
            let (ciphertext, secret) = kem.encaps(&ek, &[3; 32]).unwrap();
            assert_eq!(kem.decaps(&dk, &ciphertext), Ok(secret));
            assert_eq!(kem.decaps_batch(&[dk], &[ciphertext]).unwrap(), [Ok(secret)]);
            assert_eq!(kem.keygen_batch(&[[1; 64]]).unwrap().len(), 1);
            assert_eq!(kem.encaps_batch(&[ek], &[[3; 32]]).unwrap().len(), 1);
        })*};
    }
    macro_rules! dsa {
        ($($T:ident),*) => {$({
            let dsa = $T::new(Cpu::new()).unwrap();
            let (pk, sk) = dsa.keygen(&[1; 32]);
            let signature = dsa.sign(&sk, b"m", b"", &[0; 32]).unwrap();
            assert_eq!(dsa.verify(&pk, b"m", b"", &signature), Ok(()));
            let input = karat::schemes::mldsa::Input::Internal(b"m");
            assert_eq!(dsa.keygen_batch(&[[1; 32]]).unwrap().len(), 1);
            assert_eq!(dsa.sign_batch(&[sk], &[input], &[[0; 32]]).unwrap().len(), 1);
        })*};
    }
    kem!(MlKem512, MlKem768, MlKem1024);
    dsa!(MlDsa44, MlDsa65, MlDsa87);
    let _ = MlKem512::new(Reference);
}

/// Functions that divide public numbers: how many polynomials a batch has.
const PUBLIC: [&str; 1] = ["::sign_chunk"];

/// Functions of the disassembly whose code has a line that satisfies a condition.
fn functions_with(disassembly: &str, condition: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut name = "";
    let mut out = Vec::new();
    for line in disassembly.lines() {
        if let Some(start) = line.strip_suffix(">:").and_then(|line| line.find('<').map(|at| &line[at + 1..])) {
            name = start;
        } else if condition(line) && out.last() != Some(&name) {
            out.push(name);
        }
    }
    out
}

/// An instruction that divides, or a call of the routine for 128 bits.
fn divides(line: &str) -> bool {
    let instruction = line.split('\t').next_back().unwrap_or_default();
    let mnemonic = instruction.split_whitespace().next().unwrap_or_default();
    let of_x86 = ["div", "idiv", "divb", "divw", "divl", "divq", "idivb", "idivw", "idivl", "idivq"];
    of_x86.contains(&mnemonic)
        || ["udiv", "sdiv"].contains(&mnemonic)
        || ["__udivti3", "__umodti3", "__divti3", "__modti3"].iter().any(|routine| line.contains(routine))
}

#[test]
fn no_division_in_the_schemes() {
    use_everything();
    let executable = std::env::current_exe().unwrap();
    let arguments = ["-d", "--no-show-raw-insn", "--demangle"];
    let Ok(output) = Command::new("objdump").args(arguments).arg(executable).output() else {
        eprintln!("skipped: there is no objdump");
        return;
    };
    let disassembly = String::from_utf8_lossy(&output.stdout);
    let of_schemes =
        functions_with(&disassembly, |_| true).into_iter().filter(|name| name.contains("karat::schemes::"));
    assert!(of_schemes.count() > 20, "the disassembly does not show the schemes");
    // What finds nothing here finds nothing anywhere: the standard library prints numbers by division.
    let dividing = functions_with(&disassembly, divides);
    assert!(!dividing.is_empty(), "no division was found in the whole executable");
    let wrong = dividing.into_iter().filter(|name| name.contains("karat::schemes::"));
    let wrong: Vec<_> = wrong.filter(|name| !PUBLIC.iter().any(|public| name.ends_with(public))).collect();
    assert!(wrong.is_empty(), "divisions in {wrong:#?}");
}

#[test]
fn divisions_are_recognised() {
    assert!(divides("  10c3:\tdiv    %rcx") && divides("  10c3:\tidivl  0x8(%rsp)") && divides("  10c3:\tidiv   ecx"));
    assert!(divides(" 4: \tcall   5060 <__umodti3>"));
    assert!(!divides("  10c3:\tvdivpd %ymm0,%ymm1,%ymm2") && !divides("  10c3:\tmov    %rax,%rbx"));
    let text = "0001 <a::b>:\n 1:\tdiv %rcx\n 2:\tret\n0002 <a::c>:\n 3:\tret\n";
    assert_eq!(functions_with(text, divides), ["a::b"]);
}
