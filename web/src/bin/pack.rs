//! Writes the files that the page's engine needs: the embedded model in one file, and the native
//! results, with which a browser's results are compared. Run it with
//! `cargo run --release -p tiny-llm-web --features pack --bin pack -- FOLDER`.

use std::{fs, ops::ControlFlow, path::PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use tiny_llm_formats::gguf::{TensorType, convert::metadata_from_folder};
use tiny_llm_reference::week2::{parallel::Team, quantize::Source, target::Target};
use tiny_llm_web::{
    crowd::{Crowd, Room},
    writer::Writer,
};

const MODEL: &str = "models/tiny-story";
const PROMPTS: [&str; 3] =
    ["Once upon a time", "Once upon a time there was a brave fox", "Milo had a new kite."];
const NEW_TOKENS: usize = 120;

/// For each request: the step before which it is submitted, the number of its prompt tokens, and
/// the number of its answer tokens.
const CROWD: [(usize, usize, usize); 6] =
    [(0, 20, 12), (0, 60, 20), (2, 100, 8), (3, 5, 30), (9, 40, 40), (9, 1, 1)];
const STEPS: usize = 60;

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.context("expected a folder to write into")?;
    fs::create_dir_all(&folder)?;
    let model = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(MODEL);
    let file = folder.join("tiny-story.gguf");
    let source = Source::folder(&model, metadata_from_folder(&model)?)?;
    let target = Target::All(TensorType::Q8_0);
    let team = Team::new(1);
    source.write(&file, target, &|_| None, &team, &mut |_| ControlFlow::Continue(()))?;

    let mut writer = Writer::new(fs::read(&file)?, "tiny-story.gguf", "")?;
    let mut texts = Vec::new();
    for prompt in PROMPTS {
        let logits = writer.logits(prompt)?;
        writer.begin(prompt, 0.0, 0)?;
        let (mut tokens, mut attention) = (Vec::new(), Vec::new());
        while tokens.len() < NEW_TOKENS {
            let Some(token) = writer.next_token()? else { break };
            if tokens.is_empty() {
                attention = writer.attention();
            }
            tokens.push(token);
        }
        texts.push(json!({
            "prompt": prompt, "tokens": tokens, "logits": logits, "attention": attention,
        }));
    }
    let room = Room { places: 3, budget: 32, pages: 8 };
    let mut crowd = Crowd::new(room)?;
    let mut steps = Vec::new();
    for step in 0..STEPS {
        for &(_, prompt, answer) in CROWD.iter().filter(|(at, ..)| *at == step) {
            crowd.add(prompt, answer)?;
        }
        steps.push(crowd.step());
    }
    let native = json!({
        "rung": writer.rung(),
        "texts": texts,
        "crowd": {
            "places": room.places, "budget": room.budget, "pages": room.pages,
            "requests": CROWD.map(|(step, prompt, answer)| [step, prompt, answer]),
            "steps": steps,
        },
    });
    fs::write(folder.join("native.json"), native.to_string())?;
    Ok(())
}
