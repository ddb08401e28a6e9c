from ...reference.week1.stream import *
