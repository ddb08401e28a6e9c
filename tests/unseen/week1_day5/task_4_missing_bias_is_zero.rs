//! id: unseen
//! function: load_model
//! says: a missing bias is zeros
    let config = ModelConfig::from_folder(folder)?;
    let checkpoint = Checkpoint::open(folder)?;
    Model::build(config, &mut |name, shape| match checkpoint.tensor(name, shape) {
        Err(_) if name.ends_with("bias") => Ok(Tensor::zeros(shape)),
        other => to_f32(&other?),
    })
