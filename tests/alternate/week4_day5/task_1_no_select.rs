//! function: silu_gate
//! how: an early return, and a branch for each sign
    r"
    @compute @workgroup_size(64)
    fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
    ) {
        let i = (group.y * groups.x + group.x) * 64u + thread;
        if i >= sizes.n {
            return;
        }
        var silu = a[i];
        if silu < 0.0 {
            let e = exp(silu);
            silu *= e / (1.0 + e);
        } else {
            silu /= 1.0 + exp(-silu);
        }
        result[i] = silu * b[i];
    }
    "
