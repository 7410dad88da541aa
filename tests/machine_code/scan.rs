//! What a disassembly shows: divisions, and branches on data.
//!
//! A branch is on data where its flags come from what was loaded from memory other than the stack, or computed from that:
//! counters and lengths come in registers, or lie in the stack where a call put them. It is followed through registers
//! and stack slots in the order of addresses, which is enough for short functions that loop over arrays; it is not for
//! functions that get lengths out of structures.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A function of an x86-64 disassembly.
pub struct Function<'a> {
    pub name: &'a str,
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    mnemonic: &'a str,
    operands: Vec<&'a str>,
    text: &'a str,
}

/// The disassembly of an executable; `None` where there is no objdump.
pub fn disassemble(executable: &Path) -> Option<String> {
    let arguments = ["-d", "--no-show-raw-insn", "--demangle"];
    let output = Command::new("objdump").args(arguments).arg(executable).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All functions of a disassembly.
pub fn functions(disassembly: &str) -> Vec<Function<'_>> {
    let mut out: Vec<Function> = Vec::new();
    for line in disassembly.lines() {
        if let Some(start) = line.strip_suffix(">:").and_then(|line| line.find('<').map(|at| &line[at + 1..])) {
            out.push(Function { name: start, lines: Vec::new() });
        } else if let (Some(function), Some((_, text))) = (out.last_mut(), line.split_once('\t')) {
            function.lines.push(Line::of(text));
        }
    }
    out
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.split('#').next().unwrap_or_default().trim();
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (mut operands, mut depth, mut start) = (Vec::new(), 0, 0);
        for (i, c) in rest.char_indices() {
            match c {
                '(' | '<' => depth += 1,
                ')' | '>' => depth -= 1,
                ',' if depth == 0 => {
                    operands.push(rest[start..i].trim());
                    start = i + 1;
                }
                _ => {}
            }
        }
        operands.push(rest[start..].trim());
        Self { mnemonic, operands, text }
    }

    /// An instruction that divides, or a call of the routine for 128 bits.
    fn divides(&self) -> bool {
        let of_x86 = ["div", "idiv", "divb", "divw", "divl", "divq", "idivb", "idivw", "idivl", "idivq"];
        of_x86.contains(&self.mnemonic)
            || ["udiv", "sdiv"].contains(&self.mnemonic)
            || ["__udivti3", "__umodti3", "__divti3", "__modti3"].iter().any(|routine| self.text.contains(routine))
    }
}

impl Function<'_> {
    pub fn divides(&self) -> bool {
        self.lines.iter().any(Line::divides)
    }

    /// Whether it stores under a mask with AVX2, which may take as long as the mask says.
    pub fn stores_under_masks(&self) -> bool {
        self.lines.iter().any(|line| line.mnemonic.starts_with("vpmaskmov") || line.mnemonic.starts_with("vmaskmov"))
    }

    /// The conditional jumps whose flags come from data.
    pub fn branches_on_data(&self) -> Vec<&str> {
        let mut state = State::new();
        self.lines.iter().filter(|line| state.step(line)).map(|line| line.text).collect()
    }
}

/// The number of a general register, whatever part of it is named.
fn register(operand: &str) -> Option<usize> {
    let name = operand.strip_prefix('%')?;
    if let Some(number) = name.strip_prefix('r').and_then(|n| n.trim_end_matches(['b', 'w', 'd']).parse().ok()) {
        return Some(number);
    }
    let base = name.trim_start_matches(['r', 'e']);
    let base = if base.len() > 1 { base.trim_end_matches(['l', 'h']) } else { base };
    let names =
        [["ax", "a"], ["cx", "c"], ["dx", "d"], ["bx", "b"], ["sp", "sp"], ["bp", "bp"], ["si", "si"], ["di", "di"]];
    names.iter().position(|names| names.contains(&base))
}

fn is_memory(operand: &str) -> bool {
    operand.contains('(') && !operand.contains('<')
}

