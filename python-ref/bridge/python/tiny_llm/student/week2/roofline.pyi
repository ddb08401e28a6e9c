from ...reference.week2.roofline import *
