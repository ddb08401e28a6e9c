from ...reference.week2.generate import *
