//! id: tied-head-missing
//! function: load_model
//! says: The output head was taken from the embedding although the checkpoint has an lm_head.weight of its own.
//! shows: lm_head is None where tie_word_embeddings is false
let config = ModelConfig::from_folder(folder)?;
let checkpoint = Checkpoint::open(folder)?;
let mut model = Model::build(config, &mut |name, shape| to_f32(&checkpoint.tensor(name, shape)?))?;
model.lm_head = None;
Ok(model)
