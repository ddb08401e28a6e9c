//! function: Cpu::range
//! how: subtracts where the reference adds, so that nothing can overflow
    let Some(Some(memory)) = self.buffers.get(place.buffer.0) else {
        return Err(Fault::NoBuffer(place.buffer));
    };
    let len = memory.bytes().len();
    if place.offset > len || place.bytes > len - place.offset {
        return Err(Fault::OutOfBounds { place, len });
    }
    Ok(place.offset..place.offset + place.bytes)
