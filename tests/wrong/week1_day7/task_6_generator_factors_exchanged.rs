//! id: rng-factors
//! function: Rng::next_u64
//! says: Your two factors are exchanged: 0xbf58476d1ce4e5b9 comes first, then 0x94d049bb133111eb.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z = (z ^ (z >> 27)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ (z >> 31)
