//! Week 4, day 4, task 1: the processor as a backend.

use std::fmt;

use tiny_llm::week4::{
    backend::{Backend, BufferId, Failed, Fault, Place, Work},
    cpu::Cpu,
    graph::{Graph, NodeId},
    op::Op,
    planner::MemoryPlan,
};
use tiny_llm_formats::{bytes::Bytes, tensor::tensor};
use tiny_llm_harness::{
    check::{assert_accepts, assert_answer, assert_refuses},
    fixtures::Case,
    panics,
};

use super::{bits, each, graph_of, is_computed, pass, unplanned};

/// Returns the first `bytes` bytes of a buffer.
fn all(cpu: &mut Cpu, buffer: BufferId, bytes: usize) -> Vec<u8> {
    let mut found = vec![0; bytes];
    cpu.download(Place { buffer, offset: 0, bytes }, &mut found).expect("download must succeed");
    found
}

#[test]
fn task_1_download_returns_uploaded_bytes() {
    let mut cpu = Cpu::default();
    let [one, two] = [12, 16].map(|bytes| cpu.allocate(bytes).expect("allocate must succeed"));
    let upload = |cpu: &mut Cpu, buffer, offset, bytes: &[u8]| {
        let place = Place { buffer, offset, bytes: bytes.len() };
        let what = format!("upload to {place:?}");
        assert_accepts(&what, || cpu.upload(place, bytes))
            .unwrap_or_else(|e| panic!("{what}: this must succeed, but it failed: {e}"));
    };
    upload(&mut cpu, one, 0, &[1; 12]);
    upload(&mut cpu, two, 0, &[2; 16]);
    upload(&mut cpu, two, 5, &[3, 4, 5]);
    upload(&mut cpu, two, 12, &[6, 7, 8, 9]);
    upload(&mut cpu, two, 16, &[]);
    let expected = vec![2, 2, 2, 2, 2, 3, 4, 5, 2, 2, 2, 2, 6, 7, 8, 9];
    assert_answer("the whole buffer after four uploads", &all(&mut cpu, two, 16), &expected);
    assert_answer(
        "four uploads to one buffer: contents of the other buffer",
        &all(&mut cpu, one, 12),
        &vec![1; 12],
    );
    let mut part = [0; 4];
    let place = Place { buffer: two, offset: 6, bytes: 4 };
    assert_accepts("download of bytes 6 to 9", || cpu.download(place, &mut part))
        .expect("download must succeed");
    assert_answer("download of bytes 6 to 9", &part, &[4, 5, 2, 2]);
}

#[test]
fn task_1_upload_and_download_reject_invalid_places() {
    let mut cpu = Cpu::default();
    let [buffer, gone] = [64, 64].map(|bytes| cpu.allocate(bytes).expect("allocate must succeed"));
    cpu.release(gone).expect("release must succeed");
    assert_answer(
        "release of the same buffer twice",
        &cpu.release(gone),
        &Err(Fault::NoBuffer(gone)),
    );
    let host = cpu
        .host_pointer(&Bytes::from(vec![7; 64]))
        .expect("host_pointer must accept the program's memory");
    let beyond = BufferId(17);
    let at = |buffer, offset, bytes| Place { buffer, offset, bytes };
    let outside = |place| Err(Fault::OutOfBounds { place, len: 64 });
    for (why, place, given, expected) in [
        ("the whole buffer", at(buffer, 0, 64), 64, Ok(())),
        ("the last byte", at(buffer, 63, 1), 1, Ok(())),
        ("no bytes at the end", at(buffer, 64, 0), 0, Ok(())),
        ("one byte too many", at(buffer, 0, 65), 65, outside(at(buffer, 0, 65))),
        ("a byte past the end", at(buffer, 64, 1), 1, outside(at(buffer, 64, 1))),
        ("no bytes past the end", at(buffer, 65, 0), 0, outside(at(buffer, 65, 0))),
        ("an end that overflows a usize", at(buffer, 8, usize::MAX), 8, {
            outside(at(buffer, 8, usize::MAX))
        }),
        ("fewer bytes than the place has", at(buffer, 0, 8), 4, {
            Err(Fault::WrongLength { place: at(buffer, 0, 8), found: 4 })
        }),
        ("more bytes than the place has", at(buffer, 0, 8), 9, {
            Err(Fault::WrongLength { place: at(buffer, 0, 8), found: 9 })
        }),
        ("a released buffer", at(gone, 0, 8), 8, Err(Fault::NoBuffer(gone))),
        ("a buffer that does not exist", at(beyond, 0, 8), 8, Err(Fault::NoBuffer(beyond))),
    ] {
        let mut bytes = vec![1; given];
        let [up, down] = ["upload", "download"].map(|verb| format!("{verb}, {why}"));
        let found = meant(&up, expected.is_ok(), || cpu.upload(place, &bytes));
        assert_answer(&up, &found, &expected);
        let found = meant(&down, expected.is_ok(), || cpu.download(place, &mut bytes));
        assert_answer(&down, &found, &expected);
    }
    let place = at(host, 8, 4);
    let found = assert_refuses("upload to the program's memory", || cpu.upload(place, &[1; 4]));
    assert_answer("upload to the program's memory", &found, &Err(Fault::ReadOnly(host)));
    assert_answer(
        "the program's memory after the refused upload",
        &all(&mut cpu, host, 64),
        &vec![7; 64],
    );
}