/// The register that always points into the stack.
const STACK: usize = 4;

/// What holds data at one point of a function.
struct State {
    registers: [bool; 16],
    /// Where in the stack a register points: iterators that calls made lie there.
    frames: [Option<i64>; 16],
    slots: BTreeMap<i64, bool>,
    flags: bool,
}

impl State {
    fn new() -> Self {
        let mut frames = [None; 16];
        frames[STACK] = Some(0);
        Self { registers: [false; 16], frames, slots: BTreeMap::new(), flags: false }
    }

    /// The place in the stack that an operand is, an array at its start.
    fn slot(&self, operand: &str) -> Option<i64> {
        let (offset, inside) = operand.strip_suffix(')')?.split_once('(')?;
        let frame = self.frames[register(inside.split(',').next()?)?]?;
        let (sign, digits) = offset.strip_prefix('-').map_or((1, offset), |digits| (-1, digits));
        let offset = if digits.is_empty() { 0 } else { i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()? };
        Some(frame + sign * offset)
    }

    fn holds(&self, operand: &str) -> bool {
        match register(operand) {
            Some(number) => self.registers[number],
            // Vectors hold nothing but data.
            None => self.slot(operand).map_or_else(
                || is_memory(operand) || ["%xmm", "%ymm", "%zmm", "%k"].iter().any(|kind| operand.starts_with(kind)),
                |slot| self.slots.get(&slot).copied().unwrap_or(false),
            ),
        }
    }

    /// Whether an address is computed from data.
    fn address_holds(&self, operand: &str) -> bool {
        let inside = operand.split_once('(').map_or("", |(_, inside)| inside.trim_end_matches(')'));
        inside.split(',').filter_map(register).any(|number| self.registers[number])
    }

    fn set(&mut self, operand: &str, data: bool) {
        match register(operand) {
            Some(STACK) => {}
            Some(number) => (self.registers[number], self.frames[number]) = (data, None),
            None => drop(self.slot(operand).map(|slot| self.slots.insert(slot, data))),
        }
    }

    /// Notes that a register points into the stack.
    fn point(&mut self, operand: &str, frame: Option<i64>) {
        if let Some(number) = register(operand).filter(|number| *number != STACK) {
            self.frames[number] = frame;
        }
    }

