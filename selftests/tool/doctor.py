#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Each finding of `hroce doctor`: break that very thing, see the finding, run the printed command, see it gone. Begins and
ends with a healthy link, which has none.
"""
import json
import os

from lib import (HERE, TOOL, Cases, as_json, attempt, checks_of, command, find, findings, healthy, repaired, reported, require,
                 sh, wait_for)

from hroce_tool import device, packages

# Made by selftests/tool/prepare.
OTHER_LIBRARY = f"{HERE}/../../build/selftests-tool/libhroce-other.so"

LINK = "/sys/class/infiniband/hroce0"
PLUGIN = os.path.realpath("/usr/lib/x86_64-linux-gnu/libibverbs/libhroce-rdmav34.so")
VERBS_NAME = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1"
VERBS = os.path.realpath(VERBS_NAME)
VERBS_OTHER = f"{VERBS_NAME}.14.99.0"
MODULES = f"/lib/modules/{os.uname().release}"
TOS = "/sys/kernel/config/rdma_cm/{0} && echo {1} >/sys/kernel/config/rdma_cm/{0}/ports/1/default_roce_tos"
SWITCHES = "/sys/kernel/debug/hroce/hroce0"
ADDRESS6 = "ip -6 address replace fd77::1/64 dev eth0 nodad"


def command_agrees():
    """The command prints what the checks found, as text and as JSON, and returns 1; 0 without findings."""
    status, report = as_json("doctor", "--json")
    require(status == 0 and report["findings"] == [], f"{status}: {report}")
    link, = report["links"]
    require(link["name"] == "hroce0" and link["active"] and link["netdevs"] == ["eth0"], link)
    require({"index": 1, "address": "10.77.0.1", "type": "RoCE v2", "netdev": "eth0"} in link["gids"], link)
    sh("ip link set eth0 mtu 1000")
    try:
        status, report = as_json("doctor", "--json")
        require(status == 1 and report["findings"] == [find("mtu-small").as_dict()], f"{status}: {report}")
        status, out, _err = command("doctor", "--link", "hroce0")
        require(status == 1 and "ip link set dev eth0 mtu 1500" in out and "[mtu-small]" in out, out)
    finally:
        sh("ip link set eth0 mtu 9000")


def usage_is_2():
    for words in ("", "nothing", "doctor --nothing", "doctor --link nothing", "link", "link add x",
                  "link add a/b eth0", "doctor --serve --port 99999", "top --once --interval inf", "link add .. eth0", "link add .a eth0"):
        status, out, err = command(*words.split())
        require(status == 2 and err and not out, f"exit status {status} of: hroce {words}\n{out}{err}")


def link_verbs():
    status, links = as_json("link", "show", "--json")
    require(status == 0 and [it["name"] for it in links] == ["hroce0"], links)
    require("GID 1: 10.77.0.1 (RoCE v2, eth0)" in command("link", "show", "hroce0")[1], "no GID shown")
    require(command("link", "del", "hroce0")[0] == 0 and not os.path.exists(LINK), "not deleted")
    require(command("link", "del", "hroce0")[0] == 2, "deleted twice")
    status, answer = as_json("link", "add", "hroce0", "eth0", "--json")
    require(status == 0 and answer == {"added": "hroce0"} and os.path.exists(LINK), answer)
    status, _out, err = command("link", "add", "hroce9", "lo")
    require(status == 1 and "not supported" in err, err)


def link_save():
    """The file that the unit reads, and the unit enabled for this netdev; not without the unit."""
    unit = "/etc/systemd/system/hroce-link@.service"
    sh("rm -f /usr/lib/systemd/system/hroce-link@.service /lib/systemd/system/hroce-link@.service")
    status, _out, err = command("link", "save")
    require(status == 1 and "hroce-link@eth0.service" in err, err)
    sh("echo software >/sys/class/infiniband/hroce0/offload/policy")
    sh(f"cp {HERE}/../../user/systemd/hroce-link@.service {unit}")
    try:
        status, answer = as_json("link", "save", "--json")
        require(status == 0 and answer == {"saved": ["/etc/hroce/eth0.conf"]}, answer)
        require(sh("cat /etc/hroce/eth0.conf") == "NAME=hroce0\nPOLICY=software\n", sh("cat /etc/hroce/eth0.conf"))
        sh("test -L /etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants/hroce-link@eth0.service")
        sh("echo auto >/sys/class/infiniband/hroce0/offload/policy")
        require(command("link", "save", "hroce0")[1] == "/etc/hroce/eth0.conf\n", "not saved again")
        require(sh("cat /etc/hroce/eth0.conf") == "NAME=hroce0\n", sh("cat /etc/hroce/eth0.conf"))
    finally:
        attempt(f"systemctl disable hroce-link@eth0.service; rm -rf {unit} /etc/hroce")


VLAN = ("ip link add eth0.5 link eth0 type vlan id 5 && ip link set eth0.5 up && ip address add 10.75.0.1/24 dev eth0.5 && "
        "rdma link add hroce5 type hroce netdev eth0.5")
NO_VLAN = "rdma link del hroce5; ip link del eth0.5"


def vlan():
    """rdma shows the netdev below: its addresses are none of the link, and the link is not saved as one on that."""
    unit = "/etc/systemd/system/hroce-link@.service"
    sh(f"rdma link del hroce0; {VLAN}; cp {HERE}/../../user/systemd/hroce-link@.service {unit}")
    try:
        require("netdev eth0 " in sh("rdma link show hroce5/1"), "rdma shows another netdev")
        wait_for(lambda: any(str(it.ip) == "10.75.0.1" for it in device.Device("hroce5").read_gids()), "its GID")
        healthy()
        _status, about = as_json("link", "show", "hroce5", "--json")
        require(about[0]["netdevs"] == ["eth0.5"], about)
        status, answer = as_json("link", "save", "--json")
        require(status == 0 and answer == {"saved": ["/etc/hroce/eth0.5.conf"]}, answer)
        sh("test -L /etc/systemd/system/sys-subsystem-net-devices-eth0.5.device.wants/hroce-link@eth0.5.service")
        sh("ip address flush dev eth0.5")
        require(find("no-address").subject == "eth0.5", "of another netdev")
    finally:
        attempt(f"systemctl disable hroce-link@eth0.5.service; rm -rf {unit} /etc/hroce; {NO_VLAN}; "
                "rdma link add hroce0 type hroce netdev eth0")


def vlan_in_namespace():
    """The VLAN is in another namespace, the netdev below is here: the link is one of that namespace."""
    sh("ip netns add far && ip link add eth0.5 link eth0 netns far type vlan id 5 && ip -n far link set eth0.5 up && "
       "ip netns exec far rdma link add hroce5 type hroce netdev eth0.5")
    there = f"nsenter --net=/run/netns/far {TOOL}"
    try:
        require([it.name for it in device.links() if it.netdev()] == ["hroce0"], "listed here")
        about = json.loads(sh(f"{there} link show hroce5 --json"))
        require(about[0]["netdevs"] == ["eth0.5"], about)
        report = json.loads(sh(f"{there} doctor --json || [ $? = 1 ]"))
        require([it["name"] for it in report["links"]] == ["hroce5"], report)
        require(find("no-address", reported(report)).subject == "eth0.5", report)
    finally:
        attempt("rdma link del hroce5; ip netns del far")


def modules():
    """Not loaded, not installed, loaded without a link; each repaired as printed, where that needs no archive."""
    sh("rdma link del hroce0 && rmmod hroce")
    find("module-not-loaded")
    sh("mv /etc/modprobe.d/hroce.conf /tmp/")
    try:
        missing = find("module-missing")
    finally:
        sh("mv /tmp/hroce.conf /etc/modprobe.d/")
    require(missing.repair == packages.install_ours(), missing)
    sh(find("module-not-loaded").repair)
    sh(find("no-link").repair)
    sh("ibv_devinfo -d hroce0 | grep PORT_ACTIVE")
    healthy()


def headers():
    sh(f"mkdir -p /var/lib/dkms/hroce /tmp/modules && mount --bind /tmp/modules {MODULES}")
    try:
        require(find("headers-missing").repair == f"apt install linux-headers-{os.uname().release}", "wrong repair")
        sh("mkdir /tmp/modules/build && : >/tmp/modules/build/Makefile")
        require(not findings(), "still found")
    finally:
        sh(f"umount {MODULES}; rm -r /var/lib/dkms/hroce")


def other_library():
    """A library of another release, which has another ABI number. To install is to have ours again; the links come back."""
    sh(f"{VLAN}; mount --bind {OTHER_LIBRARY} {PLUGIN}")
    try:
        finding = find("abi-mismatch")
        require("ABI" in finding.what, finding)
        repaired(finding, words={packages.install_ours(again=True): f"umount {PLUGIN}"})
        require([it.name for it in device.links()] == ["hroce0", "hroce5"], "the links are not there again")
    finally:
        attempt(f"umount {PLUGIN}; {NO_VLAN}")
    healthy()


def other_release():
    """A libibverbs whose file says that it is of a release that libhroce was not built for."""
    sh(f"cp {VERBS} {VERBS_OTHER} && ln -sfn {VERBS_OTHER} {VERBS_NAME}")
    try:
        finding = find("library-mismatch")
    finally:
        sh(f"ln -sfn {VERBS} {VERBS_NAME}; rm {VERBS_OTHER}")
    require("built for rdma-core" in finding.what and "make -C SOURCES install" in finding.repair, finding)
    healthy()


def no_verbs():
    sh(f"mv {VERBS} /tmp/libibverbs")
    try:
        require("libibverbs1" in find("libibverbs-missing").repair, "wrong repair")
    finally:
        sh(f"mv /tmp/libibverbs {VERBS}")
    healthy()


def of_user(name):
    """The findings that a user has who logs in now. The tree may be where only root looks."""
    return reported(json.loads(sh(f"su {name} -c '/run/tool/hroce doctor --json' || [ $? = 1 ]")))


def locked_memory():
    """
    Without the file that libhroce brings the repair makes the same; members of the group have no limit. Users without one
    of their own have that of the first process, which systemd sets to 8 MB.
    """
    file = "/etc/security/limits.d/hroce.conf"
    shipped = f"sed -E '/^#/d; s/\\s+/ /g' {HERE}/../../user/systemd/limits.conf"
    sh(f"prlimit --pid 1 --memlock={8 << 20}; rm -f {file}; chmod 666 /dev/infiniband/*; cp -r {os.path.dirname(TOOL)} /run/tool; chmod -R a+rX /run/tool; "
       "useradd --no-create-home one; useradd --no-create-home two")
    try:
        sh(find("memlock", of_user("one")).repair)
        require(sh(f"cat {file}") == sh(shipped), sh(f"cat {file}"))
        require(not any(it.id == "memlock" for it in of_user("one")), "still found")
        repair = find("memlock", of_user("two")).repair
        require(repair == "usermod -aG rdma two", repair)
        sh(repair)
        require(not any(it.id == "memlock" for it in of_user("two")), "still found")
    finally:
        attempt(f"prlimit --pid 1 --memlock=unlimited; userdel one; userdel two; rm {file}")


def duplicate_address():
    sh("ip netns add dup && ip link set peer0 netns dup && ip -n dup link set peer0 up && "
       "ip -n dup address add fd77::1/64 dev peer0 nodad && ip address del fd77::1/64 dev eth0 && "
       "echo 1 >/proc/sys/net/ipv6/conf/eth0/accept_dad && ip address add fd77::1/64 dev eth0")
    wait_for(lambda: "dadfailed" in sh("ip address show dev eth0"), "the address to be refused")


def duplicate_repaired():
    try:
        duplicate_address()
        repaired(find("duplicate-address"), words={"ADDRESS/PREFIX": "fd77::9/64"})
    finally:
        attempt("ip -n dup link set peer0 netns 1; ip netns del dup; ip link set peer0 up; "
                f"ip address del fd77::9/64 dev eth0; {ADDRESS6}")


# Some addresses more than the table of GIDs, which has room for 253 beside those of eth0. Each becomes a GID later.
MANY = "for ((i = 1; i <= {}; i++)); do echo address {} 10.78.$((i / 200)).$((i % 200 + 1))/32 dev eth0; done | ip {} -"


def full_table():
    """An address too many. When there is room again, its GID is still missing."""
    sh(MANY.format(254, "add", "-batch"))
    try:
        full = find("gid-table-full")
        sh("ip address del 10.78.0.2/32 dev eth0")
        wait_for(lambda: any(it.id == "gid-missing" for it in findings(checks_of("gid-missing"))), "room in the table")
        repaired(find("gid-missing"))
        sh("ip address add 10.78.0.2/32 dev eth0")
        full = find("gid-table-full")
        repaired(full)
        sh("ip address del 10.78.0.3/32 dev eth0")
    finally:
        attempt(MANY.format(254, "del", "-force -batch"))


def closed_device():
    """For a process that may not open everything."""
    limited = f"setpriv --bounding-set=-dac_override,-dac_read_search {TOOL} doctor --json"
    sh("chmod 0 /dev/infiniband/uverbs0")
    report = json.loads(sh(f"{limited} || [ $? = 1 ]"))
    finding = find("open-fails", reported(report))
    require(finding.repair == "chmod 666 /dev/infiniband/uverbs0" and "not be opened by this user" in finding.why, finding)
    sh(finding.repair)
    sh(limited)


# Fragments of one datagram, which netem sends at once, and a backlog of one packet.
BURSTS = """
sysctl -qw net.core.netdev_max_backlog=1
tc qdisc add dev eth0 root netem delay 5ms
ip neigh replace 10.77.0.2 lladdr 02:00:00:00:00:02 dev eth0
setsid ping -q -i 0.02 -W 1 -s 60000 10.77.0.2 >/tmp/ping 2>&1 & echo $! >/tmp/ping.pid
"""
# Datagrams to all, whatever becomes of them.
SENDER = """
import socket, time
it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
it.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
while True:
    try:
        it.sendto(bytes(1000), ("10.77.0.255", 9))
    except OSError:
        pass
    time.sleep(0.005)