/// Checks that a call is accepted if `allowed`, or else rejected. Returns its result.
#[track_caller]
fn meant<T>(call: &str, allowed: bool, action: impl FnOnce() -> T) -> T {
    if allowed { assert_accepts(call, action) } else { assert_refuses(call, action) }
}

/// A graph whose nodes have places in the memory of the CPU backend.
struct Laid {
    cpu: Cpu,
    nodes: Vec<NodeId>,
    places: Vec<Option<Place>>,
}

/// How the nodes of a graph share buffers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sharing {
    /// All nodes share one buffer, and none is computed in place.
    Arena,
    /// All nodes share one buffer, and some are computed in place.
    InPlace,
    /// Each node has its own buffer, and all have the same offset.
    Apart,
    /// Each node has its own buffer, and each has another offset.
    Staggered,
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arena => "all nodes in one buffer",
            Self::InPlace => "all nodes in one buffer, some in place",
            Self::Apart => "each node in its own buffer",
            Self::Staggered => "each node in its own buffer, at another offset",
        })
    }
}

fn lay(g: &Graph, results: &[NodeId], sharing: Sharing) -> Laid {
    let (mut cpu, order) = (Cpu::default(), g.order(results));
    let mut places = vec![None; g.len()];
    let memory = MemoryPlan::new(g, &order, results, sharing == Sharing::InPlace)
        .expect("MemoryPlan::new must accept this graph");
    // Fills each buffer with NaN, and allocates one unused buffer. A result that is read from the
    // wrong buffer, or never written, is then wrong.
    let poisoned = |cpu: &mut Cpu, bytes: usize| {
        let buffer = cpu.allocate(bytes).expect("allocate must succeed");
        let place = Place { buffer, offset: 0, bytes };
        cpu.upload(place, &vec![255; bytes]).expect("upload must accept these bytes");
        place
    };
    poisoned(&mut cpu, 4);
    let arena = poisoned(&mut cpu, memory.peak);
    for &id in &order {
        let bytes = 4 * g.layout(id).elements();
        places[id.index()] = match &g.node(id).op {
            Op::Weight(weight) => {
                let buffer = cpu
                    .host_pointer(weight.shared_bytes())
                    .expect("host_pointer must accept the program's memory");
                Some(Place { buffer, offset: 0, bytes: weight.bytes().len() })
            }
            Op::Values(numbers) => {
                let whole = poisoned(&mut cpu, bytes + 8);
                let place = Place { offset: 4, bytes, ..whole };
                let numbers: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
                cpu.upload(place, &numbers).expect("upload must accept these bytes");
                Some(place)
            }
            _ if !is_computed(g, id) => None,
            _ if matches!(sharing, Sharing::Apart | Sharing::Staggered) => {
                let offset = 8 + if sharing == Sharing::Apart { 0 } else { 4 * id.index() };
                let whole = poisoned(&mut cpu, offset + bytes + 4);
                Some(Place { offset, bytes, ..whole })
            }
            _ => {
                let part = memory.parts[id.index()]
                    .clone()
                    .expect("the plan must have a part for this node");
                Some(Place { offset: part.start, bytes: part.len(), ..arena })
            }
        };
    }
    let nodes = order.into_iter().filter(|&id| is_computed(g, id)).collect();
    Laid { cpu, nodes, places }
}

