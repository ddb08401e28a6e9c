from ...reference.week1.gqa import *
