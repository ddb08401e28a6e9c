//! function: attention
//! how: one position at a time, every thread with all scores
    r"
    @compute @workgroup_size(64)
    fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
    ) {
        let head = group.x;
        let group_size = sizes.heads / sizes.kv_heads;
        let query = (group.y * sizes.heads + head) * sizes.d;
        var m = -3.0e38;
        var l = 0.0;
        var o = array<f32, 4>();
        for (var s = 0u; s <= sizes.first + group.y; s += 1u) {
            let at = (s * sizes.kv_heads + head / group_size) * sizes.d;
            var score = 0.0;
            for (var i = 0u; i < sizes.d; i += 1u) {
                score += queries[query + i] * keys[at + i];
            }
            score *= sizes.scale;
            let larger = max(m, score);
            let kept = exp(m - larger);
            let share = exp(score - larger);
            m = larger;
            l = l * kept + share;
            for (var part = 0u; part < 4u; part += 1u) {
                let i = part * 64u + thread;
                if i < sizes.d {
                    o[part] = o[part] * kept + share * values[at + i];
                }
            }
        }
        for (var part = 0u; part < 4u; part += 1u) {
            let i = part * 64u + thread;
            if i < sizes.d {
                result[query + i] = o[part] / l;
            }
        }
    }
    "
