//! Tells the linker which memory there is.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where this is");
    println!("cargo:rustc-link-arg=-T{folder}/link.x");
    println!("cargo:rerun-if-changed=link.x");
}
