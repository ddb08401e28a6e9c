//! Week 4's model whose weights are never all in memory.

use anyhow::{Context, Result, ensure};
use tiny_llm::{
    week1::sampling::Rng,
    week4::{
        packed::{self, FileStorage},
        streamed::{
            arena::Arena,
            engine::{Engine, Options, choose},
            error::Error,
            ledger::Ledger,
            storage::Counts,
            store::Store,
        },
    },
};
use tiny_llm_cli::{OnToken, PackRequest, StreamCounts, StreamRequest, Streamed};

pub(crate) fn pack(request: &PackRequest<'_>) -> Result<u64> {
    Ok(packed::pack(request.input, request.vocabulary, request.output)?.file_bytes())
}

/// Continues the request's prompt. The engine's memory is one allocation of the budget's size.
pub(crate) fn stream(request: &StreamRequest<'_>, on_token: &mut OnToken<'_>) -> Result<Streamed> {
    let file = || request.file.display().to_string();
    ensure!(!request.prompt.is_empty(), "the prompt is empty, expected at least one token");
    ensure!(request.budget <= 1 << 32, "--budget {}: expected at most 2^32 bytes", request.budget);
    // The elements are u64, so that the memory is aligned for every type.
    let mut memory = vec![0u64; request.budget.div_ceil(8)];
    let memory = &mut bytemuck::cast_slice_mut(&mut memory)[..request.budget];
    let ledger = Ledger::default();
    let store = Store::open(FileStorage::open(request.file)?).with_context(file)?;
    let options = Options {
        positions: request.positions,
        chunk_rows: request.chunk_rows,
        top_k: request.top_k,
    };
    let mut engine = Engine::new(store, Arena::new(memory, &ledger), options).with_context(file)?;
    let (last, before) = request.prompt.split_last().expect("it is not empty");
    for token in before {
        engine.feed(*token).with_context(file)?;
    }
    let prompt = counted(before.len() as u64, Counts::default(), engine.counts());
    let start = engine.counts();
    let mut rng = Rng::new(request.seed);
    let (mut token, mut new) = (*last, 0);
    while new < request.max_new_tokens as u64 {
        match engine.feed(token) {
            Err(Error::Context { .. }) if new > 0 => break,
            fed => fed.with_context(file)?,
        }
        let best = engine.best().with_context(file)?;
        token = choose(best, request.temperature, rng.uniform() as f32);
        new += 1;
        if request.stop_tokens.contains(&token) || on_token(token).is_break() {
            break;
        }
    }
    let new = counted(new, start, engine.counts());
    let parts = ledger.parts().into_iter().filter(|part| !part.what.is_empty());
    let parts = parts.map(|part| (part.what, part.bytes)).collect();
    Ok(Streamed { peak: ledger.peak(), parts, prompt, new })
}

fn counted(tokens: u64, before: Counts, after: Counts) -> StreamCounts {
    StreamCounts {
        tokens,
        reads: after.reads - before.reads,
        seeks: after.seeks - before.seeks,
        bytes: after.bytes - before.bytes,
    }
}
