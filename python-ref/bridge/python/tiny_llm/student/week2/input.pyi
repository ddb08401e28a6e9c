from ...reference.week2.input import *
