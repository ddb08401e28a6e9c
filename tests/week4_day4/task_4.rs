//! Week 4, day 4, task 4: splits and copies.

use tiny_llm::week4::{
    graph::{Graph, NodeId},
    op::Op,
    scheduler::Traffic,
    split::Schedule,
};
use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    check::{assert_answer, resting_on},
    fixtures::Case,
    messages::assert_good,
};

use super::{CPU, ONE_VIEW_BACK, backends, each, graph_of, list, on_twins, results_of};

/// For each split: its backend, and the names of its copies and nodes.
type Seen = Vec<(usize, Vec<String>, Vec<String>)>;

/// Returns the splits of a schedule. A copy has the name of its source.
fn seen(schedule: &Schedule) -> Seen {
    let names = |ids: &[NodeId]| {
        ids.iter().map(|&id| schedule.graph.node(id).name.clone()).collect::<Vec<_>>()
    };
    let splits = schedule.splits.iter();
    splits.map(|split| (split.backend, names(&split.copies), names(&split.nodes))).collect()
}

fn expected(case: &Case) -> Seen {
    let names = |ids: Vec<usize>| ids.iter().map(|i| format!("n{i}")).collect::<Vec<_>>();
    let splits: Vec<(usize, Vec<usize>, Vec<usize>)> = case.read("splits");
    splits.into_iter().map(|(backend, a, b)| (backend, names(a), names(b))).collect()
}

fn split(case: &Case, results: impl Fn(&[NodeId]) -> Vec<NodeId>) -> Schedule {
    let (g, ids) = graph_of(case);
    let placed = backends(case.value("placed"));
    assert_good(case.name(), || Schedule::new(&g, &ids, &placed, &results(&ids)))
}

/// Checks that each copy reads from another backend, and that all other nodes read only from the
/// backend that computes them.
pub(super) fn check_owners(what: &str, schedule: &Schedule) {
    let Schedule { graph, owners, .. } = schedule;
    for id in graph.ids() {
        let node = graph.node(id);
        let told = graph.told_with_sources(id);
        match (owners[id.index()], node.op.is_leaf()) {
            (None, false) => {
                panic!("{what}: {told}: found no owner, expected one: only leaves have no owner")
            }
            (Some(owner), true) => panic!(
                "{what}: {told}: found the owner {owner}, expected none: leaves are available on \
                 every backend that reads them"
            ),
            _ => {}
        }
        for &source in &node.sources {
            let [here, there] = [owners[id.index()], owners[source.index()]];
            let is_leaf = graph.node(source).op.is_leaf();
            let is_copy = matches!(node.op, Op::Copy);
            assert!(
                is_leaf || (here == there) != is_copy,
                "{what}: {told}: computed by backend {here:?}, with a source of backend {there:?}. \
                 A copy must read from another backend, any other node from its own"
            );
        }
    }
}

#[track_caller]
fn assert_no_view_is_copied(what: &str, schedule: &Schedule, expected: &Seen) {
    let g = &schedule.graph;
    let mut copies = g.ids().filter(|&id| matches!(g.node(id).op, Op::Copy));
    let of_a_view = |copy: NodeId| g.node(g.node(copy).sources[0]).op.is_view();
    assert!(
        !copies.any(of_a_view),
        "{what}\n  found    {:?}\n  expected {expected:?}\n  diagnosis You copy a view. Copy \
        its root once, and make a new view of the copy.",
        seen(schedule)
    );
}

#[test]
pub(super) fn task_4_schedule_has_expected_splits_and_copies() {
    each("task_4_graph/", |case| {
        let schedule = split(case, |ids| vec![ids[ids.len() - 1]]);
        let what = format!("{}: (backend, copies, nodes) of each split", case.name());
        assert_no_view_is_copied(&what, &schedule, &expected(case));
        assert_answer(&what, &seen(&schedule), &expected(case));
        assert_eq!(schedule.copies(), case.count("copies"), "{}: number of copies", case.name());
        check_owners(case.name(), &schedule);
        let leaves = |g: &Graph| g.ids().filter(|&id| g.node(id).op.is_leaf()).count();
        let (found, most) = (leaves(&schedule.graph), leaves(&graph_of(case).0));
        assert!(
            found <= most,
            "{}: leaves of the new graph: found {found}, but the old one has {most}",
            case.name()
        );
    });
}

