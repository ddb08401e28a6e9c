//! Tests the server with an engine that can be made slow, broken or busy. `tests/serve` of the
//! repository tests it with the real engine.

mod answers;
mod client;
mod engine;
mod faults;
mod forms;
mod limits;
mod local;
mod refused;
mod streams;
mod watched;

use serde_json::Value as Json;
