//! function: append_rows
//! how: a loop over the rows, the slot looked up for each
    for i in 0..rows {
        let position = sequence.num_computed + i;
        out.push(Row {
            token: sequence.tokens[position],
            position,
            sequence: sequence.slot.unwrap(),
            logits: position + 1 == sequence.tokens.len(),
        });
    }
