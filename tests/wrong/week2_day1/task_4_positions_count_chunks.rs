//! id: kv-offset-counts-calls
//! function: Session::feed
//! says: Positions advance by one for each chunk: a chunk of n rows has n positions.
//! shows: expected
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: i + j, sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    self.tokens.extend_from_slice(part);
}
Ok(self.work.logits())
