//! id: kv-offset-starts-at-len
//! function: Session::feed
//! says: Positions begin at the number of tokens that are being fed: before the first chunk the cache is empty, so they begin at 0.
//! shows: expected 0
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: start + tokens.len() + j, sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
    self.tokens.extend_from_slice(part);
}
Ok(self.work.logits())
