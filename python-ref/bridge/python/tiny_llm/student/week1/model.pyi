from ...reference.week1.model import *
