from ...reference.week1.mlp import *
