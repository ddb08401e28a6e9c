//! id: chunk-samples-early
//! function: Session::feed
//! says: The logits are those of the first chunk: what follows the tokens is known after the last.
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let mut first = Vec::new();
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: start + j, sequence: 0, logits: j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    let logits = self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    if i == 0 {
        first = logits.to_vec();
    }
    self.tokens.extend_from_slice(part);
}
Ok(first.leak())
