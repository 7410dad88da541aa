//! What a command prints: text and tables for people, or one JSON object.

use std::fmt::Display;
use std::io::{self, IsTerminal, Read, Stdout, Write};

use comfy_table::{CellAlignment, Table};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// How many things went which way. What is counted (products, files, rows) is the command's matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Right.
    pub passed: u64,
    /// Wrong: exit status 1.
    pub failed: u64,
    /// Not looked at.
    pub skipped: u64,
}

/// The version of the JSON object's form.
const SCHEMA: u32 = 1;

/// Standard output. Text is dropped in JSON mode, rows are dropped in text mode.
pub struct Output {
    command: String,
    json: bool,
    out: Stdout,
    rows: Vec<Box<RawValue>>,
}

/// The JSON object.
#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    command: &'a str,
    rows: &'a [Box<RawValue>],
    summary: Summary,
    /// What ended the command early.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Output {
    pub fn new(command: &str, json: bool) -> Self {
        Self { command: command.into(), json, out: io::stdout(), rows: Vec::new() }
    }

    /// Whether one JSON object is wanted.
    pub fn json(&self) -> bool {
        self.json
    }

    /// A line of text.
    pub fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        writeln!(self.out, "{text}").map_err(Failure::stdout)
    }

    /// A row of the JSON object.
    pub fn row(&mut self, row: &impl Serialize) -> Result<(), Failure> {
        if self.json {
            let row = serde_json::value::to_raw_value(row).map_err(|e| Failure::stdout(e.into()))?;
            self.rows.push(row);
        }
        Ok(())
    }

    /// A table of text; columns named in `right` are set flush right.
    pub fn table(&mut self, header: &[&str], right: &[&str], rows: Vec<Vec<String>>) -> Result<(), Failure> {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::ASCII_MARKDOWN).set_header(header).add_rows(rows);
        for (i, _) in header.iter().enumerate().filter(|(_, name)| right.contains(name)) {
            if let Some(column) = table.column_mut(i) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.line(table)
    }

    /// Copies bytes that a command has staged.
    pub fn copy(&mut self, mut bytes: impl Read) -> Result<(), Failure> {
        io::copy(&mut bytes, &mut self.out).map(|_| ()).map_err(Failure::stdout)
    }

    /// Prints the JSON object around rows that a command has staged as text, comma between them.
    pub fn finish_staged(&mut self, rows: impl Read, summary: Summary) -> Result<(), Failure> {
        self.json = false;
        write!(self.out, "{{\"schema\":{SCHEMA},\"command\":\"{}\",\"rows\":[", self.command)
            .map_err(Failure::stdout)?;
        self.copy(rows)?;
        let summary = serde_json::to_string(&summary).map_err(|e| Failure::stdout(e.into()))?;
        self.line(format_args!("],\"summary\":{summary}}}"))
    }

    /// Prints the JSON object if one is wanted, and makes sure that everything is out.
    pub fn finish(&mut self, summary: Summary) -> Result<Summary, Failure> {
        self.end(summary, None)?;
        Ok(summary)
    }

    /// As [`Output::finish`], for a command that ended with an error.
    pub fn end(&mut self, summary: Summary, error: Option<&str>) -> Result<(), Failure> {
        if self.json {
            let object = Object { schema: SCHEMA, command: &self.command, rows: &self.rows, summary, error };
            let text = serde_json::to_string(&object).map_err(|e| Failure::stdout(e.into()))?;
            writeln!(self.out, "{text}").map_err(Failure::stdout)?;
        }
        self.out.flush().map_err(Failure::stdout)
    }
}

/// A line on standard error. Nobody may be listening: that is no failure.
pub fn complain(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A progress bar on standard error where that is a terminal; `len` is the number of steps, if it is known.
pub fn progress(len: Option<u64>, what: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match len {
        Some(len) => (ProgressBar::new(len), "{prefix} [{bar:40}] {pos}/{len} {msg}"),
        None => (ProgressBar::no_length(), "{prefix} {spinner} {human_pos} {msg}"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_prefix(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_hidden_without_a_terminal() {
        assert!(io::stderr().is_terminal() || progress(Some(3), "test").is_hidden());
    }
}
