from ...reference.week2.convert import *