"""
SENDING = f"setsid python3 -c '{SENDER}' >&- 2>&- & echo $! >/tmp/sender.pid; sleep 1"
NOT_SENDING = "kill $(cat /tmp/sender.pid)"
NO_BURSTS = "kill $(cat /tmp/ping.pid); tc qdisc del dev eth0 root; sysctl -qw net.core.netdev_max_backlog=1000"


# A counter that another file takes the place of: each write replaces the number whole, so no reader finds the file empty.
COUNTER = """
import os, time
file = os.open("/tmp/missed", os.O_WRONLY)
for count in range(1, 100000000):
    os.pwrite(file, b"%9d\\n" % count, 0)
    time.sleep(0.02)
"""


def missed_packets():
    """No virtual card overruns its ring at will: another file takes the place of the counter."""
    counter = "/sys/class/net/eth0/statistics/rx_missed_errors"
    sh(f"ip link set eth0 mtu 9000; echo 0 >/tmp/missed; mount --bind /tmp/missed {counter}; "
       f"setsid python3 -c '{COUNTER}' >&- 2>&- & echo $! >/tmp/missed.pid; "
       f"until [ $(cat {counter}) -gt 0 ]; do sleep 0.1; done")
    try:
        require("ethtool -G eth0" in find("card-drops").repair, "wrong repair")
    finally:
        attempt(f"kill $(cat /tmp/missed.pid); umount {counter}")
    healthy()


def links_and_library(cases):
    cases.broken("library_missing", "library-missing", "rm /etc/libibverbs.d/hroce.driver")
    cases.run("doctor.library_closed", closed_device)
    cases.broken("port_of_rxe", "port-busy",
                 "rdma link del hroce0 && modprobe rdma_rxe && rdma link add hroce0 type hroce netdev eth0")
    cases.broken("port_of_process", "port-busy",
                 "rdma link del hroce0; setsid python3 -c 'import ctypes, socket, time; "
                 # A name that looks like the first process in the output of ss.
                 "ctypes.CDLL(None).prctl(15, b\"x\\\",pid=1,fd=3),(\"); s = socket.socket(socket.AF_INET, "
                 "socket.SOCK_DGRAM); s.bind((\"\", 4791)); time.sleep(600)' >&- 2>&- & "
                 "until ss -Hlnu 'sport = :4791' | grep .; do sleep 0.1; done; "
                 "rdma link add hroce0 type hroce netdev eth0")
    cases.broken("renamed", "renamed", "rdma dev set hroce0 name rocex2ea75d141f00",
                 "rm -f /etc/udev/rules.d/60-rdma-persistent-naming.rules")


def netdevs(cases):
    cases.broken("netdev_down", "netdev-down", "ip link set eth0 down", ADDRESS6)
    cases.broken("no_carrier", "no-carrier", "ip link set peer0 down", by_hand="ip link set peer0 up")
    cases.broken("no_address", "no-address", "ip address flush dev eth0 scope global", ADDRESS6,
                 **{"ADDRESS/PREFIX": "10.77.0.1/24"})
    cases.run("doctor.duplicate_address", duplicate_repaired)
    cases.run("doctor.gids", full_table)
    cases.broken("peer_address", "gid-missing", "ip address add 10.78.0.1 peer 10.79.0.1/32 dev eth0",
                 "ip address flush dev eth0 to 10.78.0.1")
    cases.broken("mtu_small", "mtu-small", "ip link set eth0 mtu 1000", "ip link set eth0 mtu 9000")
    cases.broken("route_mtu", "route-mtu", "ip route replace 10.79.0.0/24 via 10.77.0.2 dev eth0 mtu 1400")
    cases.broken("route_mtu_locked", "route-mtu", "ip route replace 10.79.1.0/24 dev eth0 mtu lock 1400")
    cases.broken("arp_ignore", "arp-ignore",
                 "ip link add mv0 link eth0 type macvlan mode bridge && ip address add 10.77.0.99/24 dev mv0 && "
                 "ip link set mv0 up && rdma link add hroce1 type hroce netdev mv0",
                 "rdma link del hroce1; ip link del mv0; rm -f /etc/sysctl.d/30-hroce.conf")
    cases.broken("vlan_priority", "vlan-priority",
                 f"{VLAN} && mkdir {TOS.format('hroce5', 104)}", f"rmdir /sys/kernel/config/rdma_cm/hroce5; {NO_VLAN}")
    cases.broken("scatter_gather", "offloads", "ethtool -K eth0 sg off")
    cases.broken("checksums", "offloads", "ethtool -K eth0 tx off")
    cases.broken("switch_off", "switch-off",
                 f"[ -e {SWITCHES} ] || mount -t debugfs debugfs /sys/kernel/debug; echo N >{SWITCHES}/gso")
    # A queue that holds nothing, and one that somebody made, which holds a packet or two.
    cases.broken("qdisc_drops", "qdisc-drops", f"tc qdisc add dev eth0 root pfifo limit 0; {SENDING}",
                 f"{NOT_SENDING}; tc qdisc del dev eth0 root")
    cases.broken("qdisc_drops_of_shaper", "qdisc-drops",
                 f"tc qdisc add dev eth0 root tbf rate 8kbit burst 2000 limit 2000; {SENDING}",
                 f"{NOT_SENDING}; tc qdisc del dev eth0 root", by_hand="tc qdisc del dev eth0 root")
    cases.broken("backlog_drops", "backlog-drops", BURSTS, NO_BURSTS)
    cases.run("doctor.card_drops", missed_packets)


def nft(hook, *rules, policy="accept", family="inet", device=""):
    """A table t with the chain c at this hook, and the chain other."""
    chain = f"chain {family} t c {{ type filter hook {hook} {device} priority 0; policy {policy}; }}"
    lines = [f"add table {family} t", f"add chain {family} t other", f"add {chain}"]
    lines += [f"add rule {family} t {rule if rule.startswith('other ') else 'c ' + rule}" for rule in rules]
    return "nft -f - <<'NFT'\n" + "\n".join(lines) + "\nNFT"


# Rules that let RoCEv2 pass, as people write them.
HARMLESS = {
    "accepted_before_policy": nft("input", "udp dport 4791 accept", policy="drop"),
    "accepted_in_set": nft("input", "udp dport { 53, 4000-5000 } accept", policy="drop"),
    "accepted_by_jump": nft("input", "other meta l4proto udp accept", "jump other", policy="drop"),
    "accepted_by_map": nft("input", "meta l4proto vmap { tcp : drop, udp : accept }", policy="drop"),
    "accepted_from_network": nft("input", "ip saddr 10.0.0.0/8 accept", "meta nfproto ipv6 accept", policy="drop"),
    "other_netdev": nft("input", 'iifname "eth7" drop'),
    "other_port": nft("input", "udp dport 4792 drop", "tcp dport 4791 drop", "udp dport != 4791 drop"),
    "invalid_dropped": nft("prerouting", "ct state invalid drop"),
}
HARMFUL = {
    "input": nft("input", "udp dport 4791 drop"),
    "output": nft("output", "udp dport 4791 drop"),
    "prerouting": nft("prerouting", "udp dport 4791 drop"),
    "postrouting": nft("postrouting", "udp dport 4791 drop"),
    "ingress": nft("ingress", "udp dport 4791 drop", family="netdev", device="device eth0"),
    "policy": nft("input", "ct state established,related accept", 'iifname "lo" accept', "tcp dport 22 accept",
                  policy="drop"),
    "jump": nft("input", "other udp dport 4000-5000 drop", "jump other"),
    "map": nft("input", "udp dport vmap { 53 : accept, 4791 : drop }"),
    "netdev": nft("output", 'oifname "eth*" meta l4proto udp drop'),
    "iptables": "iptables-nft -A INPUT -p udp --dport 4791 -j DROP",
    "ip6tables_policy": "ip6tables-nft -A INPUT -p tcp --dport 22 -j ACCEPT && ip6tables-nft -P INPUT DROP",
}


def firewalls(cases):
    """No other check looks at rules, so all of them run with the first of the harmful ones alone."""
    checks = checks_of("firewall")
    for name, rules in HARMLESS.items():
        def passes(rules=rules):
            sh(rules)
            healthy(checks)
        cases.run(f"doctor.firewall_{name}", passes)
        sh("nft flush ruleset")
    for name, rules in HARMFUL.items():
        cases.broken(f"firewall_{name}", "firewall", rules, "nft flush ruleset",
                     **({} if name == "input" else {"checks": checks}))


def main():
    cases = Cases()
    cases.run("doctor.healthy", healthy)
    cases.run("doctor.command", command_agrees)
    cases.run("doctor.usage", usage_is_2)
    cases.run("link.verbs", link_verbs)
    cases.run("link.save", link_save)
    cases.run("link.vlan", vlan)
    cases.run("link.vlan_in_namespace", vlan_in_namespace)
    cases.run("doctor.module", modules)
    cases.run("doctor.headers", headers)
    cases.run("doctor.other_library", other_library)
    cases.run("doctor.library_of_other_release", other_release)
    cases.run("doctor.libibverbs_missing", no_verbs)
    links_and_library(cases)
    cases.run("doctor.healthy_again", healthy)
    cases.run("doctor.locked_memory", locked_memory)
    netdevs(cases)
    cases.run("doctor.healthy_after_netdevs", healthy)
    firewalls(cases)
    cases.run("doctor.healthy_at_end", healthy)
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
