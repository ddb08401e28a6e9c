//! function: Reader::number
//! how: copies byte by byte
let mut number = [0; N];
for (to, from) in number.iter_mut().zip(self.take(N, field)?) {
    *to = *from;
}
Ok(number)
