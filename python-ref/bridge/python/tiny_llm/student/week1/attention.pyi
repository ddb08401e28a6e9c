from ...reference.week1.attention import *
