//! function: Prompt::restore
//! how: all positions of a layer, then those of the next
        let (heads, dim) = (self.key.kv_heads, self.key.head_dim);
        for layer in 0..self.key.layers {
            for position in 0..n {
                let (mut keys, mut values) = (Vec::new(), Vec::new());
                for head in 0..heads {
                    let mut row = vec![0.0; dim];
                    self.read(layer, head, false, position, &mut row);
                    keys.extend_from_slice(&row);
                    self.read(layer, head, true, position, &mut row);
                    values.extend_from_slice(&row);
                }
                cache.write(layer, sequence, position, &keys, &values);
            }
        }
        (0..n).for_each(|position| cache.advance(sequence, position));
