//! `serve` as its users meet it: the program, the embedded model, and a crowd of clients, some of which
//! behave badly. `server/tests` has the rest, in front of an engine that can be slowed and broken.

#[path = "../../server/tests/http/client.rs"]
#[allow(dead_code, reason = "shared with the server's own tests")]
mod client;
mod crowd;
mod ends;
mod program;
mod samples;

use tiny_llm_harness::fixtures::Json;
