//! The program `karat` from outside: what it prints, what it writes, and its exit status.

mod bad_input;
mod overload;
mod polynomials;
mod reports;
mod vectors;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run gave.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Standard output of a run that must succeed.
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// The JSON object of a run that must succeed.
    #[track_caller]
    fn object(self, command: &str) -> Value {
        json(&self.ok(), command)
    }

    /// The error in the JSON object of a run that must end with status 2.
    #[track_caller]
    fn json_error(&self, command: &str) -> String {
        assert_eq!(self.code, 2, "{}", self.stderr);
        let error = any_json(&self.stdout, command)["error"].as_str().expect("an error").to_owned();
        // It may take several lines there.
        let stderr: Vec<&str> = self.stderr.split_whitespace().collect();
        assert!(stderr.join(" ").starts_with(&format!("error: {error}")), "{}", self.stderr);
        error
    }

    /// The one line on standard error of a run that must end with status 2 and print nothing.
    #[track_caller]
    fn error(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let lines: Vec<&str> = self.stderr.lines().collect();
        assert!(lines.len() == 1 && lines[0].starts_with("error: "), "{}", self.stderr);
        lines[0].into()
    }
}

/// Checks that text is one JSON object of the documented form, of a command that ran to its end.
#[track_caller]
fn json(text: &str, command: &str) -> Value {
    let object = any_json(text, command);
    assert_eq!(object.get("error"), None);
    object
}

/// Checks that text is one JSON object of the documented form; `error` says what ended the command early.
#[track_caller]
fn any_json(text: &str, command: &str) -> Value {
    let object: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let keys: Vec<&String> = object.as_object().unwrap().keys().filter(|key| *key != "error").collect();
    assert_eq!(keys, ["command", "rows", "schema", "summary"]);
    assert_eq!((object["schema"].as_u64(), object["command"].as_str()), (Some(1), Some(command)));
    assert!(object["rows"].as_array().unwrap().iter().all(Value::is_object));
    let summary: Vec<&String> = object["summary"].as_object().unwrap().keys().collect();
    assert_eq!(summary, ["failed", "passed", "skipped"]);
    object
}

/// Runs `karat` in a folder.
fn karat_in(folder: &Path, args: &[&str], stdin: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(args)
        .current_dir(folder)
        .env_remove("KARAT_BACKEND")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes it early.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `karat` where no files matter.
fn karat(args: &[&str]) -> Run {
    karat_in(Path::new(env!("CARGO_MANIFEST_DIR")), args, "")
}
