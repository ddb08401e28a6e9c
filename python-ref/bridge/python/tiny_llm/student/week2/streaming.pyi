from ...reference.week2.streaming import *
