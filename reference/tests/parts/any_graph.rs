//! Builds a graph from arbitrary bytes. Each node is added or rejected. Checks that the results in
//! an arena and on backends are those with a buffer for each node, and that a graph that fits its
//! step never panics. Nodes may read weights, views of weights, tokens and a cache.

use anyhow::Result;
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_reference::{
    week2::{
        cache::{CacheShape, CacheType, DenseCache},
        kernels::Rung,
        matrix::Matrix,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rope::{RopeLayout, RopeTable},
        rows::Row,
    },
    week4::{
        backend::Backend,
        by_size::lifetimes_of_parts,
        cpu::Cpu,
        execute::Executor,
        graph::{Graph, NodeId},
        layout::Layout,
        lifetimes::{lifetimes, lower_bound, without_reuse},
        op::Op,
        placement::Wishes,
        planned::PlannedExecutor,
        planner::MemoryPlan,
        scheduler::Scheduler,
        step::Step,
        twin::Twin,
    },
};

/// Maximum number of elements in a node. A graph with a larger node is planned, but not computed.
const MOST: usize = 1 << 14;

/// The bytes that have not been read yet. After the last one, `next` returns 0.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first)
    }

    /// Returns a size, usually small, sometimes 0 or far too large.
    fn size(&mut self) -> usize {
        match self.next() {
            255 => usize::MAX >> (self.next() % 64),
            n => n % 9,
        }
    }

    fn sizes(&mut self) -> Vec<usize> {
        (0..self.next() % 6).map(|_| self.size()).collect()
    }

    /// Returns one of the last eight nodes.
    fn node(&mut self, nodes: &[NodeId]) -> NodeId {
        nodes[nodes.len() - 1 - self.next() % nodes.len().min(8)]
    }
}

/// Counts of what the bytes produced.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) nodes: usize,
    pub(crate) refused: usize,
    pub(crate) planned: usize,
    pub(crate) computed: usize,
    /// Number of valid graphs that do not fit the step.
    pub(crate) unfit: usize,
    /// Number of computed nodes that read a view of a weight. `cached` counts those that read a
    /// cache.
    pub(crate) views_of_weights: usize,
    pub(crate) cached: usize,
    /// Number of graphs where the plan by best fit is smaller, where the plan by size is smaller,
    /// and where both are larger than the lower bound.
    pub(crate) peaks: [usize; 3],
}

/// Builds the graph that `data` describes, and checks it.
///
/// # Panics
/// If a check of the graph, its plans or its results fails.
pub(crate) fn any_graph(data: &[u8]) -> Seen {
    let (mut words, mut g, mut seen) = (Words(data), Graph::default(), Seen::default());
    let mut leaf = |rows: usize| {
        let numbers: Vec<f32> = (0..8 * rows).map(|i| (i % 11) as f32 / 4.0 - 1.0).collect();
        g.values(&[8, rows], &numbers).expect("eight in a row")
    };
    let mut nodes = vec![leaf(1), leaf(7), leaf(24)];
    while !words.0.is_empty() && g.len() < 300 {
        let before = g.len();
        match node(&mut words, &mut g, &nodes) {
            Ok(id) => {
                assert_eq!(id.index() + 1, g.len(), "a node is the last one made");
                let sources = &g.node(id).sources;
                assert!(sources.iter().all(|source| *source < id), "sources are older: no cycle");
                nodes.push(id);
            }
            Err(error) => {
                // Some operations also add nodes that they read, such as a norm's weight.
                let left = g.len() - before;
                assert!(left <= 5, "{error:#}: {left} nodes were left by a refused operation");
                assert!(!format!("{error:#}").contains('\n'), "more than a line: {error:#}");
                seen.refused += 1;
            }
        }
    }
    seen.nodes = g.len();
    let results: Vec<NodeId> = (0..words.next() % 3 + 1)
        .map(|_| words.node(&nodes))
        .filter(|&id| {
            let op = &g.node(g.root(id)).op;
            !op.is_leaf() && !matches!(op, Op::Store { .. })
        })
        .collect();
    let order = g.order(&results);
    check_order(&g, &order);
    let plans = [false, true].map(|over| plans(&g, &order, &results, over, &mut seen.peaks));
    seen.planned = plans.iter().flatten().count();
    if seen.planned == 0 || order.iter().any(|&id| g.layout(id).elements() > MOST) {
        return seen;
    }
    let n = words.next() % 3 + 1;
    let mut fits = Ok(());
    pass(n, |step| fits = step.check(&g, &order));
    if let Err(error) = fits {
        let text = format!("{error:#}");
        assert!(text.contains("node ") && !text.contains('\n'), "{text}");
        seen.unfit = 1;
        return seen;
    }
    let expected = unplanned(&g, &order, &results, n);
    for plan in plans.iter().flatten() {
        let found = planned(&g, &order, &results, plan, n);
        assert_eq!(found, expected, "the planned result differs");
    }
    let lacks: Vec<&str> =
        Op::NAMES.iter().copied().filter(|_| words.next().is_multiple_of(3)).collect();
    let twin = Twin::without(&lacks).with_alignment(256);
    let found = scheduled(&g, &order, &results, vec![Box::new(Cpu::default())], n);
    assert_eq!(found, expected, "the result of the processor as a backend differs");
    let two: Vec<Box<dyn Backend>> = vec![Box::new(twin), Box::new(Cpu::default())];
    let found = scheduled(&g, &order, &results, two, n);
    assert_eq!(found, expected, "the result of two backends differs, the first without {lacks:?}");
    seen.computed = 1;
    for node in order.iter().map(|&id| g.node(id)) {
        let of_weight = |&id: &NodeId| {
            g.node(id).op.is_view() && matches!(g.node(g.root(id)).op, Op::Weight(_))
        };
        let is_view = node.op.is_view();
        seen.views_of_weights += usize::from(!is_view && node.sources.iter().any(of_weight));
        seen.cached += usize::from(matches!(node.op, Op::Attend { .. }));
    }
    seen
}

