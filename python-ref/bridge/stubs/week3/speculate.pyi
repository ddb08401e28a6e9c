from ..._types import Ids
from ..week1.sampling import SamplerOptions
from ..week2.model import Model

def speculate(
    model: Model,
    prompt: Ids,
    max_new_tokens: int,
    drafts: int,
    options: SamplerOptions,
    seed: int,
    draft_model: Model | None = None,
) -> tuple[list[int], tuple[int, int, int, int]]: ...