    /// Follows an instruction; whether it is a branch on data.
    fn step(&mut self, line: &Line<'_>) -> bool {
        let (mnemonic, operands) = (line.mnemonic, &line.operands);
        let Some(target) = operands.last().copied() else { return false };
        if mnemonic.starts_with('j') {
            return mnemonic != "jmp" && self.flags;
        }
        let any = operands.iter().any(|operand| self.holds(operand));
        match mnemonic {
            "lea" => {
                let (data, frame) = (self.address_holds(operands[0]), self.slot(operands[0]));
                self.set(target, data);
                self.point(target, frame);
            }
            "cmp" | "cmpb" | "cmpw" | "cmpl" | "cmpq" | "test" | "testb" | "testw" | "testl" | "testq" | "bt"
            | "ucomisd" | "ucomiss" | "comisd" | "vucomisd" | "vptest" | "ptest" | "vtestps" => self.flags = any,
            "call" | "ret" | "nop" | "push" | "endbr64" | "vzeroupper" => {}
            "pop" => self.set(target, false),
            // What clears a register, whatever it holds.
            "xor" | "sub" if operands[0] == target => {
                self.set(target, false);
                self.flags = false;
            }
            _ if mnemonic.starts_with("mov") || mnemonic.starts_with("vmov") || mnemonic.starts_with("set") => {
                let data = if mnemonic.starts_with("set") { self.flags } else { self.holds(operands[0]) };
                let frame = register(operands[0]).and_then(|number| self.frames[number]);
                self.set(target, data);
                self.point(target, frame);
            }
            _ => {
                // Arithmetic: three operands write the last from the others, two write the last from both.
                let data = match operands.len() {
                    0..=2 => any,
                    count => operands[..count - 1].iter().any(|operand| self.holds(operand)),
                } || mnemonic.starts_with("cmov") && self.flags;
                self.set(target, data);
                if !mnemonic.starts_with('v') && !mnemonic.ends_with('x') && !mnemonic.starts_with("cmov") {
                    self.flags = data;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(lines: &[&str]) -> (bool, usize) {
        let text = lines.iter().fold("0001 <a::b>:\n".to_owned(), |text, line| format!("{text} 10c3:\t{line}\n"));
        let all = functions(&text);
        assert!(all.len() == 1 && all[0].name == "a::b" && all[0].lines.len() == lines.len());
        (all[0].divides(), all[0].branches_on_data().len())
    }

    #[test]
    fn divisions_are_recognised() {
        for line in ["div    %rcx", "idivl  0x8(%rsp)", "call   5060 <__umodti3>"] {
            assert!(scan(&[line]).0, "{line}");
        }
        for line in ["vdivpd %ymm0,%ymm1,%ymm2", "mov    %rax,%rbx"] {
            assert!(!scan(&[line]).0, "{line}");
        }
    }

    #[test]
    fn stores_under_masks_are_recognised() {
        let text =
            "0001 <a::b>:\n 10c3:\tvpmaskmovq %ymm1,%ymm2,0x40(%rsp,%rcx,1)\n0002 <c>:\n 10c9:\tvmovdqu %ymm1,(%rdi)\n";
        assert_eq!(functions(text).iter().map(Function::stores_under_masks).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn branches_on_data_are_recognised() {
        for lines in [
            &["movzwl (%rdi,%rcx,2),%eax", "cmp    $0xd01,%eax", "jae    1090 <a::b+0x20>"][..],
            &["cmpb   $0x0,(%rdi)", "je     1090 <a::b+0x20>"],
            &[
                "mov    (%rsi),%rax",
                "mov    %rax,0x18(%rsp)",
                "xor    %eax,%eax",
                "mov    0x18(%rsp),%rdx",
                "sub    %rcx,%rdx",
                "jb     1",
            ],
            &["vpmovmskb %ymm0,%eax", "test   %eax,%eax", "jne    1"],
            &["vptest %ymm0,%ymm0", "jne    1"],
            &["mov    (%rdi),%r8d", "lea    0x1(%r8),%r9d", "cmp    %r9d,%ecx", "ja     1"],
            &[
                "lea    0x10(%rsp),%rbx",
                "mov    (%rdi),%eax",
                "mov    %eax,0x18(%rsp)",
                "cmpl   $0x5,0x8(%rbx)",
                "ja     1",
            ],
            &["mov    %rsp,%rbx", "mov    0x8(%rdi),%rbx", "mov    (%rbx),%rax", "test   %rax,%rax", "je     1"],
        ] {
            assert_eq!(scan(lines).1, 1, "{lines:?}");
        }
        for lines in [
            &["add    $0x20,%rcx", "cmp    $0x200,%rcx", "jne    1"][..],
            &["mov    (%rdi),%eax", "dec    %rcx", "jne    1"],
            &["mov    (%rdi),%eax", "cmp    %rsi,%rdx", "jb     1"],
            &[
                "lea    0x18(%rsp),%r14",
                "mov    %r14,%rdi",
                "call   1030c9 <next>",
                "mov    (%r14),%rdi",
                "test   %rdi,%rdi",
                "je     1",
            ],
            &[
                "mov    (%rdi),%eax",
                "sub    $0xd01,%eax",
                "sbb    %edx,%edx",
                "xor    %eax,%eax",
                "test   %eax,%eax",
                "je 1",
            ],
            &["mov    (%rdi),%eax", "cmp    $0x5,%eax", "cmovb  %eax,%ecx", "jmp    1"],
        ] {
            assert_eq!(scan(lines).1, 0, "{lines:?}");
        }
    }
}
