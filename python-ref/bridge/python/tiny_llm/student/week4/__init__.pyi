from . import streamed as streamed
