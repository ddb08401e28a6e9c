//! Tests the `serve` program with the embedded model and many clients, some of which misbehave.
//! `server/tests` has the other tests, with an engine that can be slowed down and broken.

#[path = "../../server/tests/http/client.rs"]
#[allow(dead_code, reason = "shared with the server's own tests")]
mod client;
mod crowd;
mod ends;
mod program;
mod samples;

use tiny_llm_harness::fixtures::Json;
