//! Packs a model folder into a streamed file, and prints the same output as the program in
//! `reference/bare`: `streamed FOLDER FILE NEW TOKEN TOKEN …`.

use std::{env, path::Path};

use anyhow::{Context, Result};
use tiny_llm_reference::week4::{
    packed::{self, FileStorage},
    streamed::{
        arena::Arena,
        engine::{Engine, Options},
        ledger::Ledger,
        store::Store,
    },
};

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [folder, file, numbers @ ..] = &words[..] else {
        anyhow::bail!("expected FOLDER FILE NEW TOKEN TOKEN …")
    };
    packed::pack(Path::new(folder), None, Path::new(file))?;
    let numbers: Vec<u32> = numbers.iter().map(|n| n.parse()).collect::<Result<_, _>>()?;
    let (new, tokens) = numbers.split_first().context("no number of new tokens")?;
    let (mut memory, ledger) = (vec![0u64; 256 * 1024 / 8], Ledger::default());
    let arena = Arena::new(bytemuck::cast_slice_mut(&mut memory), &ledger);
    let store = Store::open(FileStorage::open(Path::new(file))?)?;
    let mut engine = Engine::new(store, arena, Options::default())?;
    for token in tokens {
        engine.feed(*token)?;
    }
    for _ in 0..*new {
        let (token, logit) = engine.best()?.next().context("no token")?;
        println!("token {token} {:08x}", logit.to_bits());
        engine.feed(token)?;
    }
    Ok(())
}
