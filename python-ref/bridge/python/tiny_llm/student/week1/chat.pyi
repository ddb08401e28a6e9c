from ..._types import Messages

def chatml(messages: Messages, add_generation_prompt: bool = False) -> str:
    """The messages, pairs of role and content, in ChatML."""
