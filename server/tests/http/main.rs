//! The server as its clients meet it, in front of an engine that can be made slow, broken or busy at
//! will. `tests/serve` of the repository has the same server in front of the real one.

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
