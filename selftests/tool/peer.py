#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
`hroce doctor PEER`: paths that lose, reorder, damage, are narrow in the middle, or slow one way.

    namespace A: nla on ea <-- veth --> ra, bridge in namespace R, rb <-- veth --> nlb on eb: namespace B
"""
import json
import subprocess

from lib import HERE, TOOL, Cases, attempt, find, listed, reported, require, sh

from hroce_tool import peer

# Made by selftests/tool/prepare.
FAULTY = f"{HERE}/../../build/selftests-tool/faulty/hroce-peer"
PEER = "10.90.0.2"
SERVICE = ["ip", "netns", "exec", "B", TOOL, "doctor", "--serve"]

# Frames as on a wire: netem treats a super-packet as one, and damage shows in the ICRC only.
TOPOLOGY = """
set -e
for ns in A B R; do ip netns add $ns; ip -n $ns link set lo up; done
ip link add ea netns A mtu 4200 type veth peer name ra netns R mtu 4200
ip link add eb netns B mtu 4200 type veth peer name rb netns R mtu 4200
ip -n R link add name bridge0 mtu 4200 type bridge
for it in ra rb; do ip -n R link set $it master bridge0 up; done
ip -n R link set bridge0 up
ip -n A link set ea up && ip -n A address add 10.90.0.1/24 dev ea
ip -n B link set eb up && ip -n B address add 10.90.0.2/24 dev eb
ip netns exec A ping -c 1 -W 10 10.90.0.2
ip netns exec A rdma link add nla type hroce netdev ea
ip netns exec B rdma link add nlb type hroce netdev eb
[ -d /sys/kernel/debug/hroce ] || mount -t debugfs debugfs /sys/kernel/debug
for it in nla nlb; do
    for switch in gso elide_icrc; do echo N >/sys/kernel/debug/hroce/$it/$switch; done
