from ...reference.week2.gguf import *
