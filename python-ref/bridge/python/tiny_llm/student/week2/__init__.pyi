from . import blocks as blocks
