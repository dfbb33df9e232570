# SPDX-License-Identifier: MIT OR Apache-2.0
"""The machine that Donjon starts in gem5: its VExpress platform with one CPU.

gem5 runs this file. A fast core boots. A core with timing can go on in its place: `minor`, in
order, or `o3`, out of order. Parameters of both are those of gem5's own configs/common/cores/arm.

A file in the directory of requests asks for something, and is removed when it is done: `timing` and
`fast` for the core, `save` for a checkpoint.
"""

import argparse
import os

import m5
from m5.objects import *
from m5.util import addToPath

parser = argparse.ArgumentParser()
parser.add_argument("--gem5", required=True, help="gem5's source tree")
parser.add_argument("--program", required=True, help="ELF file of what is in memory")
parser.add_argument("--memory", required=True, help="bytes of RAM")
parser.add_argument("--core", required=True, choices=["atomic", "minor", "o3"])
parser.add_argument("--requests", required=True, help="directory of requests")
parser.add_argument("--save", help="directory for a checkpoint")
parser.add_argument("--restore", help="directory of a checkpoint to start from")
parser.add_argument("--disk", help="image of a disk")
arguments = parser.parse_args()

addToPath(os.path.join(arguments.gem5, "configs"))
addToPath(os.path.join(arguments.gem5, "configs", "example", "arm"))

import devices
from common.cores.arm import HPI, O3_ARM_v7a

CORES = {
    "minor": (HPI.HPI, HPI.HPI_ICache, HPI.HPI_DCache, HPI.HPI_L2),
    "o3": (
        O3_ARM_v7a.O3_ARM_v7a_3,
        O3_ARM_v7a.O3_ARM_v7a_ICache,
        O3_ARM_v7a.O3_ARM_v7a_DCache,
        O3_ARM_v7a.O3_ARM_v7aL2,
    ),
}
CLOCK = "1GHz"
# The interrupt of the cycle counter, as in the device tree.
PMU_PPI = 20
# Ticks between two looks at the requests: a tick is a picosecond.
SLICE = 1_000_000_000


def release():
    """Armv8.0 without EL2 and EL3: the machine enters the image at EL1."""
    found = Armv8()
    for name in ("SECURITY", "VIRTUALIZATION"):
        found.remove(ArmExtension(name))
    return found


def counter(cpu, l2):
    """Gives a CPU its performance monitor."""
    for isa in cpu.isa:
        # gem5 has registers for six of the 31 counters that it announces otherwise.
        isa.pmu = ArmPMU(eventCounters=6, interrupt=ArmPPI(num=PMU_PPI))
        isa.pmu.addArchEvents(
            cpu=cpu, itb=cpu.mmu.itb, dtb=cpu.mmu.dtb, icache=None, dcache=None, l2cache=l2
        )


def build():
    timing, l1i, l1d, l2 = CORES.get(arguments.core, CORES["minor"])
    system = devices.SimpleSystem(
        True,
        arguments.memory,
        mem_mode="atomic",
        release=release(),
        have_large_asid_64=True,
        workload=ArmFsWorkload(object_file=arguments.program),
        # Execution begins at the program's entry.
        auto_reset_addr=True,
    )
    system.memory = SimpleMemory(range=system.mem_ranges[0], latency="60ns")
    system.connect()
    system.memory.port = system.membus.mem_side_ports
    if arguments.disk:
        image = CowDiskImage(child=RawDiskImage(read_only=True), read_only=False)
        image.child.image_file = arguments.disk
        system.realview.vio[0].vio = VirtIOBlock(image=image)
    cluster = devices.ArmCpuCluster(system, 1, CLOCK, "1.0V", AtomicSimpleCPU, l1i, l1d, l2)
    system.cluster = cluster
    system.addCaches(True, last_cache_level=2)
    counter(cluster.cpus[0], cluster.l2)
    if arguments.core == "atomic":
        return system, None
    # It has neither ports nor clock of its own: it takes the place of the other one.
    successor = timing(
        switched_out=True,
        cpu_id=0,
        clk_domain=cluster.clk_domain,
    )
    successor.createThreads()
    counter(successor, cluster.l2)
    # A name for each: one checkpoint serves both.
    setattr(system, arguments.core, successor)
    return system, successor


def requested(name):
    return os.path.exists(os.path.join(arguments.requests, name))


def done(name):
    os.remove(os.path.join(arguments.requests, name))


system, timing = build()
fast = system.cluster.cpus[0]
root = Root(full_system=True, system=system)
m5.instantiate(arguments.restore)
while True:
    event = m5.simulate(SLICE)
    if event.getCause() != "simulate() limit reached":
        print(f"gem5: {event.getCause()}")
        break
    if requested("save"):
        m5.checkpoint(arguments.save)
        done("save")
    if requested("timing"):
        m5.switchCpus(system, [(fast, timing)])
        done("timing")
    if requested("fast"):
        m5.switchCpus(system, [(timing, fast)])
        done("fast")
