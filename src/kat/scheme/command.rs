//! A program under test, in any language: one JSON line in, one JSON line out.
//!
//! Each case goes to the program's standard input as `{"id": 7, "scheme": "ML-KEM-768", "op": "encaps", "in": {"ek":
//! "…", "m": "…"}}`, values in hexadecimal. It answers on its standard output with `{"id": 7, "out": {"c": "…", "k":
//! "…"}}`, or with `{"id": 7, "error": "why"}` where the operation refuses its input.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::string::{String, ToString};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::vec::Vec;

use serde_json::{Map, Value, json};

use super::{Answer, Case, Implementation};
use crate::error::excerpt;
use crate::kat::KatError;

/// Longest answer in bytes.
const MAX_LINE: u64 = 1 << 24;
/// Times that a program is started again after it died or hung.
const RESTARTS: u32 = 3;
/// Time to end for a program that closed its output: it can answer no more.
const GRACE: Duration = Duration::from_secs(1);
/// How often a program that closed its output is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

/// A program under test. It is started at the first case, and again after a failure, three times at most.
pub struct Command {
    words: Vec<String>,
    timeout: Duration,
    running: Option<Running>,
    next_id: u64,
    starts: u32,
}

struct Running {
    child: Child,
    /// Lines for the program, each with where to tell that it was read. A thread of its own writes them: a program
    /// that does not read would block the writer beyond every timeout.
    requests: Sender<(String, Sender<()>)>,
    lines: Receiver<std::io::Result<String>>,
}

impl Running {
    /// How the program ended, where it does so soon; else it is stopped.
    fn end(&mut self) -> String {
        let deadline = Instant::now() + GRACE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Err(error) => return error.to_string(),
                Ok(None) if Instant::now() >= deadline => break,
                Ok(None) => thread::sleep(POLL),
            }
        }
        // `Drop` stops it.
        "it closed its output, ran on and was stopped".into()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Command {
    /// A program and its arguments, split at blanks (there is no quoting); every answer must come within `timeout`,
    /// which begins when the program is sent its request.
    ///
    /// ```
    /// use karat::kat::scheme::{Answer, Case, Command, Expected, Implementation};
    /// use std::time::Duration;
    /// let case = Case { scheme: "ML-KEM-512".into(), op: "keygen".into(), inputs: vec![], expected: Expected::Refusal };
    /// let mut nothing = Command::new("/no/such/program", Duration::from_secs(1));
    /// assert!(matches!(nothing.answer(&[&case])[0], Answer::Failure(_)));
    /// ```
    pub fn new(command: &str, timeout: Duration) -> Self {
        let words = command.split_whitespace().map(ToString::to_string).collect();
        Self { words, timeout, running: None, next_id: 0, starts: 0 }
    }

    /// Starts the program now, not at the first case.
    ///
    /// # Errors
    /// `Program` where there is no such program or it cannot be run.
    ///
    /// ```
    /// use karat::kat::scheme::Command;
    /// let error = Command::new("/no/such/program", std::time::Duration::from_secs(1)).start().unwrap_err();
    /// assert!(error.to_string().starts_with("`/no/such/program` cannot be started: "));
    /// ```
    pub fn start(&mut self) -> Result<(), KatError> {
        if self.running.is_none() {
            self.starts += 1;
            self.running = Some(self.launch().map_err(KatError::Program)?);
        }
        Ok(())
    }

    fn launch(&self) -> Result<Running, String> {
        let Some((program, arguments)) = self.words.split_first() else { return Err("the command is empty".into()) };
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| std::format!("`{program}` cannot be started: {error}"))?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the program has no pipes".into());
        };
        let (requests, to_write) = channel::<(String, Sender<()>)>();
        // Ends with the program, whose end breaks the pipe, or with the last request.
        thread::spawn(move || {
            for (line, done) in to_write {
                if writeln!(stdin, "{line}").and_then(|()| stdin.flush()).is_err() {
                    return;
                }
                // Who asked may be gone: the answer came first.
                let _ = done.send(());
            }
        });
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            loop {
                let mut line = String::new();
                let read = (&mut reader).take(MAX_LINE).read_line(&mut line);
                let more = matches!(read, Ok(count) if count > 0);
                if sender.send(read.map(|_| line)).is_err() || !more {
                    return;
                }
            }
        });
        Ok(Running { child, requests, lines })
    }

    /// One case; `Err` where the program is of no use any more.
    fn exchange(&mut self, case: &Case) -> Result<Answer, String> {
        if self.running.is_none() && self.starts > RESTARTS {
            return Err(std::format!("the program failed {} times and is not started again", self.starts));
        }
        self.start().map_err(|error| error.to_string())?;
        let Some(running) = &mut self.running else { return Err("the program is not running".into()) };
        let id = self.next_id;
        self.next_id += 1;
        let inputs: Map<String, Value> =
            case.inputs.iter().map(|(name, value)| (name.to_string(), hex::encode(value).into())).collect();
        let request = json!({"id": id, "scheme": case.scheme, "op": case.op, "in": inputs});
        let (done, sent) = channel();
        // A thread that has ended says that the program did: reading its answer tells how.
        let _ = running.requests.send((request.to_string(), done));
        let line = match running.lines.recv_timeout(self.timeout) {
            Ok(Ok(line)) if !line.is_empty() => line,
            Ok(Err(error)) => return Err(std::format!("the program's answer cannot be read: {error}")),
            Err(RecvTimeoutError::Timeout) => {
                let read = if sent.try_recv().is_ok() { "" } else { ", nor did it read all of its request" };
                return Err(std::format!("the program gave no answer within {:?}{read}", self.timeout));
            }
            Ok(Ok(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(std::format!("the program ended without an answer: {}", running.end()));
            }
        };
        read_answer(id, &line)
    }
}

/// What a line says.
fn read_answer(id: u64, line: &str) -> Result<Answer, String> {
    let nonsense = |what: &str| std::format!("the program answered nonsense: {what}: `{}`", excerpt(line.trim_end()));
    let value: Value = serde_json::from_str(line).map_err(|_| nonsense("no JSON"))?;
    if value["id"].as_u64() != Some(id) {
        return Err(nonsense(&std::format!("`id` is not {id}")));
    }
    match (value.get("out"), value.get("error")) {
        (None, Some(error)) => {
            Ok(Answer::Refusal(excerpt(error.as_str().map_or_else(|| error.to_string(), Into::into).as_str())))
        }
        (Some(Value::Object(out)), None) => {
            let decode = |(name, value): (&String, &Value)| {
                let bytes = value.as_str().and_then(|text| hex::decode(text).ok());
                bytes.map(|bytes| (name.clone(), bytes)).ok_or_else(|| nonsense("an output is not hexadecimal"))
            };
            out.iter().map(decode).collect::<Result<_, _>>().map(Answer::Values)
        }
        _ => Err(nonsense("neither one object `out` nor `error`")),
    }
}

impl Implementation for Command {
    fn is_foreign(&self) -> bool {
        true
    }

    fn answer(&mut self, cases: &[&Case]) -> Vec<Answer> {
        let answer = |case: &&Case| {
            self.exchange(case).unwrap_or_else(|why| {
                self.running = None;
                Answer::Failure(why)
            })
        };
        cases.iter().map(answer).collect()
    }
}
