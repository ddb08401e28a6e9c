//! Reads arbitrary bytes as the body of a request. The first byte chooses the interface.
//!
//! Each body is accepted or rejected, and an error has the shape of OpenAI's. An accepted request
//! respects the server's limits: the number of answers, and the ranges of the sampling options.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tiny_llm_server::{Read, read_body};

fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first() else { return };
    match read_body(choice % 2 == 0, body, 8) {
        Ok(Read { answers, stops, sampling }) => {
            assert!((1..=8).contains(&answers), "{answers} answers");
            assert!(stops.iter().all(|stop| !stop.is_empty()), "an empty stop text");
            assert!((0.0..=2.0).contains(&sampling.temperature), "{sampling:?}");
            assert!(sampling.top_p > 0.0 && sampling.top_p <= 1.0, "{sampling:?}");
            assert!((0.0..=1.0).contains(&sampling.min_p), "{sampling:?}");
            let penalty = sampling.repetition_penalty;
            assert!(penalty > 0.0 && penalty.is_finite(), "{sampling:?}");
        }
        Err(error) => {
            let message = error["error"]["message"].as_str().expect("a message");
            assert!(!message.is_empty() && message.len() < 1000 + body.len(), "{message}");
            assert!(error["error"]["type"].is_string(), "{error}");
        }
    }
});
