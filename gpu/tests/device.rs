//! Tests of a device and its failures, on any adapter.

use anyhow::Result;
use tiny_llm_gpu::{ALIGNMENT, Buffer, Gpu, Kernel, Needs, OutOfMemory, bytes_of};

/// Adds 1 to the first `sizes.x` numbers.
const TEXT: &str = "
@group(0) @binding(0) var<uniform> sizes: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < sizes.x {
        result[id.x] = a[id.x] + 1.0;
    }
}
";

/// Opens a new device. If that fails, prints why nothing can be tested.
fn gpu() -> Option<Gpu> {
    Gpu::open().inspect_err(|why| println!("not verified: {why:#}")).ok()
}

#[test]
fn a_pass_is_submitted_once() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel("add one", TEXT, 1).expect("sound WGSL");
    let first = gpu.upload(bytes_of(&[1.0, 2.0, 3.0])).expect("three numbers");
    let [second, third] = [0; 2].map(|_| gpu.buffer(12).expect("room for three"));
    let mut pass = gpu.pass();
    pass.run(&kernel, &[3], &[&first], &second, [1, 1, 1]).expect("recorded");
    pass.run(&kernel, &[2], &[&second], &third, [1, 1, 1]).expect("recorded");
    pass.copy(&second, 8, &third, 8, 4).expect("recorded");
    assert_eq!((pass.kernels(), gpu.submissions()), (2, 0));
    pass.submit().expect("submitted");
    assert_eq!(gpu.numbers(&third).expect("numbers"), [3.0, 4.0, 4.0]);
    assert_eq!(gpu.submissions(), 1);
}

#[test]
fn one_kernel_reads_and_writes_parts_of_a_buffer() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel("add one", TEXT, 1).expect("sound WGSL");
    let whole = gpu.upload(&vec![0; 3 * ALIGNMENT]).expect("an arena");
    let parts = [1, 2].map(|i| whole.part(i * ALIGNMENT, 8).expect("a part"));
    gpu.write(&parts[0], bytes_of(&[5.0, 6.0])).expect("written");
    let mut pass = gpu.pass();
    pass.run(&kernel, &[2], &[&parts[0]], &parts[1], [1, 1, 1]).expect("recorded");
    pass.submit().expect("submitted");
    assert_eq!(gpu.numbers(&parts[1]).expect("numbers"), [6.0, 7.0]);
    assert!(whole.part(4, 4).is_err() && whole.part(2 * ALIGNMENT, ALIGNMENT + 4).is_err());
}

#[test]
fn rejects_too_many_bytes_workgroups_and_bindings() {
    let Some(gpu) = gpu() else { return };
    let error = gpu.buffer(1 << 50).expect_err("nobody has as much");
    assert_eq!(error.downcast_ref::<OutOfMemory>().map(|error| error.wanted), Some(1 << 50));
    let kernel = gpu.kernel("add one", TEXT, 1).expect("sound WGSL");
    let buffer = gpu.buffer(4).expect("four bytes");
    let other = gpu.buffer(4).expect("four bytes");
    let groups = [1, 1, u32::MAX];
    let error = gpu.pass().run(&kernel, &[1], &[&buffer], &other, groups).expect_err("many");
    assert!(error.to_string().contains("workgroups"), "{error}");
    let text = TEXT.replace("@binding(2)", "@binding(3)");
    let error = gpu.kernel("another binding", &text, 1).expect_err("there is no binding 3");
    assert!(format!("{error:#}").contains("binding: 3"), "{error:#}");
}

