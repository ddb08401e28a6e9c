//! function: dot
//! how: 64 bits from the first product on, by index
    assert_eq!(weights.len(), x.len());
    let mut sum = 0i64;
    for i in 0..x.len() {
        sum += i64::from(weights[i]) * i64::from(x[i]);
    }
    sum