/// Adds one more node, or returns an error.
fn node(words: &mut Words<'_>, g: &mut Graph, nodes: &[NodeId]) -> Result<NodeId> {
    let (a, b) = (words.node(nodes), words.node(nodes));
    match words.next() % 23 {
        17 => any_weight(words, g),
        18 => g.tokens(words.next() % 3 + 1),
        // Keys or values for a cache, usually with the right number of heads.
        19 => {
            let rows = words.next() % 3 + 1;
            any_heads(words, g, rows)
        }
        20 | 22 => match words.next() % 3 {
            0 => {
                let table = any_weight(words, g)?;
                let tokens = g.tokens(words.next() % 3 + 1)?;
                g.embed(table, tokens)
            }
            1 => g.embed(a, b),
            _ => {
                let (layer, rows) = (words.next() % 5 / 2, words.next() % 3 + 1);
                let [keys, queries] = [any_heads(words, g, rows)?, any_heads(words, g, rows)?];
                let stored = g.store(layer, keys, keys)?;
                let queries = if words.next().is_multiple_of(2) { g.rope(queries)? } else { b };
                let mixed = g.attend(layer, queries, stored)?;
                g.wanted(mixed, words.next() % 2 + 1)
            }
        },
        // A product of a view of a weight with rows of the same length.
        21 => {
            let weight = any_weight(words, g)?;
            let [cols, rows, ..] = g.layout(weight).ne;
            let view = match words.next() % 4 {
                0 => g.reshape(weight, &[cols, 1, rows])?,
                1 => g.reshape(weight, &[cols * rows])?,
                2 => g.permute(weight, [0, 2, 1, 3])?,
                _ => g.permute(weight, [1, 0, 2, 3])?,
            };
            let [size, _, sheets, _] = g.layout(view).ne;
            let x = g.values(&[size, 2, sheets], &vec![0.25; 2 * size * sheets])?;
            g.mul_mat(view, x)
        }
        16 => {
            let rows = words.next() % 48 + 1;
            g.values(&[8, rows], &vec![0.5; 8 * rows])
        }
        // A valid node that is far too large to compute.
        15 => g.tokens((usize::MAX >> (words.next() % 50)).max(MOST + 1)),
        0 => {
            let sizes = words.sizes();
            let numbers = words.next() + usize::from(words.0.is_empty());
            let exact = sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
            let n = exact.filter(|&n| n <= 4096 && !numbers.is_multiple_of(16)).unwrap_or(numbers);
            let values: Vec<f32> = (0..n).map(|i| (i * numbers % 17) as f32 / 8.0 - 1.0).collect();
            g.values(&sizes, &values)
        }
        1 => g.permute(a, [0; 4].map(|_| words.next() % 5)),
        2 => g.permute(a, [[1, 0, 2, 3], [0, 2, 1, 3], [2, 0, 1, 3]][words.next() % 3]),
        3 => {
            let sizes = words.sizes();
            g.reshape(a, &sizes)
        }
        4 => {
            let elements = g.layout(a).elements();
            g.reshape(a, &[elements])
        }
        5 => g.contiguous(a),
        6 | 7 => g.mul_mat(a, b),
        8 => {
            let n = 32 * (words.next() % 2 + 1);
            let rows = words.next() % 4 + 1;
            let bytes: Vec<u8> = (0..rows * n / 32 * 34).map(|i| (i % 34 + 1) as u8).collect();
            let weight = g.weight(&Matrix::new(rows, n, TensorType::Q8_0, bytes.into())?)?;
            let made = g.mul_mat(weight, a);
            let fits = g.layout(a).ne[0] == n && g.layout(a).has_whole_rows();
            let numbers = !matches!(g.node(g.root(a)).op, Op::Weight(_) | Op::Tokens);
            assert!(made.is_ok() == (fits && numbers));
            made
        }
        9 => {
            let n = if !words.next().is_multiple_of(8) {
                g.layout(a).ne[0].min(MOST)
            } else {
                words.next()
            };
            g.rms_norm(a, &vec![0.75; n], 1e-3)
        }
        10 => g.silu_gate(a, b),
        11 => match words.next() % 4 {
            0 => g.rope(a),
            1 => g.wanted(a, words.size()),
            2 => g.store(words.next() % 2, a, b),
            _ => g.attend(words.next() % 2, a, b),
        },
        12 => {
            view(words, g.layout(a));
            // A node of another, larger graph.
            let mut other = g.clone();
            let far = other.values(&[1], &[0.0])?;
            assert!(g.push(Op::Add, &[a, far], g.layout(a)).is_err(), "{far:?} is not here");
            g.add(a, b)
        }
        _ => g.add(a, b),
    }
}

