//! function: Store::read
//! how: the rest of the buffer shrinks until nothing is left
        let (rows, row_bytes) = (self.shape.size(part).0, self.shape.row_bytes(part));
        assert!(row * row_bytes + out.len() <= rows * row_bytes);
        let (at, wanted) = (self.shape.place(part, row), out.len());
        if at != self.position {
            self.counts.seeks += 1;
        }
        self.counts.reads += 1;
        self.counts.bytes += wanted as u64;
        let mut rest = out;
        while !rest.is_empty() {
            let got = wanted - rest.len();
            let n = self.storage.read(at + got as u64, rest).map_err(|code| Error::Read {
                part: part.name(),
                at,
                wanted,
                got,
                code: Some(code),
            })?;
            if n == 0 {
                return Err(Error::Read { part: part.name(), at, wanted, got, code: None });
            }
            rest = &mut rest[n..];
        }
        self.position = at + wanted as u64;
        Ok(())
