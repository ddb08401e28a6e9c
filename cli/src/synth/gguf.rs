//! A random GGUF file, with the tensor types that the engine's converter would choose, random
//! blocks, and a byte tokenizer.

use std::ops::RangeInclusive;

use anyhow::{Context, Result, bail};

use super::{Args, Caught, ModelConfig, Random, mean};
use crate::{Solution, WriteRequest, files::cannot_be_written, weights};
use tiny_llm_formats::gguf::{
    Array, Metadata, TensorInfo, Value, convert::insert_architecture, gguf_name, hugging_face_name,
    token_type,
};

pub(super) fn write(
    solution: &Solution,
    args: &Args,
    config: &ModelConfig,
    target: &str,
    mut random: Random,
    caught: &Caught,
) -> Result<String> {
    let mut metadata = Metadata::new(&args.out.display().to_string());
    metadata.insert("general.name", Value::String("random weights".to_owned()));
    insert_architecture(&mut metadata, config)?;
    insert_tokenizer(&mut metadata, config.vocab_size);
    let mut tensors = Vec::new();
    for (name, shape) in config.tensors() {
        let name = gguf_name(&name)
            .with_context(|| format!("the GGUF format defines no name for the tensor {name}"))?;
        tensors.push((name, shape));
    }
    let request = WriteRequest { output: &args.out, metadata, config, target, tensors: &tensors };
    let table = (solution.write_gguf)(&request, &mut |tensor, out| {
        if caught.requested() {
            bail!("interrupted");
        }
        let TensorInfo { name, shape, tensor_type, .. } = tensor;
        let mean = hugging_face_name(name).map_or(0.0, |name| mean(&name));
        random
            .write(out, *tensor_type, shape.iter().product(), mean)
            .map_err(|e| cannot_be_written(&args.out, &e))
    })?;
    let (bytes, parameters) =
        (table.iter().map(|t| t.size as f64).sum::<f64>(), weights::parameters(config));
    Ok(format!(
        "{parameters} parameters in {:.1} MB, {:.2} bits each, random",
        bytes / 1e6,
        8.0 * bytes / parameters as f64
    ))
}

/// Inserts a tokenizer with an end token, one token per byte, and numbered tokens for the rest.
/// That is enough for `generate` to run and print every token. If the vocabulary is too small for
/// all bytes, inserts no tokenizer.
fn insert_tokenizer(metadata: &mut Metadata, vocab_size: usize) {
    const BYTES: usize = 256;
    if vocab_size <= BYTES {
        return;
    }
    let text = |id: usize| match id {
        0 => "<|end|>".to_owned(),
        1..=BYTES => byte_letter((id - 1) as u8).to_string(),
        _ => format!("{}{id}", byte_letter(b' ')),
    };
    let kind = |id: usize| match id {
        0 => token_type::CONTROL,
        _ => token_type::NORMAL,
    };
    for (key, value) in [
        ("model", Value::String("gpt2".to_owned())),
        ("pre", Value::String("gpt-2".to_owned())),
        ("tokens", Value::Array(Array::String((0..vocab_size).map(text).collect()))),
        ("token_type", Value::Array(Array::I32((0..vocab_size).map(kind).collect()))),
        ("merges", Value::Array(Array::String(Vec::new()))),
        ("eos_token_id", Value::U32(0)),
        ("add_bos_token", Value::Bool(false)),
    ] {
        metadata.insert(&format!("tokenizer.ggml.{key}"), value);
    }
}

/// Returns the character that represents `byte` in byte-level vocabularies. It is the character
/// with the same code if that is printable, otherwise the next unused character from U+0100 on.
fn byte_letter(byte: u8) -> char {
    const PRINTED: [RangeInclusive<u8>; 3] = [b'!'..=b'~', 0xa1..=0xac, 0xae..=0xff];
    let printed = |byte: u8| PRINTED.iter().any(|range| range.contains(&byte));
    if printed(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|b| !printed(*b)).count();
    char::from_u32(0x100 + before as u32).expect("at most 68 letters from U+0100 on")
}

#[cfg(test)]
mod tests {
    use super::byte_letter;

    #[test]
    fn byte_letters_match_gpt_2() {
        // The soft hyphen (0xad) is the last byte that is not printable.
        assert_eq!([b' ', b'\n', b'a', 0, 0xad].map(byte_letter), ['Ġ', 'Ċ', 'a', 'Ā', 'Ń']);
    }
}
