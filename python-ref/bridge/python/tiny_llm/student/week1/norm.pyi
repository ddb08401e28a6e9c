from ...reference.week1.norm import *
