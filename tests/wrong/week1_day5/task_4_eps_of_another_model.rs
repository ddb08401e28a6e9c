//! id: rmsnorm-eps-wrong-value
//! function: load_model
//! says: Every norm has eps 1e-6: take it from the configuration (rms_norm_eps).
let mut config = ModelConfig::from_folder(folder)?;
config.rms_norm_eps = 1e-6;
let checkpoint = Checkpoint::open(folder)?;
Model::build(config, &mut |name, shape| to_f32(&checkpoint.tensor(name, shape)?))
