# SPDX-License-Identifier: GPL-2.0
"""The ways that bytes take: topologies, and the systems that they carry.

One guest, two veth pairs:

    init_net    va 10.91.0.1 ====== vb 10.91.0.2    rxe0 on va, rxe1 on vb (rdma_rxe knows no other namespace)
    bench1      ha 10.92.0.1 ====== hb 10.92.0.2    bench2: hroce0 on ha, hroce1 on hb; TCP and UDP too

and the same with two bridges in between, each in a namespace of its own. S cuts super-packets, so that T and the
netdev that receives get each packet as a frame of its own, as from a wire:

    init_net    wva 10.93.0.1 == S == T == wvb 10.93.0.2    rxe2 and rxe3
    bench1      wha 10.94.0.1 == S == T == whb 10.94.0.2    bench2: hroce2 and hroce3; TCP and UDP too
    bench1      wma 10.95.0.1 == S == T == wmb 10.95.0.2    init_net: hroce4 and rxe4, as clients of each other

Impairments are at the ports of S and T that frames leave by, so that each packet meets its own fate, ACKs too.

In init_net the table "local" is left out for these addresses, else frames between them would never see the wire.

Two guests:

    node 1      eth0 10.77.0.1 ==== eth0 10.77.0.2  node 2: hroce0 or rxe0, one at a time, as both want all frames
"""

import dataclasses
import typing

from host import wait_for

MTU = 9000
WIRE_MTUS = (9000, 4200, 1500)
IMPAIRED_MTU = 4200
# The rate of "slow", in MB/s.
SLOW_MBPS = 1500
# Packets that may wait in netem, and for a link.
LONGEST_QUEUE = 100000
LINK_QUEUE = 512
# Path MTUs, and the largest headers of an RC packet over IPv4: IP, UDP, BTH, RETH, ImmDt, ICRC (volume 1, 9.2; A17.3).
PATH_MTUS = (4096, 2048, 1024)
HEADERS = 20 + 8 + 12 + 16 + 4 + 4


def netem(words, limit=LONGEST_QUEUE):
    """A qdisc that does this to packets."""
    return f"netem limit {limit} {words}" if words else ""


def link(words, far):
    """The same in front of a link, for which LINK_QUEUE packets may wait; if it is far, as many as are on the way."""
    rate = "2gbit burst 256k limit 5m" if far else f"5gbit burst 256k limit {LINK_QUEUE * IMPAIRED_MTU}"
    rate = f"tbf rate {rate}"
    # netem's limit counts what it delays, too; but what it reorders passes by its child.
    return f"{netem(words)} ; {rate}" if words.startswith("delay") else f"{rate} ; {netem(words, LINK_QUEUE)}"


def impaired():
    """The qdiscs on the way to the server, and on the way back, by the name of the topology: children behind a ;"""
    ways = {}
    for name, delay in (("", ""), ("_1ms", "delay 500us"), ("_20ms", "delay 10ms")):
        # netem costs time, too, so losses are compared with what loses nothing.
        what = {"delay" + name if name else "loss_0": delay or "loss 0%"}
        what.update({f"loss_{percent}{name}": f"{delay} loss {percent}%".strip() for percent in ("0.1", "1", "5")})
        if not name:
            # Bursts of four packets, 0.4 % of all.
            what["bursts"] = "loss gemodel 0.1% 25%"
            # 5 % of the packets come 500 us late.
            what["late"] = "reorder 95% 25% delay 500us"
        for topology, words in what.items():
            ways[topology] = (netem(words), netem(delay))
            ways[topology + "_link"] = (link(words, name == "_20ms"), netem(delay))
    # A receiver slower than any sender. Beside the queue of 256 packets, 256 KB pass at once.
    ways["slow"] = (f"tbf rate {SLOW_MBPS * 8}mbit burst 256k limit {256 * IMPAIRED_MTU}", "")
    # The same to the client, who gets the answers to READs.
    ways.update({name + "_back": (back, there) for name, (there, back) in ways.items() if there != back})
    return ways


IMPAIRED = impaired()
# hroce as a client of rdma_rxe, and the other way round.
MIXED = {"to_rxe", "from_rxe"}
DEBUGFS = "/sys/kernel/debug/hroce"


