//! Week 4, day 5: describes and measures the GPU.

use anyhow::Result;
use tiny_llm::week4::gpu::measure::measure;
use tiny_llm_gpu::Gpu;

/// Describes the device, its limits, and the fraction of its bandwidth that each kernel reaches.
pub(crate) fn seen() -> Result<Vec<String>> {
    let gpu = Gpu::shared()?;
    let about = gpu.about();
    let mut lines = vec![
        about.to_string(),
        format!("{:>10}  maximum threads per workgroup", about.invocations),
        format!("{:>10}  bytes of memory that a workgroup can share", about.workgroup_bytes),
        format!("{:>10}  maximum MB per buffer", about.buffer_bytes >> 20),
    ];
    let all = measure(gpu)?;
    let most = all.first().map_or(1.0, |reading| reading.bytes);
    for one in &all {
        let (gigabytes, share) = (one.bytes / 1e9, 100.0 * one.bytes / most);
        let giga = one.multiply_adds / 1e9;
        let adds =
            if giga > 0.0 { format!(", {giga:.1} G multiply-adds/s") } else { String::new() };
        lines.push(format!(
            "{gigabytes:>10.2}  GB/s, {share:>3.0} % of the bandwidth: {}{adds}",
            one.what
        ));
    }
    Ok(lines)
}