done
"""


def doctor(peer=PEER):
    """The findings as objects, the measurements, and the whole report."""
    done = subprocess.run(["ip", "netns", "exec", "A", TOOL, "doctor", "--json", "--link", "nla", peer],
                          capture_output=True, text=True, check=False)
    require(done.returncode in (0, 1), f"exit status {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    found = reported(report)
    require(done.returncode == bool(found), f"exit status {done.returncode}:\n{listed(found)}")
    return found, report["peer"]


def healthy():
    found, measured = doctor()
    require(not found, listed(found))
    expected = {1 << bit for bit in range(21)} | {4095, 4096, 4097, 8193}
    for direction in ("send", "receive"):
        mine = [it for it in measured if it["direction"] == direction]
        trials = [it for it in mine if "size" in it]
        require(expected <= {it["size"] for it in trials}, mine)
        require(all(it["status"] == "ok" and it["messages"] >= 4 and not it["damaged"] for it in trials), mine)
        require([it for it in mine if it.get("mb_per_s", 0) > 1], mine)
        require([it for it in mine if it.get("dscp_sent") == it.get("dscp_seen") == 26], mine)


def run_repair(repair):
    repair = repair.replace(f"ssh {PEER} ", "ip netns exec B bash -c ")
    done = subprocess.run(["ip", "netns", "exec", "A", "bash", "-c", repair], capture_output=True, text=True,
                          check=False)
    require(done.returncode == 0, f"{repair}\n{done.stderr}")


def path(breaking, identity, words, restore="true", subject=None, only=True):
    """Broken by a command, found with these words, repaired by the command that the finding has, and gone."""
    try:
        sh(breaking)
        found, _measured = doctor()
        one = find(identity, found)
        require(all(word in one.what for word in words), one)
        require(subject in (None, one.subject), one)
        require(not only or len(found) == 1, listed(found))
        run_repair(one.repair)
        found, _measured = doctor()
        require(not any(it.id == identity for it in found), listed(found))
    finally:
        attempt(restore)


def netem(namespace, netdev, words):
    return f"tc -n {namespace} qdisc add dev {netdev} root {words}"


def narrow():
    """The bridge drops what is larger; after the repair packets of both ends are small enough."""
    path("ip -n R link set rb mtu 1500", "black-hole", ["up to", "do not"],
         "ip -n R link set rb mtu 4200; ip -n A link set ea mtu 4200; ip -n B link set eb mtu 4200", only=False)


def other_address():
    """TCP answers at an address that has no link, and at none at all."""
    sh("ip -n R address add 10.90.0.3/24 dev bridge0")
    with subprocess.Popen(["ip", "netns", "exec", "R", TOOL, "doctor", "--serve"], stdout=subprocess.PIPE) as service:
        try:
            service.stdout.readline()
            found, _measured = doctor("10.90.0.3")
            require("10.90.0.3" in find("peer-no-link", found).what, listed(found))
        finally:
            service.terminate()
    found, measured = doctor("10.90.0.1")
    require("--serve" in find("peer-unreachable", found).repair and not measured, listed(found))


def firewall():
    """RoCEv2 alone is dropped, at the peer; the printed command is the doctor there, which finds it."""
    sh("ip netns exec B nft -f - <<'NFT'\ntable inet t {\nchain c {\ntype filter hook input priority 0;\n"
       "udp dport 4791 drop\n}\n}\nNFT")
    try:
        one = find("peer-connect", doctor()[0])
        require(one.repair == f"ssh {PEER} 'hroce doctor'", one)
        there = subprocess.run(["ip", "netns", "exec", "B", TOOL, "doctor"], capture_output=True, text=True,
                               check=False)
        require("[firewall]" in there.stdout, there.stdout)
    finally:
        sh("ip netns exec B nft flush ruleset")


def at_ingress(namespace, netdev, rule):
    """A rule for RoCEv2 packets as they arrive."""
    sh(f"ip netns exec {namespace} nft -f - <<'NFT'\ntable netdev t {{\nchain c {{\n"
       f"type filter hook ingress device {netdev} priority 0;\nudp dport 4791 {rule}\n}}\n}}\nNFT")


def messages_fail():
    """Both ends drop packets of SENDs (opcodes 0 to 5 of RC), and those of the connection manager pass."""
    try:
        for namespace, netdev in (("A", "ea"), ("B", "eb")):
            at_ingress(namespace, netdev, "@th,64,8 0-5 drop")
        one = find("messages-fail", doctor()[0])
    finally:
        for namespace in "AB":
            attempt(f"ip netns exec {namespace} nft flush ruleset")
    require(f"to {PEER}" in one.what and "retry" in one.why and "ethtool -S ea" in one.repair, one)
    healthy()


def dscp():
    """A device between, which takes the DSCP of the other way away; then one that has another."""
    for namespace, netdev, rule, expected in (("R", "rb", "ip dscp set cs0", f"26 arrives as 0 from {PEER} to this node"),
                                              ("R", "ra", "ip dscp set 10", f"26 arrives as 10 from this node to {PEER}")):
        at_ingress(namespace, netdev, rule)
        try:
            found = doctor()[0]
        finally:
            sh(f"ip netns exec {namespace} nft flush ruleset")
        require(len(found) == 1 and expected in find("dscp", found).what, listed(found))
    healthy()


def content():
    """The program that sends changes a byte between making a message and posting it, as bad memory would."""
    sh(f"mount --bind {FAULTY} {peer.program()}")
    try:
        found = doctor()[0]
    finally:
        sh(f"umount {peer.program()}")
    one = find("content", found)
    require(f"to {PEER}" in one.what and not any(it.id in ("damage", "loss") for it in found), listed(found))
    healthy()


def main():
    cases = Cases()
    try:
        sh(TOPOLOGY)
        with subprocess.Popen(SERVICE, stdout=subprocess.PIPE, text=True) as service:
            require("serving" in service.stdout.readline(), "the service does not start")
            cases.run("peer.healthy", healthy)
            cases.run("peer.loss_to", path, netem("A", "ea", "netem loss 2%"), "loss", ["lost", f"to {PEER}"],
                      "tc -n A qdisc del dev ea root", None, False)
            cases.run("peer.loss_from", path, netem("B", "eb", "netem loss 2%"), "loss", ["lost", f"from {PEER}"],
                      "tc -n B qdisc del dev eb root", None, False)
            cases.run("peer.reordering", path, netem("A", "ea", "netem delay 2ms reorder 70% 25%"), "reordering",
                      ["out of order", f"to {PEER}"], "tc -n A qdisc del dev ea root", None, False)
            cases.run("peer.damage", path, netem("B", "eb", "netem corrupt 2%"), "damage", ["rx_drop_icrc"],
                      "tc -n B qdisc del dev eb root", None, False)
            cases.run("peer.slow_to", path, netem("A", "ea", "tbf rate 40mbit burst 20kb limit 1mb"), "asymmetric",
                      [f"From this node to {PEER}"], "tc -n A qdisc del dev ea root", PEER, False)
            cases.run("peer.narrow", narrow)
            cases.run("peer.firewall", firewall)
            cases.run("peer.messages_fail", messages_fail)
            cases.run("peer.content", content)
            cases.run("peer.dscp", dscp)
            cases.run("peer.other_mtu", path, "ip -n A link set ea mtu 9000; ip -n R link set ra mtu 9000; "
                      "ip -n R link set rb mtu 9000; ip -n B link set eb mtu 2300", "peer-mtu", ["9000", "2300"],
                      "for it in 'A ea' 'R ra' 'R rb' 'B eb'; do set -- $it; ip -n $1 link set $2 mtu 4200; done", "ea")
            cases.run("peer.other_address", other_address)
            cases.run("peer.healthy_at_end", healthy)
            service.terminate()
    except Exception as error:  # pylint: disable=broad-except
        cases.case("peer.topology", False, error)
    for link in ("nla", "nlb"):
        attempt(f"rdma link del {link}")
    for namespace in "ABR":
        attempt(f"ip netns del {namespace}")
    return cases.done()


if __name__ == "__main__":
    raise SystemExit(main())
