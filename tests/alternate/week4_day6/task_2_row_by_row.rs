//! function: indexed_matmul
//! how: each row on its own, with the bytes of an expert counted at its first
    let (rows, cols) = (experts[0].rows, experts[0].cols);
    assert!(out.len() == groups.members.len() * rows, "room for each assignment");
    assert!(x.len() % cols == 0, "whole rows");
    let inputs = x.len() / cols;
    assert!(inputs > 0 && groups.members.len() % inputs == 0, "rows for each");
    let share = groups.members.len() / inputs;
    let mut bytes = 0;
    for (expert, matrix) in experts.iter().enumerate() {
        for (i, &member) in groups.of(expert).iter().enumerate() {
            work.input.resize(1, cols);
            work.input.values.copy_from_slice(&x[member / share * cols..][..cols]);
            let input = plan.prepare_for(&mut work.input, matrix.tensor_type.block_len());
            plan.product(matrix, input, &mut out[member * rows..][..rows]);
            if i == 0 {
                bytes += matrix.bytes().len();
            }
        }
    }
    bytes