class End:
    """Where one of two programs runs: host, network namespace, RDMA device, address for the other one."""

    def __init__(self, host, netns, device, address, gid_address=None):
        self.host = host
        self.netns = netns
        self.device = device
        self.address = address
        self.gid_address = gid_address or address
        self.gid_index = None

    def find_gid(self):
        """Look the index of the RoCEv2 GID up. Return False as long as there is none."""
        octets = [int(octet) for octet in self.gid_address.split(".")]
        gid = "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" % tuple(octets)
        port = f"/sys/class/infiniband/{self.device}/ports/1"
        listing = self.host.output(["grep", "-lx", gid, "-r", f"{port}/gids"], self.netns).split()
        for index in sorted(int(path.rsplit("/", 1)[1]) for path in listing):
            if self.host.output(["cat", f"{port}/gid_attrs/types/{index}"], self.netns).strip() == "RoCE v2":
                self.gid_index = index
                return True
        return False

    def counter(self, name):
        # Other namespaces than the initial one see the device, but not its counters.
        path = f"/sys/class/infiniband/{self.device}/ports/1/hw_counters/{name}"
        return int(self.host.call(["cat", path]))

    def options(self):
        """How perftest and our own programs are told."""
        return ["-d", self.device, "-x", str(self.gid_index)]


@dataclasses.dataclass
class Path:
    """Two ends, and what has to be done before they are used.

    wire: the netdev of the client whose counters tell that bytes went through it
    elide: whether hroce may leave the ICRC out; None where that is not to be touched
    links: what makes the links of these ends, where they are not there all the time
    mtu: of all netdevs between the ends
    impairment: see IMPAIRED
    set_up: sets both, where topologies share the netdevs
    """

    server: End
    client: End
    wire: str | None = None
    elide: bool | None = None
    links: "Links | None" = None
    mtu: int = MTU
    impairment: tuple = ("", "")
    set_up: typing.Callable | None = None

    def path_mtu(self):
        """That of queue pairs, in bytes."""
        return next(mtu for mtu in PATH_MTUS if mtu + HEADERS <= self.mtu)

    def ends(self):
        return [self.server] if self.server is self.client else [self.server, self.client]

    def prepare(self):
        if self.links:
            self.links.use(self)
        if self.set_up:
            self.set_up(self.mtu, self.impairment)
        for end in self.ends():
            if end.device and end.gid_index is None and not wait_for(end.find_gid):
                raise OSError(f"{end.device} has no GID for {end.gid_address}")
            if self.elide is not None:
                end.host.write(f"{DEBUGFS}/{end.device}/elide_icrc", "Y" if self.elide else "N")

    def wire_bytes(self):
        if not self.wire:
            return 0
        statistics = f"/sys/class/net/{self.wire}/statistics"
        return sum(map(int, self.client.host.call(["cat", f"{statistics}/rx_bytes", f"{statistics}/tx_bytes"],
                                                  self.client.netns).split()))


class Links:
    """Links that cannot be there at the same time."""

    def __init__(self):
        self.now = None

    def use(self, path):
        if self.now is path:
            return
        if self.now:
            for end in self.now.ends():
                end.host.call(["rdma", "link", "del", end.device])
            self.now = None
        for end in path.ends():
            end.host.call(["rdma", "link", "add", end.device, "type", end.device.rstrip("0"), "netdev", "eth0"])
            end.gid_index = None
        self.now = path


