//! Week 4, day 1: sizes and strides, views without a copy, contiguous copies, a product of views.
//!
//! Expected layouts and elements are PyTorch's: `python-ref/oracle/week4_day1.py`.

use anyhow::Result;
use tiny_llm::week4::{layout::Layout, strided::Strided};
use tiny_llm_formats::{Tensor, gguf::TensorType, tensor::tensor};
use tiny_llm_harness::messages::assert_good;
use tiny_llm_harness::{
    check::{Part, assert_answer},
    fixtures::{Case, Fixtures},
};

use task_1::task_1_new_and_from_torch_return_packed_layouts;
use task_2::task_2_views_match_pytorch;
use task_3::task_3_is_contiguous_and_has_whole_rows;

#[cfg(feature = "fresh")]
#[path = "fresh/week4_day1.rs"]
mod fresh;
#[path = "week4_day1/task_1.rs"]
mod task_1;
#[path = "week4_day1/task_2.rs"]
mod task_2;
#[path = "week4_day1/task_3.rs"]
mod task_3;
#[path = "week4_day1/task_4.rs"]
mod task_4;

const PACKED: &Part = &Part {
    task: "week4-day1 task 1",
    what: "sizes and strides",
    check: task_1_new_and_from_torch_return_packed_layouts,
};
const VIEWS: &Part =
    &Part { task: "week4-day1 task 2", what: "views", check: task_2_views_match_pytorch };
const ROWS: &Part = &Part {
    task: "week4-day1 task 3",
    what: "contiguity",
    check: task_3_is_contiguous_and_has_whole_rows,
};

/// Calls `check` with every case whose name begins with `prefix`.
fn each(prefix: &str, check: impl Fn(&Case)) {
    let fixtures = Fixtures::open("week4_day1");
    for name in fixtures.cases(prefix) {
        check(&fixtures.case(&name));
    }
}

fn kind(name: &str) -> TensorType {
    let named = TensorType::ALL.into_iter().find(|kind| kind.name() == name);
    named.unwrap_or_else(|| panic!("no type {name}"))
}

/// Sizes, strides and offset of a layout, as a case stores them.
type Numbers = ([usize; 4], [usize; 4], usize);

fn numbers(layout: &Layout) -> Numbers {
    (layout.ne, layout.nb, layout.offset)
}

/// Returns the whole numbers of a value, which is a list or a single number.
fn list(value: &impl ToString) -> Vec<usize> {
    let text = value.to_string();
    let numbers = text.trim_matches(['[', ']']).split(',').filter(|n| !n.is_empty());
    numbers.map(|n| n.trim().parse().expect("a number")).collect()
}

fn four(value: &impl ToString) -> [usize; 4] {
    list(value).try_into().expect("four numbers")
}

/// Applies the steps of a case one by one. Each must return PyTorch's layout.
fn follow(case: &Case) {
    let (mut layout, _) = stored(&case.tensor("x"));
    let expected = case.value("layouts").as_array().expect("a list");
    for (step, expected) in steps(case, "steps").iter().zip(expected) {
        let what = format!("{} of {layout:?}: {}: ne, nb, offset", case.name(), step.text);
        layout = assert_good(&what, || step.take(&layout));
        let [ne, nb] = ["ne", "nb"].map(|name| four(&expected[name]));
        assert_answer(&what, &numbers(&layout), &(ne, nb, list(&expected["offset"])[0]));
    }
}

/// Returns the packed layout of a tensor, and its bytes.
fn stored(x: &Tensor) -> (Layout, Vec<u8>) {
    let layout = assert_good(&format!("F32, PyTorch's shape {:?}", x.shape()), || {
        Layout::from_torch(TensorType::F32, x.shape())
    });
    (layout, x.iter().flat_map(|x| x.to_le_bytes()).collect())
}

/// A step of a case's script: an operation and its arguments.
struct Step {
    text: String,
    op: String,
    ne: Vec<usize>,
    nb: Vec<usize>,
    offset: usize,
}

impl Step {
    fn take(&self, from: &Layout) -> Result<Layout> {
        let four = |list: &[usize]| <[usize; 4]>::try_from(list).expect("four numbers");
        match &*self.op {
            "permute" => from.permute(four(&self.ne)),
            "broadcast" => from.broadcast(four(&self.ne)),
            "reshape" => from.reshape(&self.ne),
            _ => from.view(four(&self.ne), four(&self.nb), self.offset),
        }
    }
}

/// Returns the steps in a case's list `name`, or none if it has no such list.
fn steps(case: &Case, name: &str) -> Vec<Step> {
    let found = case.value(name).as_array();
    let steps = found.into_iter().flatten().map(|step| {
        let arguments = &step["arguments"];
        let given = |i: usize| arguments.get(i).map(list).unwrap_or_default();
        let op = step["op"].as_str().expect("a name").to_owned();
        let text = format!("{op}{arguments}");
        Step {
            text,
            op,
            ne: given(0),
            nb: given(1),
            offset: given(2).first().copied().unwrap_or(0),
        }
    });
    steps.collect()
}

/// Returns the tensor after `steps`, which are a case's.
fn stepped<'a>(case: &Case, steps: &[Step], layout: Layout, bytes: &'a [u8]) -> Strided<'a> {
    let mut layout = layout;
    for step in steps {
        let what = format!("{} of {}: {}", case.name(), layout, step.text);
        layout = assert_good(&what, || step.take(&layout));
    }
    assert_good(case.name(), || Strided::new(layout, bytes))
}

fn vector(values: &[f32]) -> Tensor {
    tensor(&[values.len()], values.to_vec())
}
