//! id: session-forgets-its-tokens
//! function: Session::feed
//! says: The session does not know its tokens: what has been through the model is appended to `self.tokens`.
//! shows: the session's tokens after eight were fed
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let chunk = chunk.max(1);
let last = (tokens.len() - 1) / chunk;
for (i, part) in tokens.chunks(chunk).enumerate() {
    let start = self.cache.len(0);
    let row = |(j, &token)| Row { token, position: start + j, sequence: 0, logits: i == last && j + 1 == part.len() };
    self.rows.clear();
    self.rows.extend(part.iter().enumerate().map(row));
    self.model.check(&self.rows, &self.cache)?;
    self.model.forward(&self.rows, &mut self.cache, &self.plan, &mut self.work);
}
Ok(self.work.logits())
