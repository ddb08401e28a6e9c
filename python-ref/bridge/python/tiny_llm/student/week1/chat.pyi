from ...reference.week1.chat import *
