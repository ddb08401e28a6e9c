//! function: BlockPool::release
//! how: a match on the count, the list first
        let owners = &mut self.counts[page.index()];
        *owners = match *owners {
            0 => panic!("page {} has no owner", page.0),
            1 => {
                self.free.push_back(page.0);
                0
            }
            more => more - 1,
        };