class Pair:
    """Two netdevs that lead to each other.

    devs: name and network namespace of each; None is the initial one
    net: the number in their addresses, 10.net.0.1 and 10.net.0.2
    topologies: MTU and impairment of each topology that they serve
    exits: between them, what each packet leaves by on its own: on the way to the second one, and on the way back
    """

    def __init__(self, host, devs, net, topologies):
        self.host = host
        self.devs = devs
        self.net = net
        self.topologies = topologies
        self.mtu = MTU
        self.impairment = ("", "")
        self.netdevs = list(devs)
        self.exits = []

    def add_veth(self, here, there):
        words = [["name", dev, "mtu", str(self.mtu), *(["netns", netns] if netns else [])] for dev, netns in (here, there)]
        self.host.call(["ip", "link", "add", *words[0], "type", "veth", "peer", *words[1]])

    def join(self):
        """As the two ends of a veth pair."""
        self.add_veth(*self.devs)

    def join_by_switches(self):
        """With S and T in between, which hand each packet on by itself."""
        switches = [self.devs[0][0] + letter for letter in "ST"]
        ports = [(dev, netns) for netns in switches for dev in ("near", "far")]
        for netns in switches:
            self.host.call(["ip", "netns", "add", netns])
            self.host.call(["ip", "link", "add", "name", "br0", "mtu", str(self.mtu), "type", "bridge"], netns)
            self.host.call(["ip", "link", "set", "br0", "up"], netns)
        self.add_veth(self.devs[0], ports[0])
        self.add_veth(ports[1], ports[2])
        self.add_veth(ports[3], self.devs[1])
        for dev, netns in ports:
            self.host.call(["ip", "link", "set", dev, "master", "br0", "up"], netns)
        # A veth netdev merges what it gets (GRO) only if the other one has no TSO.
        for dev, netns in ports:
            self.host.call(["ethtool", "-K", dev, "tso", "off", "tx-udp-segmentation", "off"], netns)
        for dev, netns in self.devs:
            self.host.call(["ethtool", "-K", dev, "gro", "on"], netns)
        self.netdevs += [*ports, *(("br0", netns) for netns in switches)]
        self.exits = [ports[3], ports[0]]

    def prepare(self, mtu, impairment):
        if mtu != self.mtu:
            for dev, netns in self.netdevs:
                self.host.call(["ip", "link", "set", dev, "mtu", str(mtu)], netns)
            self.mtu = mtu
        if impairment != self.impairment:
            for (dev, netns), before, words in zip(self.exits, self.impairment, impairment):
                if before:
                    self.host.call(["tc", "qdisc", "del", "dev", dev, "root"], netns)
                parent = ["root", "handle", "1:"]
                for qdisc in words.split(";") if words else ():
                    self.host.call(["tc", "qdisc", "add", "dev", dev, *parent, *qdisc.split()], netns)
                    parent = ["parent", "1:"]
            self.impairment = impairment

    def address(self, index):
        return f"10.{self.net}.0.{index + 1}"

    def set_up(self):
        for index, (dev, netns) in enumerate(self.devs):
            self.host.call(["ip", "addr", "add", self.address(index) + "/24", "dev", dev], netns)
            self.host.call(["ip", "link", "set", dev, "up"], netns)

    def add_links(self, kind, first):
        """Return the names of the two RDMA links."""
        names = [f"{kind}{first + index}" for index in (0, 1)]
        for name, (dev, netns) in zip(names, self.devs):
            self.host.call(["rdma", "link", "add", name, "type", kind, "netdev", dev], netns)
        return names

    def reversed_paths(self, system, devices):
        """The same from the second netdev to the first one."""
        paths = self.paths(system, devices)
        for path in paths.values():
            path.server, path.client = path.client, path.server
            path.wire = self.devs[1][0]
            path.impairment = path.impairment[::-1]
        return paths

    def meet_in_one_namespace(self):
        """Rules and addresses by which two netdevs of the initial namespace talk to each other."""
        ethernet = [f"02:00:00:00:{self.net}:0{index}" for index in (1, 2)]
        for this, (dev, _) in enumerate(self.devs):
            mine, other = self.address(this), self.address(1 - this)
            for key, value in (("rp_filter", 0), ("accept_local", 1)):
                self.host.call(["sysctl", "-qw", f"net.ipv4.conf.{dev}.{key}={value}"])
            self.host.call(["ip", "link", "set", dev, "address", ethernet[this]])
            self.host.call(["ip", "rule", "add", "pref", "10", "iif", dev, "lookup", "local"])
            self.host.call(["ip", "rule", "add", "pref", "20", "from", mine, "to", other, "lookup", "91"])
            self.host.call(["ip", "neigh", "replace", other, "lladdr", ethernet[1 - this], "dev", dev,
                            "nud", "permanent"])
            self.host.call(["ip", "route", "add", other + "/32", "dev", dev, "table", "91"])

    def paths(self, system, devices=(None, None), in_namespaces=True, **options):
        """The Path of each topology, from the first netdev to the second one."""
        ends = [End(self.host, netns, device, self.address(index) if in_namespaces else "127.0.0.1",
                    self.address(index)) for index, ((_, netns), device) in enumerate(zip(self.devs, devices))]
        return {(topology, system): Path(ends[1], ends[0], self.devs[0][0], mtu=mtu, impairment=impairment,
                                         set_up=self.prepare, **options)
                for topology, (mtu, impairment) in self.topologies.items()}


def on_one_link(path, **options):
    """The Path from the client of another one to itself."""
    return Path(path.client, path.client, **options)


