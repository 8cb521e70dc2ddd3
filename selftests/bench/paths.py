# SPDX-License-Identifier: GPL-2.0
"""The ways that bytes take: topologies, and the systems that they carry.

One guest, two veth pairs:

    init_net    va 10.91.0.1 ====== vb 10.91.0.2    rxe0 on va, rxe1 on vb (rdma_rxe knows no other namespace)
    bench1      ha 10.92.0.1 ====== hb 10.92.0.2    bench2: hroce0 on ha, hroce1 on hb; TCP and UDP too

In init_net the table "local" is left out for the two addresses, else frames between them would never see the wire.

Two guests:

    node 1      eth0 10.77.0.1 ==== eth0 10.77.0.2  node 2: hroce0 or rxe0, one at a time, as both want all frames
"""

import dataclasses

from host import wait_for

MTU = 9000
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

    def options(self):
        """How perftest and our own programs are told."""
        return ["-d", self.device, "-x", str(self.gid_index)]


@dataclasses.dataclass
class Path:
    """Two ends, and what has to be done before they are used.

    wire: the netdev of the client whose counters tell that bytes went through it
    elide: whether hroce may leave the ICRC out; None where that is not to be touched
    links: what makes the links of these ends, where they are not there all the time
    """

    server: End
    client: End
    wire: str | None = None
    elide: bool | None = None
    links: "Links | None" = None

    def ends(self):
        return [self.server] if self.server is self.client else [self.server, self.client]

    def prepare(self):
        if self.links:
            self.links.use(self)
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


def set_rxe_up(host):
    host.call(["modprobe", "rdma_rxe"])
    host.call(["ip", "link", "add", "va", "mtu", str(MTU), "address", "02:00:00:00:91:01", "type", "veth",
               "peer", "name", "vb", "mtu", str(MTU), "address", "02:00:00:00:91:02"])
    for name in ("all", "va", "vb"):
        host.call(["sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter=0", f"net.ipv4.conf.{name}.accept_local=1"])
    for this, that, dev, link in ((1, 2, "va", "rxe0"), (2, 1, "vb", "rxe1")):
        addresses = f"10.91.0.{this}", f"10.91.0.{that}"
        host.call(["ip", "addr", "add", addresses[0] + "/24", "dev", dev])
        host.call(["ip", "link", "set", dev, "up"])
        host.call(["ip", "rule", "add", "pref", "10", "iif", dev, "lookup", "local"])
        host.call(["ip", "rule", "add", "pref", "20", "from", addresses[0], "to", addresses[1], "lookup", "91"])
        host.call(["ip", "neigh", "replace", addresses[1], "lladdr", f"02:00:00:00:91:{that:02x}", "dev", dev,
                   "nud", "permanent"])
        host.call(["rdma", "link", "add", link, "type", "rxe", "netdev", dev])
    for that, dev in ((2, "va"), (1, "vb")):
        host.call(["ip", "route", "add", f"10.91.0.{that}/32", "dev", dev, "table", "91"])
    host.call(["ip", "rule", "add", "pref", "100", "lookup", "local"])
    host.call(["ip", "rule", "del", "pref", "0"])


def set_namespaces_up(host):
    for netns in ("bench1", "bench2"):
        host.call(["ip", "netns", "add", netns])
        host.call(["ip", "link", "set", "lo", "up"], netns)
    host.call(["ip", "link", "add", "ha", "mtu", str(MTU), "netns", "bench1", "type", "veth",
               "peer", "name", "hb", "mtu", str(MTU), "netns", "bench2"])
    for index, dev in ((1, "ha"), (2, "hb")):
        host.call(["ip", "addr", "add", f"10.92.0.{index}/24", "dev", dev], f"bench{index}")
        host.call(["ip", "link", "set", dev, "up"], f"bench{index}")


def set_hroce_up(host):
    host.call(["modprobe", "hroce"])
    for index, (dev, link) in enumerate((("ha", "hroce0"), ("hb", "hroce1")), 1):
        host.call(["rdma", "link", "add", link, "type", "hroce", "netdev", dev], f"bench{index}")


def in_one_guest(host, systems):
    """Set everything up. Return the Path of each (topology, system)."""
    paths = {}
    set_namespaces_up(host)
    if "hroce" in systems:
        set_hroce_up(host)
        ends = [End(host, f"bench{i + 1}", f"hroce{i}", f"10.92.0.{i + 1}") for i in (0, 1)]
        paths["veth", "hroce"] = Path(ends[1], ends[0], "ha", elide=False)
        paths["veth_elided", "hroce"] = Path(ends[1], ends[0], "ha", elide=True)
        paths["local", "hroce"] = Path(ends[0], ends[0], elide=True)
    if "rxe" in systems:
        set_rxe_up(host)
        ends = [End(host, None, f"rxe{i}", "127.0.0.1", f"10.91.0.{i + 1}") for i in (0, 1)]
        paths["veth", "rxe"] = Path(ends[1], ends[0], "va")
        paths["local", "rxe"] = Path(ends[0], ends[0])
    ends = [End(host, f"bench{i}", None, f"10.92.0.{i}") for i in (1, 2)]
    for system in ("tcp", "udp", "memcpy"):
        if system in systems:
            paths["veth", system] = Path(ends[1], ends[0], "ha")
            paths["local", system] = Path(ends[0], ends[0])
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
