//! function: Weights::place
//! how: asks for the pointer, then decides, then counts
    let key = (weight.as_ptr().addr(), weight.len());
    if !self.known.contains_key(&key) {
        let whole = weight.whole();
        let mapping = (whole.as_ptr().addr(), whole.len());
        if !self.mappings.contains_key(&mapping) {
            let pointer = backend.host_pointer(&whole);
            self.mappings.insert(mapping, pointer);
        }
        let aligned = weight.start() % backend.alignment() == 0;
        let bytes = weight.len();
        let place = match self.mappings[&mapping].filter(|_| aligned) {
            Some(buffer) => Place { buffer, offset: weight.start(), bytes },
            None => {
                let buffer = backend.allocate(bytes)?;
                let place = Place { buffer, offset: 0, bytes };
                backend.upload(place, weight).inspect_err(|_| {
                    backend.release(buffer).unwrap_or_default();
                })?;
                self.copied += bytes;
                self.known.insert(key, place);
                return Ok(place);
            }
        };
        self.in_place += bytes;
        self.known.insert(key, place);
    }
    Ok(self.known[&key])