/// Adds keys or values, usually with the two heads that the cache has.
fn any_heads(words: &mut Words<'_>, g: &mut Graph, rows: usize) -> Result<NodeId> {
    let heads = [2, 2, 2, 4, 3][words.next() % 5];
    let numbers: Vec<f32> = (0..4 * heads * rows).map(|i| (i % 7) as f32 - 3.0).collect();
    g.values(&[4, heads, rows], &numbers)
}

/// Adds a weight of some type, with 1 to 4 rows of 32 or 64 numbers.
fn any_weight(words: &mut Words<'_>, g: &mut Graph) -> Result<NodeId> {
    use TensorType::{F16, F32, Q4_0, Q8_0};
    let (cols, rows) = (32 * (words.next() % 2 + 1), words.next() % 4 + 1);
    let tensor_type = [F32, F16, Q8_0, Q4_0][words.next() % 4];
    let len = rows * tensor_type.row_bytes(cols).expect("whole blocks");
    let bytes: Vec<u8> = (0..len).map(|i| (i * 13 % 61) as u8).collect();
    g.weight(&Matrix::new(rows, cols, tensor_type, bytes.into())?)
}

/// Checks that a random view of `layout` is rejected, or that all of its elements are inside.
fn view(words: &mut Words<'_>, layout: Layout) {
    let ne = [0; 4].map(|_| words.size());
    let nb = [0; 4].map(|_| words.size().wrapping_mul(4));
    let Ok(view) = layout.view(ne, nb, words.size().wrapping_mul(2)) else { return };
    assert!(view.offset >= layout.offset && view.end() <= layout.end());
    let last = view.byte_of(view.ne.map(|n| n - 1));
    let bytes = view.tensor_type.block_bytes();
    assert!(last + bytes <= layout.end(), "the last element of {view} lies outside of {layout}");
}

fn check_order(g: &Graph, order: &[NodeId]) {
    let mut done = vec![false; g.len()];
    for &id in order {
        assert!(g.node(id).sources.iter().all(|source| done[source.index()]), "too early");
        assert!(!done[id.index()], "twice");
        done[id.index()] = true;
    }
}