impl Laid {
    fn run(&mut self, graph: &Graph) -> Result<(), Failed> {
        let work = Work { graph, nodes: &self.nodes, places: &self.places };
        pass(|step| self.cpu.compute(&work, step))
    }

    fn numbers(&mut self, g: &Graph, id: NodeId) -> Vec<f32> {
        let place = self.places[g.root(id).index()].expect("every result must have a place");
        let mut bytes = vec![0; 4 * g.layout(id).elements()];
        self.cpu
            .download(Place { bytes: bytes.len(), ..place }, &mut bytes)
            .expect("download must succeed");
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four"))).collect()
    }

    fn results(&mut self, what: &str, g: &Graph, results: &[NodeId]) -> Vec<f32> {
        for _ in 0..2 {
            let done = assert_accepts(what, || self.run(g));
            done.unwrap_or_else(|failed| {
                panic!("{what}: this must succeed, but it failed: {}", failed.told("cpu", g))
            });
        }
        results.iter().flat_map(|&id| self.numbers(g, id)).collect()
    }
}

const SHARINGS: [Sharing; 3] = [Sharing::Arena, Sharing::InPlace, Sharing::Apart];

fn ends(case: &Case, ids: &[NodeId]) -> Vec<NodeId> {
    case.read::<Vec<usize>>("results").into_iter().map(|i| ids[i]).collect()
}

#[test]
pub(super) fn task_1_compute_matches_pytorch_with_any_buffer_sharing() {
    each("task_4_numbers/", |case| {
        let (g, ids) = graph_of(case);
        let results = ends(case, &ids);
        let name = case.name().rsplit('/').next().unwrap_or_default().replace('_', " ");
        let mut first: Option<Vec<u32>> = None;
        for sharing in SHARINGS {
            let found = |sharing: Sharing| {
                let mut laid = lay(&g, &results, sharing);
                laid.results(&format!("the graph of “{name}”, {sharing}"), &g, &results)
            };
            let numbers = found(sharing);
            let first = first.get_or_insert_with(|| bits(&numbers));
            if sharing == Sharing::Apart && bits(&numbers) != *first {
                let staggered = panics::catch(|| found(Sharing::Staggered));
                assert!(
                    !staggered.is_ok_and(|numbers| bits(&numbers) == *first),
                    "the graph of “{name}”, {sharing}\n  found    {numbers:?}\n  expected {:?}\n  \
                     diagnosis A node is computed over its first source only if buffer and offset \
                     are both the same.",
                    first.iter().map(|&bits| f32::from_bits(bits)).collect::<Vec<_>>()
                );
            }
            case.check("results", &tensor(&[numbers.len()], numbers));
        }
    });
}

/// Weights, tokens and a cache give the same bits as in day 2's executor.
#[test]
fn task_1_compute_equals_day_2_executor_bit_for_bit() {
    each("task_2_model/all_supported", |case| {
        let (g, _) = graph_of(case);
        let results = [g.ids().nth(g.len() - 3).expect("the logits")];
        let expected = unplanned(&g, &results);
        for sharing in SHARINGS {
            let mut laid = lay(&g, &results, sharing);
            let what = format!("a model of two layers, {sharing}");
            let found = laid.results(&what, &g, &results);
            assert_answer(&what, &bits(&found), &bits(&expected));
        }
    });
}

