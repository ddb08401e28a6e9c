from ...reference.week2.blocks import *
