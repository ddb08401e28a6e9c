//! id: feed-not-checked
//! function: Session::feed
//! says: Nobody asks `Model::check` before the pass: a bad token must be an error, not a panic.
//! shows: which is to return an error: this must be accepted, but it panicked
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: start + j, sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    self.tokens.extend_from_slice(part);
}
Ok(self.work.logits())
