from ...reference.week1.rope import *
