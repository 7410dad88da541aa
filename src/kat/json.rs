//! What the JSON formats share: typed access to fields, and the fields that no reader knows.

use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Map, Value};

use super::KatError;
use super::error::excerpt;

/// A JSON object, with the place where it stands for error messages.
pub(super) struct Object<'a> {
    map: &'a Map<String, Value>,
    place: String,
}

impl<'a> Object<'a> {
    pub(super) fn new(value: &'a Value, place: impl Into<String>) -> Result<Self, KatError> {
        let place = place.into();
        match value {
            Value::Object(map) => Ok(Self { map, place }),
            other => Err(malformed(&place, other, "an object")),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    fn optional<T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, KatError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                None => Err(malformed(&std::format!("{}.{name}", self.place), value, expected)),
                read => Ok(read),
            },
        }
    }

    fn required<T>(&self, name: &str, value: Option<T>, expected: &'static str) -> Result<T, KatError> {
        let place = std::format!("{}.{name}", self.place);
        value.ok_or_else(|| malformed(&place, &Value::Null, expected))
    }

    /// A text, empty where it is absent.
    pub(super) fn text(&self, name: &str) -> Result<&'a str, KatError> {
        Ok(self.optional(name, "a text", Value::as_str)?.unwrap_or_default())
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, KatError> {
        self.optional(name, "true or false", Value::as_bool)
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, KatError> {
        self.required(name, self.optional(name, "a number", Value::as_u64)?, "a number")
    }

    pub(super) fn array(&self, name: &str) -> Result<&'a [Value], KatError> {
        let array = self.optional(name, "an array", |value| value.as_array().map(Vec::as_slice))?;
        self.required(name, array, "an array")
    }

    /// Bytes in hexadecimal, if the field is there.
    pub(super) fn optional_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, KatError> {
        self.optional(name, "bytes in hexadecimal", |value| hex::decode(value.as_str()?).ok())
    }

    pub(super) fn bytes(&self, name: &str) -> Result<Vec<u8>, KatError> {
        self.required(name, self.optional_bytes(name)?, "bytes in hexadecimal")
    }

    /// Fields that are not among these.
    pub(super) fn unknown<'b>(&'b self, known: &'b [&str]) -> impl Iterator<Item = &'b str> {
        self.map.keys().map(String::as_str).filter(|name| !known.contains(name))
    }
}

fn malformed(place: &str, value: &Value, expected: &'static str) -> KatError {
    let text = match value {
        Value::Null => std::format!("{place}: nothing"),
        Value::Array(_) => std::format!("{place}: an array"),
        Value::Object(_) => std::format!("{place}: an object"),
        other => std::format!("{place}: {}", excerpt(other.to_string().as_bytes())),
    };
    KatError::Malformed { text, expected }
}
