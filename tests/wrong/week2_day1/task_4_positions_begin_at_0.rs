//! id: kv-positions-restart
//! function: Session::feed
//! says: Positions begin at 0 in every chunk: they go on from what the cache holds.
//! shows: found position 0, expected
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: j, sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    self.tokens.extend_from_slice(part);
}
Ok(self.work.logits())
