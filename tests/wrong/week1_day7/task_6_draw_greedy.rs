//! id: draw-greedy
//! function: draw
//! says: Draw, do not choose the best.
//! read: TODO
let _ = uniform;
    argmax(logits)
