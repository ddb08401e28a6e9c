from ...reference.week2.writer import *
