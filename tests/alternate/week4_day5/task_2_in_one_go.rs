//! function: rms_norm
//! how: every thread adds up all sums itself, behind one barrier
    r"
    var<workgroup> sums: array<f32, 64>;

    @compute @workgroup_size(64)
    fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
    ) {
        let row = group.y * groups.x + group.x;
        var own = 0.0;
        if row < sizes.rows {
            for (var i = thread; i < sizes.width; i += 64u) {
                let value = x[row * sizes.width + i];
                own = fma(value, value, own);
            }
        }
        sums[thread] = own;
        workgroupBarrier();
        if row < sizes.rows {
            var all = 0.0;
            for (var i = 0u; i < 64u; i += 1u) {
                all += sums[i];
            }
            let root = sqrt(all / f32(sizes.width) + sizes.eps);
            for (var i = thread; i < sizes.width; i += 64u) {
                let at = row * sizes.width + i;
                result[at] = x[at] / root * weight[i];
            }
        }
    }
    "