def add_rxe(host, pairs, paths):
    """rdma_rxe, in the initial namespace."""
    host.call(["modprobe", "rdma_rxe"])
    for key, value in (("rp_filter", 0), ("accept_local", 1)):
        host.call(["sysctl", "-qw", f"net.ipv4.conf.all.{key}={value}"])
    for number, pair in enumerate(pairs):
        pair.set_up()
        pair.meet_in_one_namespace()
        paths.update(pair.paths("rxe", pair.add_links("rxe", 2 * number), in_namespaces=False))
    host.call(["ip", "rule", "add", "pref", "100", "lookup", "local"])
    host.call(["ip", "rule", "del", "pref", "0"])
    paths["local", "rxe"] = on_one_link(paths["veth", "rxe"])


def add_hroce(host, pairs, paths):
    """hroce, between two namespaces."""
    host.call(["modprobe", "hroce"])
    for number, pair in enumerate(pairs):
        paths.update(pair.paths("hroce", pair.add_links("hroce", 2 * number), elide=False))
    veth = paths["veth", "hroce"]
    paths["veth_elided", "hroce"] = dataclasses.replace(veth, elide=True)
    paths["local", "hroce"] = on_one_link(veth, elide=True)


def add_mixed(host, pair, paths):
    """hroce and rdma_rxe, which knows no other namespace than the initial one."""
    pair.join_by_switches()
    pair.set_up()
    devices = ("hroce4", "rxe4")
    for device, (dev, netns) in zip(devices, pair.devs):
        host.call(["rdma", "link", "add", device, "type", device.rstrip("4"), "netdev", dev], netns)
    paths.update(pair.paths("to_rxe", devices))
    paths.update(pair.reversed_paths("from_rxe", devices))


def has_bbr(host):
    """Has the kernel this congestion control of TCP?"""
    known = host.output(["sh", "-c", "modprobe -q tcp_bbr; cat /proc/sys/net/ipv4/tcp_available_congestion_control"])
    return "bbr" in known.split()


def in_one_guest(host, systems):
    """Set everything up. Return the Path of each (topology, system)."""
    paths = {}
    veth, wire = {"veth": (MTU, ("", ""))}, {f"wire_{mtu}": (mtu, ("", "")) for mtu in WIRE_MTUS}
    wire.update({topology: (IMPAIRED_MTU, impairment) for topology, impairment in IMPAIRED.items()})
    pairs = [Pair(host, [("ha", "bench1"), ("hb", "bench2")], 92, veth),
             Pair(host, [("wha", "bench1"), ("whb", "bench2")], 94, wire)]
    rxe_pairs = [Pair(host, [("va", None), ("vb", None)], 91, veth), Pair(host, [("wva", None), ("wvb", None)], 93, wire)]
    for netns in ("bench1", "bench2"):
        host.call(["ip", "netns", "add", netns])
        host.call(["ip", "link", "set", "lo", "up"], netns)
    for direct, switched in (pairs, rxe_pairs):
        direct.join()
        switched.join_by_switches()
    for pair in pairs:
        pair.set_up()
    if "hroce" in systems:
        add_hroce(host, pairs, paths)
    if "rxe" in systems:
        add_rxe(host, rxe_pairs, paths)
    if MIXED & set(systems):
        host.call(["modprobe", "-a", "hroce", "rdma_rxe"])
        add_mixed(host, Pair(host, [("wma", "bench1"), ("wmb", None)], 95, wire), paths)
    for system in ("tcp", "udp", "memcpy"):
        if system in systems:
            for pair in pairs:
                paths.update(pair.paths(system))
            paths["local", system] = on_one_link(paths["veth", system])
    if "bbr" in systems and has_bbr(host):
        for pair in pairs:
            paths.update(pair.paths("bbr"))
    return paths


def between_guests(this, other, systems):
    """The same for two guests, of which this one is node 2."""
    paths = {}
    links = Links()
    # rdma_rxe first: it insists on its UDP port.
    for system, module in (("rxe", "rdma_rxe"), ("hroce", "hroce")):
        if system not in systems:
            continue
        for host in (other, this):
            host.call(["modprobe", module])
        paths["guests", system] = Path(End(other, None, system + "0", "10.77.0.1"),
                                       End(this, None, system + "0", "10.77.0.2"), "eth0", links=links)
    for system in ("tcp", "udp"):
        if system in systems:
            paths["guests", system] = Path(End(other, None, None, "10.77.0.1"), End(this, None, None, "10.77.0.2"),
                                           "eth0")
    return paths
