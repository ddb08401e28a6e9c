//! Week 4: what its days show.

use anyhow::{Result, ensure};
use tiny_llm::week4::{layout::Layout, strided::Strided};
use tiny_llm_cli::{LayoutRequest, LayoutSeen, Step, WIDTH};

/// More bytes than that are not copied for a picture.
const MOST: usize = 1 << 24;

/// A tensor's layout, and after each step.
pub(crate) fn layouts(request: &LayoutRequest) -> Result<Vec<LayoutSeen>> {
    let mut layout = Layout::from_torch(request.tensor_type, &request.shape)?;
    let mut all = vec![seen(&layout)];
    for step in &request.steps {
        layout = match step {
            Step::Transpose => layout.transpose()?,
            Step::Permute(axes) => layout.permute(*axes)?,
            Step::Broadcast(ne) => layout.broadcast(*ne)?,
            Step::View(ne, offset) => layout.view(*ne, layout.nb, *offset)?,
            Step::Reshape(sizes) => layout.reshape(sizes)?,
            Step::Contiguous => copied(&layout)?,
        };
        all.push(seen(&layout));
    }
    Ok(all)
}

/// The layout of a contiguous copy.
fn copied(layout: &Layout) -> Result<Layout> {
    let copy = Layout::new(layout.tensor_type, &layout.ne)?;
    let bytes = layout.end().max(copy.end());
    ensure!(bytes <= MOST, "{layout}: found {bytes} bytes, expected at most {MOST} for a picture");
    let copied = Strided::new(*layout, &vec![0; layout.end()])?.contiguous();
    Strided::new(copy, &copied)?;
    Ok(copy)
}

fn seen(layout: &Layout) -> LayoutSeen {
    let row = |i1| {
        let blocks = 0..layout.blocks_in_row().min(WIDTH);
        let len = layout.tensor_type.block_len();
        blocks.map(|i0| layout.byte_of([i0 * len, i1, 0, 0])).collect()
    };
    LayoutSeen {
        ne: layout.ne,
        nb: layout.nb,
        contiguous: layout.is_contiguous(),
        bytes: (0..layout.ne[1].min(WIDTH)).map(row).collect(),
    }
}
