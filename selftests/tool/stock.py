#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Findings of `hroce doctor` about what user-mode Linux does not have: rings and flow control of a card, the old kind of
iptables, other clocks, lockdown. eth0 is a virtio card, eth1 an e1000.
"""
from lib import Cases, find, healthy, require, sh

CLOCK = "/sys/devices/system/clocksource/clocksource0"


def locked_down():
    """The last case: a kernel is never unlocked."""
    sh("rdma link del hroce0 && rmmod hroce")
    sh("[ -e /sys/kernel/security/lockdown ] || mount -t securityfs securityfs /sys/kernel/security")
    sh("echo integrity >/sys/kernel/security/lockdown")
    finding = find("secure-boot")
    require("integrity" in finding.what and "mokutil --import" in finding.repair, finding)
    require(finding.repair.startswith("dkms build --force"), finding)
    sh("! modprobe hroce")


def main():
    cases = Cases()
    cases.run("doctor.stock_healthy", healthy)
    cases.broken("ring_small", "ring-small", "ethtool -G eth0 rx 64")
    cases.broken("pause_one_way", "pause-one-way",
                 "modprobe e1000; ip link set eth1 up && ip address add 10.76.0.1/24 dev eth1 && "
                 "rdma link add hroce1 type hroce netdev eth1 && ethtool -A eth1 autoneg off rx on tx off",
                 "rdma link del hroce1")
    for command in ("iptables", "ip6tables"):
        cases.broken(f"{command}_legacy", "firewall", f"{command}-legacy -A INPUT -p udp --dport 4000:5000 -j DROP",
                     f"{command}-legacy -F")
        cases.broken(f"{command}_legacy_policy", "firewall",
                     f"{command}-legacy -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT && "
                     f"{command}-legacy -P INPUT DROP", f"{command}-legacy -F; {command}-legacy -P INPUT ACCEPT")
    cases.broken("clock_slow", "clock-slow",
                 f"cat {CLOCK}/available_clocksource; echo acpi_pm >{CLOCK}/current_clocksource")
    cases.run("doctor.stock_healthy_again", healthy)
    cases.run("doctor.locked_down", locked_down)
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
