//! id: panic-for-error
//! function: load_model
//! says: A bad file is an error to be returned, not a panic.
//! shows: `load_model` panicked
let config = ModelConfig::from_folder(folder).unwrap();
let checkpoint = Checkpoint::open(folder).unwrap();
Model::build(config, &mut |name, shape| to_f32(&checkpoint.tensor(name, shape)?))
