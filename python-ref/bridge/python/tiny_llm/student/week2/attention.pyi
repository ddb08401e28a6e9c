from ...reference.week2.attention import *
