//! function: hash_page
//! how: bytes shifted out of each number
    let mut hash: u64 = 14_695_981_039_346_656_037;
    let mut byte = |b: u64| hash = (hash ^ (b & 0xff)).wrapping_mul(1_099_511_628_211);
    for i in 0..8 {
        byte(before >> (8 * i));
    }
    for &token in tokens {
        for i in 0..4 {
            byte(u64::from(token) >> (8 * i));
        }
    }
    hash