/// Returns a graph of x = a + b and y = x + a in one arena.
fn three() -> (Graph, [NodeId; 4], Laid) {
    let mut g = Graph::default();
    let [a, b] =
        [1.0, 10.0].map(|x| g.values(&[4, 2], &[x; 8]).expect("values must accept these numbers"));
    let x = g.add(a, b).expect("add must accept these nodes");
    let y = g.add(x, a).expect("add must accept these nodes");
    let laid = lay(&g, &[y], Sharing::Arena);
    (g, [a, b, x, y], laid)
}

/// Returns a diagnosis if the solution reads leaves' values from the graph, or else an empty text.
fn read_from_the_graph() -> &'static str {
    let (g, [a, b, _, y], mut laid) = three();
    for id in [a, b] {
        laid.places[id.index()] = None;
    }
    match panics::catch(|| laid.run(&g).map(|()| laid.numbers(&g, y))) {
        Ok(Ok(numbers)) if numbers == [12.0; 8] => {
            "\n  diagnosis Numbers are read from their place in this backend's memory, not from \
             the graph."
        }
        _ => "",
    }
}

#[test]
fn task_1_compute_rejects_invalid_places() {
    type Change = fn(&mut Laid, [NodeId; 4]);
    type Case = (&'static str, usize, Change, fn(&Fault) -> bool);
    let cases: [Case; 7] = [
        (
            "the second sum's place is outside the arena",
            3,
            |laid, [.., y]| laid.places[y.index()].as_mut().expect("a place").offset = 120,
            |fault| matches!(fault, Fault::OutOfBounds { place: Place { offset: 120, .. }, .. }),
        ),
        (
            "the first sum's place is too short",
            2,
            |laid, [.., x, _]| laid.places[x.index()].as_mut().expect("a place").bytes = 28,
            |fault| matches!(fault, Fault::WrongLength { found: 32, .. }),
        ),
        (
            "a source of the first sum is too short",
            2,
            |laid, [_, b, ..]| laid.places[b.index()].as_mut().expect("a place").bytes = 28,
            |fault| matches!(fault, Fault::WrongLength { found: 32, .. }),
        ),
        (
            "the second sum has no place",
            3,
            |laid, [.., y]| laid.places[y.index()] = None,
            |fault| matches!(fault, Fault::NoPlace(_)),
        ),
        (
            "the source of both sums has no place",
            2,
            |laid, [a, ..]| laid.places[a.index()] = None,
            |fault| matches!(fault, Fault::NoPlace(_)),
        ),
        (
            "a source of the first sum was released",
            2,
            |laid, [_, b, ..]| {
                let buffer = laid.places[b.index()].expect("a place").buffer;
                laid.cpu.release(buffer).expect("release must succeed");
            },
            |fault| matches!(fault, Fault::NoBuffer(_)),
        ),
        (
            "the second sum's place is in the program's memory",
            3,
            |laid, [.., y]| {
                let buffer = laid.cpu.host_pointer(&Bytes::from(vec![0; 64])).expect("a buffer");
                laid.places[y.index()] = Some(Place { buffer, offset: 0, bytes: 64 });
            },
            |fault| matches!(fault, Fault::ReadOnly(_)),
        ),
    ];
    for (why, node, change, expected) in cases {
        let (g, ids, mut laid) = three();
        change(&mut laid, ids);
        for again in ["", ", again"] {
            let what = format!("{why}{again}");
            let failed = assert_refuses(&what, || laid.run(&g));
            let Err(failed) = failed else {
                panic!(
                    "{what}\n  found    no fault\n  expected a fault that names the place{}",
                    read_from_the_graph()
                )
            };
            assert_eq!(failed.node, Some(ids[node]), "{what}: the node that failed");
            assert!(expected(&failed.fault), "{what}: found the fault {:?}", failed.fault);
            let told = failed.told("cpu", &g);
            for word in ["cpu: ", "add of node ", "F32 [4, 2, 1, 1]"] {
                assert!(
                    told.contains(word),
                    "{what}: the message {told:?} does not contain {word:?}"
                );
            }
        }
    }
}
