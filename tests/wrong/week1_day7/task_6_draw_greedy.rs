//! id: draw-greedy
//! function: draw
//! says: Draw, do not choose the best.
let _ = uniform;
    argmax(logits)
