//! function: JsonState::next
//! how: what is inside something first, then space, then by byte
        let inside = match self.place {
            Place::KeyText(text) => Some(text.next(byte).map(|text| match text {
                Text::Closed => Place::Colon,
                text => Place::KeyText(text),
            })),
            Place::ValueText(text) => Some(text.next(byte).map(|text| match text {
                Text::Closed => Place::End,
                text => Place::ValueText(text),
            })),
            Place::Word(rest) => Some((rest[0] == byte).then(|| match &rest[1..] {
                [] => Place::End,
                rest => Place::Word(rest),
            })),
            Place::Number(number) => match number.next(byte) {
                Some(number) => Some(Some(Place::Number(number))),
                None if !number.is_complete() => Some(None),
                None => None,
            },
            _ => None,
        };
        if let Some(place) = inside {
            return place.map(|place| self.at(place));
        }
        let place = if matches!(self.place, Place::Number(_)) { Place::End } else { self.place };
        let value = matches!(place, Place::Value | Place::FirstValue);
        let container = self.within();
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => Some(self.at(place)),
            b'{' if value || place == Place::Root => self.open(Container::Object),
            b'[' if value => self.open(Container::Array),
            b'}' if place == Place::FirstKey => Some(self.close()),
            b']' if place == Place::FirstValue => Some(self.close()),
            b'}' if place == Place::End && container == Some(Container::Object) => {
                Some(self.close())
            }
            b']' if place == Place::End && container == Some(Container::Array) => {
                Some(self.close())
            }
            b',' if place == Place::End => match container? {
                Container::Object => Some(self.at(Place::Key)),
                Container::Array => Some(self.at(Place::Value)),
            },
            b':' if place == Place::Colon => Some(self.at(Place::Value)),
            b'"' if value => Some(self.at(Place::ValueText(Text::Plain))),
            b'"' if matches!(place, Place::FirstKey | Place::Key) => {
                Some(self.at(Place::KeyText(Text::Plain)))
            }
            b't' if value => Some(self.at(Place::Word(b"rue"))),
            b'f' if value => Some(self.at(Place::Word(b"alse"))),
            b'n' if value => Some(self.at(Place::Word(b"ull"))),
            _ if value => Number::Start.next(byte).map(|number| self.at(Place::Number(number))),
            _ => None,
        }
