//! Week 4, day 1, on fresh inputs.

use tiny_llm::week4::{layout::Layout, product::mul_mat, strided::Strided};
use tiny_llm_formats::gguf::TensorType::{self, F16, F32, Q4_0, Q6_K, Q8_0};
use tiny_llm_harness::fresh::Fresh;

const TYPES: [TensorType; 5] = [F32, F16, Q4_0, Q8_0, Q6_K];

fn sizes(fresh: &Fresh, tensor_type: TensorType) -> [usize; 4] {
    [
        tensor_type.block_len() * fresh.from_to(1, 4),
        fresh.from_to(1, 5),
        fresh.from_to(1, 4),
        fresh.from_to(1, 3),
    ]
}

/// Returns a random permutation of the axes.
fn axes(fresh: &Fresh) -> [usize; 4] {
    let mut axes = [0, 1, 2, 3];
    for i in (1..4).rev() {
        axes.swap(i, fresh.below(i + 1));
    }
    axes
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week4-day1 task 1");
    for tensor_type in TYPES {
        for _ in 0..6 {
            let ne = sizes(&fresh, tensor_type);
            let layout = Layout::new(tensor_type, &ne).expect("sizes of a tensor");
            let index = ne.map(|n| fresh.below(n));
            fresh.says("a layout", &(layout, layout.byte_of(index)));
            let shape: Vec<usize> = ne.iter().rev().copied().collect();
            fresh.says("PyTorch's shape", &Layout::from_torch(tensor_type, &shape).ok());
            let odd = fresh.from_to(1, 600);
            fresh.says("any row", &Layout::new(tensor_type, &[odd, 2]).ok());
        }
    }
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week4-day1 task 2");
    for _ in 0..60 {
        let tensor_type = TYPES[fresh.below(2)];
        let ne = sizes(&fresh, tensor_type);
        let layout = Layout::new(tensor_type, &ne).expect("sizes of a tensor");
        let turned = layout.permute(axes(&fresh)).expect("a valid order of axes");
        fresh.says("permuted", &(turned, turned.end()));
        let part = turned.ne.map(|n| fresh.from_to(1, n + 1));
        let offset = turned.nb[fresh.below(4)] * fresh.below(3);
        fresh.says("a view", &turned.view(part, turned.nb, offset).ok());
        let mut wide = turned.ne;
        let axis = fresh.below(4);
        wide[axis] = if wide[axis] == 1 { fresh.from_to(2, 5) } else { wide[axis] };
        fresh.says("broadcast", &turned.broadcast(wide).ok());
        wide[axis] += 1;
        fresh.says("broadcast to one more", &turned.broadcast(wide).ok());
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week4-day1 task 3");
    for _ in 0..40 {
        let tensor_type = TYPES[fresh.below(5)];
        let ne = sizes(&fresh, tensor_type);
        let layout = Layout::new(tensor_type, &ne).expect("sizes of a tensor");
        let bytes = fresh.bytes(layout.end());
        let mut turned = layout.permute([0, 2, 1, 3]).expect("a valid order of axes");
        if fresh.below(2) == 0 {
            turned = layout;
        }
        let sizes = [ne[0] * ne[1], ne[2] * ne[3]];
        fresh.says(
            "contiguity",
            &(turned.is_contiguous(), turned.has_whole_rows(), turned.reshape(&sizes).ok()),
        );
        let tensor = Strided::new(turned, &bytes).expect("as many bytes");
        fresh.says("a copy", &tensor.contiguous());
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week4-day1 task 4");
    for _ in 0..20 {
        let (k, m, n) = (32 * fresh.from_to(1, 3), fresh.from_to(1, 5), fresh.from_to(1, 5));
        let (ne2, ne3) = (fresh.from_to(1, 3), fresh.from_to(1, 2));
        let (shared, q) = (fresh.below(2) == 0, fresh.below(2) == 0);
        let left = [k, m, if shared { 1 } else { ne2 }, ne3];
        let numbers = fresh.f32s(left.iter().product());
        let bytes: Vec<u8> = if q {
            // Blocks whose scale is 1/64.
            let blocks =
                (0..numbers.len() / 32).map(|_| [&[0, 0x24][..], &fresh.bytes(32)].concat());
            blocks.flatten().collect()
        } else {
            numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
        };
        let left = Layout::new(if q { Q8_0 } else { F32 }, &left).expect("sizes of a tensor");
        let right = Layout::new(F32, &[k, n, ne2, ne3]).expect("sizes of a tensor");
        let rows: Vec<u8> =
            fresh.f32s(right.elements()).iter().flat_map(|x| x.to_le_bytes()).collect();
        let left = Strided::new(left, &bytes).expect("as many bytes");
        let right = Strided::new(right, &rows).expect("as many bytes");
        let (layout, found) = mul_mat(left, right).expect("shapes that fit");
        fresh.says("a product", &layout);
        fresh.answers("its numbers", &found, 1e-3);
    }
}
