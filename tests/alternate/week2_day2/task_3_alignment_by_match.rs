//! function: alignment
//! how: a match on what is found
match metadata.size("general.alignment")? {
    None => Ok(32),
    Some(n) if n != 0 && n & (n - 1) == 0 => Ok(n),
    Some(_) => Err(metadata.wrong("general.alignment", "1, 2, 4, 8 and so on")),
}