/// A result is read where its bytes are, and a view's bytes are those of its root.
#[test]
fn task_4_view_result_is_owned_by_its_roots_backend() {
    let mut g = Graph::default();
    let x = g.values(&[4], &[1.0, 2.0, 3.0, 4.0]).expect("values must accept these numbers");
    let sum = g.add(x, x).expect("add must accept these nodes");
    let view = g.reshape(sum, &[2, 2]).expect("reshape must accept these sizes");
    let placed = [None, Some(1), None];
    let what = "a result that is a view of a sum on the second backend";
    let schedule = assert_good(what, || Schedule::new(&g, &[x, sum, view], &placed, &[view]));
    let copies = schedule.graph.ids().filter(|&id| matches!(schedule.graph.node(id).op, Op::Copy));
    assert_answer(
        &format!("{what}: (owner of its bytes, number of copies)"),
        &(schedule.owners[schedule.results[0].index()], copies.count()),
        &(Some(1), 0),
    );
    check_owners(what, &schedule);
}

/// Works like the test above, with a view of a view.
#[test]
fn task_4_nested_view_result_is_owned_by_its_roots_backend() {
    let mut g = Graph::default();
    let x = g.values(&[4], &[1.0, 2.0, 3.0, 4.0]).expect("values must accept these numbers");
    let sum = g.add(x, x).expect("add must accept these nodes");
    let one = g.reshape(sum, &[2, 2]).expect("reshape must accept these sizes");
    let two = g.reshape(one, &[1, 4]).expect("reshape must accept these sizes");
    let placed = [None, Some(1), None, None];
    let owner = |result| {
        let what = "a result that is a view of a view of a sum on the second backend";
        let order = [x, sum, one, two];
        let schedule = assert_good(what, || Schedule::new(&g, &order, &placed, &[result]));
        schedule.owners[schedule.results[0].index()]
    };
    let diagnosis = if owner(one) == Some(1) { ONE_VIEW_BACK } else { "" };
    assert!(
        owner(two) == Some(1),
        "a result that is a view of a view of a sum on the second backend: owner of its bytes\n  \
         found    {:?}\n  expected Some(1){diagnosis}",
        owner(two)
    );
}

/// Nodes on several backends may read the same view of a leaf.
#[test]
pub(super) fn task_4_view_of_a_leaf_is_not_copied() {
    let mut g = Graph::default();
    let x = g.values(&[4], &[1.0, 2.0, 3.0, 4.0]).expect("values must accept these numbers");
    let view = g.reshape(x, &[2, 2]).expect("reshape must accept these sizes");
    let [one, two] = [0; 2].map(|_| g.add(view, view).expect("add must accept these nodes"));
    let placed = [None, None, Some(0), Some(1)];
    let what = "a view of a leaf that both backends read";
    let results = [one, two];
    let schedule = assert_good(what, || Schedule::new(&g, &g.order(&results), &placed, &results));
    check_owners(what, &schedule);
    assert_answer(&format!("{what}: copies"), &schedule.copies(), &0);
}

#[test]
fn task_4_results_on_several_backends_match_pytorch() {
    each("task_4_numbers/", |case| {
        resting_on(&[CPU], || {
            let results = list(case.value("results"));
            let schedule = split(case, |ids| results.iter().map(|&i| ids[i]).collect());
            let what = format!("{}: (backend, copies, nodes) of each split", case.name());
            assert_no_view_is_copied(&what, &schedule, &expected(case));
            assert_answer(&what, &seen(&schedule), &expected(case));
            check_owners(case.name(), &schedule);
            let (copies, bytes) = (schedule.copies(), schedule.copied_bytes());
            let splits = schedule.splits.len();
            let (_, mut scheduler, ready) = on_twins(schedule);
            let found = results_of(&mut scheduler, &ready);
            case.check("results", &tensor(&[found.len()], found));
            let twice = Traffic { splits: 2 * splits, copies: 2 * copies, copied_bytes: 2 * bytes };
            assert_answer(
                &format!("{}: traffic of two passes", case.name()),
                &scheduler.traffic(),
                &twice,
            );
        });
    });
}
