# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The clock that the kernel reads."""
from .. import system
from ..finding import warning

PATH = "/sys/devices/system/clocksource/clocksource0"
# Each of these is read by a slow access to a device, or ticks.
SLOW = ("acpi_pm", "hpet", "jiffies", "refined-jiffies", "pit")
FAST = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter", "timebase")


def check(links):
    now = system.read(f"{PATH}/current_clocksource", "")
    better = [name for name in FAST if name in system.read(f"{PATH}/available_clocksource", "").split()]
    if not links or now not in SLOW or not better:
        return []
    return [warning("clock-slow", now, f"The kernel reads the time from {now}, and {better[0]} is available.",
                    "Timers and timestamps of hroce read the clock for most packets; this one takes a microsecond.",
                    f"echo {better[0]} >{PATH}/current_clocksource")]
