//! id: rng-shift
//! function: Rng::next_u64
//! says: Your first two shifts are exchanged: the first is by 30, the second by 27.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 27)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
