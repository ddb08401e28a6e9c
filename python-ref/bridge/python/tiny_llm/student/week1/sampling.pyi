from ...reference.week1.sampling import *