#[test]
fn open_for_names_a_limit_that_is_too_low() {
    let Some(gpu) = gpu() else { return };
    let name = gpu.about().to_string();
    let needs = Needs::default();
    for (what, needs) in [
        ("threads of a workgroup", Needs { invocations: u32::MAX, ..needs }),
        ("bytes that a workgroup shares", Needs { workgroup_bytes: u32::MAX, ..needs }),
        ("buffers of a kernel", Needs { storage_buffers: u32::MAX, ..needs }),
        ("workgroups along an axis", Needs { groups: u32::MAX, ..needs }),
    ] {
        let error = format!("{:#}", Gpu::open_for(&needs).expect_err("nobody has as many"));
        let [found, expected] = [": found a limit of ", ", expected at least 4294967295"];
        let is_whole = error.contains(&format!("{name}: {what}{found}"));
        assert!(is_whole && error.ends_with(expected) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn rejects_a_buffer_above_the_limit() {
    let needs = Needs { buffer_bytes: 1 << 20, ..Needs::default() };
    let Ok(gpu) = Gpu::open_for(&needs) else { return };
    assert_eq!(gpu.about().buffer_bytes, 1 << 20);
    gpu.buffer(1 << 20).expect("the longest buffer allowed");
    let error = gpu.buffer((1 << 20) + 1).expect_err("a byte too many");
    assert_eq!(error.downcast_ref::<OutOfMemory>().map(|error| error.wanted), Some((1 << 20) + 1));
    let text = format!("{error:#}");
    assert!(text.contains("at most 1048576 bytes") && text.contains("for 1048577 bytes"), "{text}");
}

/// An operation on a device with two buffers.
type Operation = fn(&Gpu, &Kernel, [&Buffer; 2]) -> Result<()>;

/// Checks that every operation returns an error of one line, and that no call hangs.
#[test]
fn every_operation_on_a_lost_device_is_an_error() {
    let operations: [(&str, Operation); 8] = [
        ("a buffer", |gpu, _, _| gpu.buffer(64).map(drop)),
        ("an upload", |gpu, _, _| gpu.upload(&[1; 64]).map(drop)),
        ("a download", |gpu, _, [a, _]| gpu.numbers(a).map(drop)),
        ("a wait", |gpu, _, _| gpu.wait()),
        ("a kernel and a pass", |gpu, _, [a, b]| {
            let kernel = gpu.kernel("add one", TEXT, 1)?;
            let mut pass = gpu.pass();
            pass.run(&kernel, &[2], &[a], b, [1, 1, 1])?;
            pass.submit()
        }),
        ("a pass", |gpu, kernel, [a, b]| {
            let mut pass = gpu.pass();
            pass.run(kernel, &[2], &[a], b, [1, 1, 1])?;
            pass.submit()
        }),
        ("a copy", |gpu, _, [a, b]| {
            let mut pass = gpu.pass();
            pass.copy(a, 0, b, 0, 8)?;
            pass.submit()
        }),
        ("a write, then a read", |gpu, _, [a, _]| {
            gpu.write(a, &[1; 8])?;
            gpu.numbers(a).map(drop)
        }),
    ];
    for (what, run) in operations {
        let Some(gpu) = gpu() else { return };
        let kernel = gpu.kernel("add one", TEXT, 1).expect("sound WGSL");
        let a = gpu.upload(bytes_of(&[1.0, 2.0])).expect("two numbers");
        let b = gpu.buffer(8).expect("room for two");
        run(&gpu, &kernel, [&a, &b]).unwrap_or_else(|error| panic!("{what}, before: {error:#}"));
        gpu.wait().expect("all is done");
        gpu.give_up();
        let error = run(&gpu, &kernel, [&a, &b]).expect_err(what);
        let text = format!("{error:#}");
        let name = gpu.about().to_string();
        assert!(gpu.is_lost() && text.contains("the device is lost"), "{what}: {text}");
        assert!(text.contains(&name) && !text.contains('\n'), "{what}: {text}");
        println!("{what}: {text}");
    }
}

/// A pass that was recorded before the device was lost also returns an error.
#[test]
fn losing_the_device_before_submission_is_an_error() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel("add one", TEXT, 1).expect("sound WGSL");
    let a = gpu.upload(bytes_of(&[1.0, 2.0])).expect("two numbers");
    let b = gpu.buffer(8).expect("room for two");
    let mut pass = gpu.pass();
    pass.run(&kernel, &[2], &[&a], &b, [1, 1, 1]).expect("recorded");
    gpu.give_up();
    let error = pass.submit().expect_err("the device is gone");
    assert!(format!("{error:#}").contains("the device is lost"), "{error:#}");
    let error = gpu.numbers(&b).expect_err("the device is gone");
    assert!(format!("{error:#}").contains("the device is lost"), "{error:#}");
}

/// While work is running, a loss may become visible only at the next wait or read.
#[test]
fn losing_the_device_during_work_is_an_error() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel("add one", TEXT, 1).expect("sound WGSL");
    let n = 1 << 20;
    let [a, b] = [0; 2].map(|_| gpu.buffer(4 * n).expect("room for a million"));
    let all = || -> Result<Vec<f32>> {
        let mut pass = gpu.pass();
        for _ in 0..20 {
            pass.run(&kernel, &[n as u32], &[&a], &b, [n as u32 / 64, 1, 1])?;
            pass.run(&kernel, &[n as u32], &[&b], &a, [n as u32 / 64, 1, 1])?;
        }
        pass.submit()?;
        if gpu.submissions() == 2 {
            gpu.give_up();
        }
        gpu.numbers(&a)
    };
    assert_eq!(all().expect("a device")[n - 1], 40.0);
    for _ in 0..2 {
        let text = format!("{:#}", all().expect_err("the device is gone"));
        assert!(text.contains("the device is lost") && !text.contains('\n'), "{text}");
    }
}
