//! function: mlp
//! how: memory in another order, and the second projection by ranges of rows
    let (inner, _) = store.shape().size(Component::Up);
    let steps = scratch.take::<i16>("MLP: steps", inner)?;
    let up = scratch.take::<f32>("MLP: up", OUTPUTS)?;
    let gate = scratch.take::<f32>("MLP: gate", inner)?;
    store.product(Component::Gate, 0..inner, x, chunk, gate)?;
    for first in (0..inner).step_by(OUTPUTS) {
        let rows = first..inner.min(first + OUTPUTS);
        store.product(Component::Up, rows.clone(), x, chunk, &mut up[..rows.len()])?;
        for (i, row) in rows.enumerate() {
            gate[row] = up[i] * silu(gate[row]);
        }
    }
    let x = Activations::of(gate, steps);
    let rows = out.len();
    store.product(Component::Down, 0..rows, x, chunk, out)
