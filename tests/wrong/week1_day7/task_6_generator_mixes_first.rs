//! id: rng-mixes-before-adding
//! function: Rng::next_u64
//! says: Your numbers come one call late: add to the state first, then mix what it has become.
        let mut z = self.state;
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
