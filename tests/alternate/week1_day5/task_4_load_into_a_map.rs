//! function: load_model
//! how: all weights converted first, into a map
let config = ModelConfig::from_folder(folder)?;
let checkpoint = Checkpoint::open(folder)?;
let mut loaded = std::collections::HashMap::new();
let mut names = Vec::new();
// What the model asks for, with the weights still empty.
let _ = Model::build(config.clone(), &mut |name, shape| {
    names.push((name.to_owned(), shape.to_vec()));
    Ok(Tensor::zeros(shape.to_vec()))
})?;
for (name, shape) in names {
    loaded.insert(name.clone(), to_f32(&checkpoint.tensor(&name, &shape)?)?);
}
Model::build(config, &mut |name, _| Ok(loaded.remove(name).expect("asked for above")))
