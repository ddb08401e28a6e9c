from ...reference.week1.generate import *
