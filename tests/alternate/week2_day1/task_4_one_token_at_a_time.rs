//! function: Session::feed
//! how: whatever the chunk, one row a pass
ensure!(!tokens.is_empty(), "there are no tokens to start from");
let last = (tokens.len() - 1) / chunk.max(1);
for (i, part) in tokens.chunks(chunk.max(1)).enumerate() {
    let start = self.cache.len(0);
    let row = |j: usize| Row { token: part[j], position: start + j, sequence: 0, logits: i == last && j + 1 == part.len() };
    let rows: Vec<Row> = (0..part.len()).map(row).collect();
    self.model.check(&rows, &self.cache)?;
    for row in rows {
        self.model.forward(&[row], &mut self.cache, &self.plan, &mut self.work);
        self.tokens.push(row.token);
    }
}
Ok(self.work.logits())
