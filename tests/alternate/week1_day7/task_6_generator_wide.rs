//! function: Rng::next_u64
//! how: arithmetic in 128 bits, reduced modulo 2⁶⁴
        let product = |a: u64, b: u64| (u128::from(a) * u128::from(b) % (1 << 64)) as u64;
        self.state = ((u128::from(self.state) + 0x9e37_79b9_7f4a_7c15) % (1 << 64)) as u64;
        let z = self.state;
        let z = product(z ^ (z >> 30), 0xbf58_476d_1ce4_e5b9);
        let z = product(z ^ (z >> 27), 0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
