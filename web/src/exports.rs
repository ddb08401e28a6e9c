//! The functions that a page calls. Numbers are passed directly. Bytes and texts are passed in a
//! buffer, whose address [`buffer`] returns. A page writes to it before a call ([`room`]) and reads
//! from it afterwards. A call that fails returns −1, and the buffer then contains the reason.

#![allow(unsafe_code, reason = "a name that a page can call is one that another could take")]

use std::cell::RefCell;

use anyhow::{Context, Result};
use serde_json::json;

use crate::{
    crowd::{Crowd, Room},
    writer::Writer,
};

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static WRITER: RefCell<Option<Writer>> = const { RefCell::new(None) };
    static CROWD: RefCell<Option<Crowd>> = const { RefCell::new(None) };
}

/// Returned by a call that fails.
const FAILED: i32 = -1;
/// Returned by [`write_next`] at the end of the text.
const OVER: i32 = -2;

/// Returns the address of the buffer for bytes and texts.
#[unsafe(no_mangle)]
pub extern "C" fn buffer() -> *const u8 {
    BUFFER.with_borrow(Vec::as_ptr)
}

/// Returns the buffer's length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn buffer_len() -> usize {
    BUFFER.with_borrow(Vec::len)
}

/// Resizes the buffer to `len` bytes. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(len, 0);
        buffer.as_mut_ptr()
    })
}

/// Loads the GGUF file in the buffer, and puts a description of the model into the buffer. `rung`
/// is the index of a rung (one set of kernels), slowest first. Any other number selects the
/// fastest.
#[unsafe(no_mangle)]
pub extern "C" fn load_model(rung: i32) -> i32 {
    answer(|| {
        let file = BUFFER.take();
        let rungs = tiny_llm_reference::week2::kernels::Rung::available();
        let rung = usize::try_from(rung).ok().and_then(|i| rungs.get(i));
        let writer = Writer::new(file, "the model's file", rung.map_or("", |rung| rung.name()))?;
        let [layers, heads] = writer.heads();
        say(json!({ "layers": layers, "heads": heads, "rung": writer.rung() }).to_string());
        WRITER.set(Some(writer));
        Ok(0)
    })
}

/// Begins a text with the prompt in the buffer. Puts the texts of the prompt's tokens into the
/// buffer, and returns their number.
#[unsafe(no_mangle)]
pub extern "C" fn begin(temperature: f32, seed: u32) -> i32 {
    with_writer(|writer| {
        let prompt = String::from_utf8(BUFFER.take())?;
        let texts = writer.begin(&prompt, temperature, u64::from(seed))?;
        say(json!(texts).to_string());
        Ok(texts.len() as i32)
    })
}

/// Generates a token and puts its text into the buffer. Returns the token, or −2 at the end.
#[unsafe(no_mangle)]
pub extern "C" fn write_next() -> i32 {
    with_writer(|writer| {
        let Some(token) = writer.next_token()? else { return Ok(OVER) };
        say(writer.text_of(token));
        Ok(token as i32)
    })
}

/// Puts the attention weights with which the last token was chosen into the buffer, as f32
/// `[layers, H_q, positions]`. Returns the number of positions.
#[unsafe(no_mangle)]
pub extern "C" fn attention() -> i32 {
    with_writer(|writer| {
        let weights = writer.attention();
        let positions = weights.len() / writer.heads().iter().product::<usize>();
        say(weights.iter().flat_map(|weight| weight.to_le_bytes()).collect::<Vec<u8>>());
        Ok(positions as i32)
    })
}

/// Computes the logits after the prompt in the buffer, and puts them into the buffer as f32.
/// Returns the number of logits.
#[unsafe(no_mangle)]
pub extern "C" fn logits() -> i32 {
    with_writer(|writer| {
        let prompt = String::from_utf8(BUFFER.take())?;
        let logits = writer.logits(&prompt)?;
        say(logits.iter().flat_map(|logit| logit.to_le_bytes()).collect::<Vec<u8>>());
        Ok(logits.len() as i32)
    })
}

/// Creates a crowd (an engine without a model or requests). Puts its state into the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn crowd(places: usize, budget: usize, pages: usize) -> i32 {
    answer(|| {
        let crowd = Crowd::new(Room { places, budget, pages })?;
        say(crowd.look().to_string());
        CROWD.set(Some(crowd));
        Ok(0)
    })
}

/// Submits a request to the crowd's engine. Puts the state of the crowd into the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn crowd_add(prompt: usize, answer: usize) -> i32 {
    with_crowd(|crowd| {
        crowd.add(prompt, answer)?;
        Ok(crowd.look())
    })
}

/// Runs one step of the crowd's engine. Puts the state of the crowd into the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn crowd_step() -> i32 {
    with_crowd(|crowd| Ok(crowd.step()))
}

fn say(bytes: impl Into<Vec<u8>>) {
    BUFFER.set(bytes.into());
}

fn answer(work: impl FnOnce() -> Result<i32>) -> i32 {
    work().unwrap_or_else(|error| {
        say(format!("{error:#}"));
        FAILED
    })
}

fn with_writer(work: impl FnOnce(&mut Writer) -> Result<i32>) -> i32 {
    answer(|| WRITER.with_borrow_mut(|writer| work(writer.as_mut().context("no model is loaded")?)))
}

fn with_crowd(work: impl FnOnce(&mut Crowd) -> Result<serde_json::Value>) -> i32 {
    answer(|| {
        CROWD.with_borrow_mut(|crowd| {
            say(work(crowd.as_mut().context("there is no crowd")?)?.to_string());
            Ok(0)
        })
    })
}