/// Returns two plans, by best fit and by size, or none if the buffers have too many bytes.
fn plans(
    g: &Graph,
    order: &[NodeId],
    results: &[NodeId],
    over: bool,
    peaks: &mut [usize; 3],
) -> Vec<MemoryPlan> {
    let first = match MemoryPlan::new(g, order, results, over) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(error.to_string().contains("more bytes than"), "{error:#}");
            return Vec::new();
        }
    };
    let lives = lifetimes(g, order, results);
    let second = MemoryPlan::by_size(g, &lives, over).expect("the same buffers");
    let parts = lifetimes_of_parts(g, &lives);
    let bound = lower_bound(if over { &parts } else { &lives });
    for plan in [&first, &second] {
        assert!(bound <= plan.peak && plan.peak <= without_reuse(&lives));
        for life in &lives {
            let part = plan.parts[life.node.index()].as_ref().expect("each has a part");
            assert!(part.len() == life.bytes && part.end <= plan.peak);
        }
    }
    let smaller = MemoryPlan::smaller(g, order, results, over).expect("the same buffers");
    assert_eq!(smaller.peak, first.peak.min(second.peak), "there was a smaller plan");
    peaks[0] += usize::from(first.peak < second.peak);
    peaks[1] += usize::from(second.peak < first.peak);
    peaks[2] += usize::from(first.peak.min(second.peak) > bound);
    vec![first, second]
}

/// Calls `run` with a step of `n` rows on an empty cache.
fn pass(n: usize, run: impl FnOnce(&mut Step<'_, DenseCache>)) {
    let shape = CacheShape { layers: 2, sequences: 1, kv_heads: 2, capacity: 4, head_dim: 4 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    let row =
        |i: usize| Row { token: i as u32, position: i, sequence: 0, logits: i.is_multiple_of(2) };
    let rows: Vec<Row> = (0..n).map(row).collect();
    let (kernels, attention) = (Rung::Naive.into(), AttentionKind::TwoPass);
    let plan = Plan { kernels, attention, team: Team::new(1) };
    let table = RopeTable::new(&[1.0, 0.5], 4);
    let rope = (&table, RopeLayout::HalfSplit);
    run(&mut Step { rows: &rows, cache: &mut cache, plan: &plan, rope });
}

fn unplanned(g: &Graph, order: &[NodeId], results: &[NodeId], n: usize) -> Vec<u32> {
    let mut executor = Executor::default();
    pass(n, |step| executor.run(g, order, step));
    results.iter().flat_map(|&id| executor.values(g, id)).map(bits).collect()
}

/// Returns the results of a second run in the arena, which is filled with NaN before it.
fn planned(
    g: &Graph,
    order: &[NodeId],
    results: &[NodeId],
    plan: &MemoryPlan,
    n: usize,
) -> Vec<u32> {
    let mut executor = PlannedExecutor::default();
    pass(n, |step| executor.run(g, order, plan, step));
    executor.poison();
    pass(n, |step| executor.run(g, order, plan, step));
    results.iter().flat_map(|&id| executor.values(g, plan, id)).map(bits).collect()
}

/// Returns the results of a second run on `backends`, in the buffers of the first run.
fn scheduled(
    g: &Graph,
    order: &[NodeId],
    results: &[NodeId],
    backends: Vec<Box<dyn Backend>>,
    n: usize,
) -> Vec<u32> {
    let mut scheduler = Scheduler::new(backends);
    let ready = scheduler.prepare(g, order, results, &Wishes::default()).expect("one of them can");
    for _ in 0..2 {
        pass(n, |step| {
            let Step { rows, plan, rope, .. } = *step;
            let mut step = Step { rows, cache: &mut *step.cache as _, plan, rope };
            scheduler.run(&ready, &mut step).expect("it fits the step");
        });
    }
    let mut all = Vec::new();
    for (i, &id) in results.iter().enumerate() {
        let mut out = vec![0.0; g.layout(g.root(id)).elements()];
        scheduler.read(&ready, i, &mut out).expect("it has been computed");
        if let Some(lent) = scheduler.lent(&ready, i) {
            assert!(lent.iter().map(bits).eq(out.iter().map(bits)), "`lent` and `read` differ");
        }
        all.extend(out.iter().map(bits));
    }
    all
}

/// Returns the bits of a number. All NaNs have the same bits.
fn bits(x: &f32) -> u32 {
    if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
}
