//! function: pages_out
//! how: counts pages whose last position is before the first that is seen
    let first = visible(next, window).start;
    (0..).take_while(|page| (page + 1) * page_len - 1 < first).count()
