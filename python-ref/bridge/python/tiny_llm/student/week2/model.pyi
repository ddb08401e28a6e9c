from ...reference.week2.model import *
