"""How a process gives up the matrix unit (AMX) before llama.cpp asks for it, so that it takes its other kernels (Linux on x86-64 alone)."""

import ctypes
import sys


def refuse_amx():
    """A filter that answers `arch_prctl(ARCH_REQ_XCOMP_PERM, …)` with an error, and lets everything else through."""

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    number, argument, load, equal, end = 0, 16, 0x20, 0x15, 0x06
    arch_prctl, xcomp_perm, error, allow = 158, 0x1023, 0x00050001, 0x7FFF0000
    steps = [(load, 0, 0, number), (equal, 0, 3, arch_prctl), (load, 0, 0, argument), (equal, 0, 1, xcomp_perm), (end, 0, 0, error), (end, 0, 0, allow)]
    program = Program(len(steps), (Instruction * len(steps))(*(Instruction(*step) for step in steps)))
    libc = ctypes.CDLL(None)
    no_new_privileges, seccomp, filtered = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(seccomp, filtered, ctypes.byref(program), 0, 0):
        sys.exit("this system does not let a process give up AMX")
