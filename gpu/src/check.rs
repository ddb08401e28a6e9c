//! Validation of WGSL by naga, without a device.

use anyhow::{Result, anyhow};
use wgpu::naga::{
    front::wgsl,
    valid::{Capabilities, ValidationFlags, Validator},
};

/// Checks that `text` is valid WGSL. An error names the kernel, `name`.
///
/// # Errors
/// If `text` is not valid. The error contains naga's message, which shows the line.
pub fn check(name: &str, text: &str) -> Result<()> {
    let found = |said: String| anyhow!("{name}: this is not valid WGSL\n{}", said.trim_end());
    let module = wgsl::parse_str(text).map_err(|e| found(e.emit_to_string(text)))?;
    let mut validator =
        Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16_IN_FLOAT32);
    validator.validate(&module).map_err(|e| found(e.emit_to_string(text)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    fn refused(body: &str) -> String {
        let text = format!("@compute @workgroup_size(64)\nfn main() {{\n    {body}\n}}\n");
        check("a kernel", &text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn errors_show_the_line() {
        let text = refused("let x = 1.0 + y;");
        assert!(text.contains("wgsl:3:") && text.contains("let x = 1.0 + y;"), "{text}");
        let text = refused("let x: u32 = 1.0;");
        assert!(text.contains("wgsl:3:"), "{text}");
    }
}
