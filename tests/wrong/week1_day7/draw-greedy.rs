// sampling.rs draw
// Draw, do not choose the best.
let _ = uniform;
    argmax(logits)
