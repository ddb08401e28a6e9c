from ...reference.week1.weights import *
