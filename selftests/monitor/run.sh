#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Monitoring, in a guest: node_exporter of Debian 12 and 13, Prometheus, and the commands of Documentation/monitoring.rst.
#
#	run.sh software		two links of hroce, nla and nlb, on a veth pair (net/lib.sh)
#	run.sh hardware		a link over rdma_rxe, and over stub cards:
#
#	initial namespace                        namespace neB-PID
#	+--------------------------------+       +---------------------------+
#	| ofl   hroce over the card      |       | ofp  hroce, software      |
#	| ofx   rdma_rxe, or             |       |                           |
#	| mlx5_9, mlx4_9  stub cards     |       |                           |
#	| veth  ia  10.96.0.1            |<----->| veth ib  10.96.0.2        |
#	+--------------------------------+       +---------------------------+
#
# Needs monitor/prepare, and for hardware offload/prepare (run --no-load).

. "$(dirname "$0")/../net/lib.sh"

tree=$(cd .. && pwd -P)
caches=${HROCE_CACHE:-$HOME/.cache/hroce}
textfiles=/var/lib/prometheus/node-exporter
metrics=/tmp/metrics-$id
url=http://127.0.0.1:9100/metrics
daemons=/tmp/daemons-$id
writes=100
size=65536

# Cases are subshells: those to be ended are in a file.
stop() {
	local pid

	[ -e "$daemons" ] || return 0
	while read -r pid; do
		kill "$pid" 2>/dev/null
		wait_for 20 bash -c "! kill -0 $pid" || return
	done <"$daemons"
	rm "$daemons"
}
away() {
	local card

	stop
	for card in ofx mlx5_9 mlx4_9; do rdma link del $card; done
	ip link del ia
	cleanup
} 2>/dev/null
trap away EXIT

fetch() { curl -sf "$url" >"$metrics"; }

# usage: export_with bookworm|trixie [OPTION...]
export_with() {
	local version

	stop || return
	mkdir -p $textfiles
	"$caches/monitor-$1/prometheus-node-exporter" --collector.disable-defaults --collector.infiniband \
		--collector.textfile --collector.textfile.directory=$textfiles --log.level=debug "${@:2}" >"/tmp/exporter-$id" 2>&1 &
	echo $! >>"$daemons"
	wait_for 60 fetch || { cat "/tmp/exporter-$id"; return 1; }
	version=$("$caches/monitor-$1/prometheus-node-exporter" --version 2>&1 | sed -n 's/.*version \([0-9.]*\).*/\1/p') &&
		grep "^node_exporter_build_info{.*version=\"$version\"" "$metrics"
}

# usage: exported METRIC LINK: its value, of the last fetch
exported() {
	local value

	value=$(sed -n "s/^node_infiniband_$1{device=\"$2\",port=\"1\"} //p" "$metrics")
	[ -n "$value" ] || { echo "no $1 of $2" >&2; return 1; }
	printf '%.0f\n' "$value"
}

collector_succeeds() {
	fetch && grep -qx 'node_scrape_collector_success{collector="infiniband"} 1' "$metrics" ||
		{ grep ^node_scrape "$metrics"; tail -n 5 "/tmp/exporter-$id"; return 1; }
}

# usage: file LINK NAME
file() { cat "/sys/class/infiniband/$1/ports/1/counters/$2"; }

# usage: is_exported LINK FILE FACTOR METRIC
is_exported() {
	local have

	have=$(exported "$4" "$1") && [ "$have" = $(($(file "$1" "$2") * $3)) ] || { echo "$1 $2: $have"; return 1; }
}

# usage: equals_sysfs LINK...
equals_sysfs() {
	local link

	fetch || return
	for link; do
		is_exported "$link" port_xmit_data 4 port_data_transmitted_bytes_total &&
			is_exported "$link" port_rcv_data 4 port_data_received_bytes_total &&
			is_exported "$link" port_xmit_packets 1 port_packets_transmitted_total &&
			is_exported "$link" port_rcv_packets 1 port_packets_received_total &&
			is_exported "$link" unicast_xmit_packets 1 unicast_packets_transmitted_total &&
			is_exported "$link" multicast_rcv_packets 1 multicast_packets_received_total &&
			is_exported "$link" port_xmit_discards 1 port_discards_transmitted_total &&
			is_exported "$link" port_rcv_errors 1 port_errors_received_total &&
			is_exported "$link" link_downed 1 link_downed_total || return
		grep "^node_infiniband_info{.*device=\"$link\"" "$metrics" | grep -q "$(cat "/sys/class/infiniband/$link/board_id")" ||
			{ grep info "$metrics"; return 1; }
	done
}

# usage: gid_of LINK ADDRESS
gid_of() { ibv_devinfo -v -d "$1" | sed -n "s/.*GID\[ *\([0-9]*\)\]:[[:space:]]*::ffff:${2//./\\.}.*/\1/p" | head -1; }

# usage: written SERVER-LINK ADDRESS NAMESPACE CLIENT-LINK ADDRESS NAMESPACE: WRITEs from client to server, MTU 1024
written() {
	local port=$((19000 + RANDOM % 900)) pid status=0 options server=() client=()

	options=(-m 1024 -F -s "$size" -n "$writes" -p "$port")
	[ -z "$3" ] || server=(ip netns exec "$3")
	[ -z "$6" ] || client=(ip netns exec "$6")
	timeout 120 "${server[@]}" ib_write_bw -d "$1" -x "$(gid_of "$1" "$2")" "${options[@]}" >"/tmp/server-$id" 2>&1 &
	pid=$!
	wait_for 30 bash -c "${server[*]} ss -ltn | grep -q ':$port '" &&
		timeout 120 "${client[@]}" ib_write_bw -d "$4" -x "$(gid_of "$4" "$5")" "${options[@]}" "$2" >"/tmp/client-$id" 2>&1 ||
		status=1
	[ $status = 0 ] || kill $pid
	wait $pid || status=1
	[ $status = 0 ] || cat "/tmp/server-$id" "/tmp/client-$id"
	return $status
}

# The bytes of these WRITEs, by length of headers: IPv4 20, UDP 8, BTH 12, ICRC 4, and a RETH of 16 in the first.
packets=$((writes * size / 1024))
bytes=$((writes * (size + 16) + packets * 44))

# usage: grown METRIC LINK: of what fetch has now, since remember
remember() { fetch && cp "$metrics" "$metrics.before"; }
grown() {
	local now before

	now=$(exported "$1" "$2") && before=$(metrics=$metrics.before exported "$1" "$2") && echo $((now - before))
}

# A busy machine makes timeouts expire: then the number of packets is another one, and all is tried again.
equals_traffic() {
	local sent received lost

	for _ in 1 2 3; do
		lost=$(counter nla retransmits)
		remember && written nlb 10.90.0.2 "$nsB" nla 10.90.0.1 "$nsA" || return
		fetch
		sent="$(grown port_packets_transmitted_total nla) $(grown port_data_transmitted_bytes_total nla)"
		received="$(grown port_packets_received_total nlb) $(grown port_data_received_bytes_total nlb)"
		echo "sent $sent, received $received, expected $packets $bytes"
		[ "$sent" != "$packets $bytes" ] || [ "$received" != "$sent" ] || return 0
		sleep 0.1
		[ "$lost" != "$(counter nla retransmits)" ] || return 1
	done
	return 1
}

# A field of 8 bits that stays at its maximum.
link_downed_stops() {
	local before

	before=$(file nla link_downed)
	for _ in {1..260}; do echo "link set ea down"; echo "link set ea up"; done >"/tmp/batch-$id"
	ip -n "$nsA" -batch "/tmp/batch-$id" && [ "$before" -lt 200 ] && [ "$(file nla link_downed)" = 255 ] &&
		fetch && [ "$(exported link_downed_total nla)" = 255 ]
}

port_state_is_told() {
	fetch && [ "$(exported state_id nla)" = 4 ] && ip -n "$nsA" link set ea down || return
	wait_for 5 grep -q DOWN /sys/class/infiniband/nla/ports/1/state && fetch && [ "$(exported state_id nla)" = 1 ] || return
	ip -n "$nsA" link set ea up && wait_for 5 grep -q ACTIVE /sys/class/infiniband/nla/ports/1/state && reaches "$nsA" 10.90.0.2
}

# The blocks of commands of the guide, but those that other groups run; a 0 byte behind each
guide_to_run() {
	awk '/^\.\. commands: (not run|is no command)/ { skip = 1 }
	     /::$/ { literal = 1; next }
	     literal && /^    / { block = block substr($0, 5) "\n"; next }
	     block && /^[^ ]/ { if (!skip) printf "%s%c", block, 0; block = ""; literal = skip = 0 }' \
		Documentation/monitoring.rst
}

# They succeed, each block in a shell of its own, from the text and in order.
guide() {
	local block

	cd "$tree" && PATH=$PATH:/usr/local/bin:$caches/monitor-bookworm || return
	while IFS= read -r -d '' block; do
		bash -veo pipefail -c "$block" || return
	done < <(guide_to_run)
	grep -q ^hroce_rx_bytes_total $textfiles/hroce.prom
}

# Why perfquery cannot work; the same on rdma_rxe.
perfquery_says_why() { ! perfquery -C "$1" -P 1 >"/tmp/pq-$id" 2>&1 && grep "client_register for mgmt 1 failed" "/tmp/pq-$id"; }

# Each query of the dashboard has an answer, and each rule, on a Prometheus that watches this machine under traffic.
dashboard() {
	cat >"/tmp/prometheus-$id.yml" <<-YML
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: ["$tree/Documentation/monitoring/alerts.yml"]
		scrape_configs: [{job_name: node, static_configs: [{targets: ["127.0.0.1:9100"]}]}]
	YML
	"$tree/Documentation/monitoring/hroce-metrics" $textfiles/hroce.prom || return
	"$caches/monitor-bookworm/prometheus" --config.file="/tmp/prometheus-$id.yml" --storage.tsdb.path="/tmp/tsdb-$id" \
		--web.listen-address=127.0.0.1:9090 >"/tmp/prometheus-$id" 2>&1 &
	echo $! >>"$daemons"
	python3 -B monitor/dashboard.py "$tree/Documentation/monitoring/dashboard.json" "$metrics" http://127.0.0.1:9090 ||
		{ tail -n 20 "/tmp/prometheus-$id"; return 1; }
}

alerts_fire() { "$caches/monitor-bookworm/promtool" test rules monitor/alerts-test.yml; }

run_software() {
	local suite

	tap_case monitor.links two_ends
	knob nla elide_icrc N
	for suite in bookworm trixie; do
		tap_case monitor.${suite}_starts export_with $suite
		tap_case monitor.${suite}_collector_succeeds collector_succeeds
		tap_case monitor.${suite}_equals_traffic equals_traffic
		tap_case monitor.${suite}_equals_sysfs equals_sysfs nla nlb
	done
	tap_case monitor.port_state_is_told port_state_is_told
	tap_case monitor.guide guide
	tap_case monitor.dashboard dashboard
	tap_case monitor.alerts_fire alerts_fire
	tap_case monitor.link_downed_stops link_downed_stops
	tap_case monitor.perfquery_says_why perfquery_says_why nla
}

# Hardware.

becomes() { wait_for 20 grep -qx "$1" /sys/class/infiniband/ofl/offload/mode; }

over_rxe() {
	modprobe -a rdma_ucm ib_uverbs ib_umad rdma_rxe hroce && new_ns "$nsB" || return
	ip link add ia mtu 4200 type veth peer name ib netns "$nsB" mtu 4200 || return
	ip link set ia up && ip address add 10.96.0.1/24 dev ia && address "$nsB" ib 2 96 && reaches "$nsB" 10.96.0.1 || return
	echo mlx5,mlx4,rxe >/sys/module/hroce/parameters/offload_drivers
	rdma link add ofx type rxe netdev ia && add_link "$nsB" ofp ib || return
	rdma link add ofl type hroce netdev ia && links+=(ofl) && becomes hardware || return
	# rdma_rxe 6.12 has no counters/ itself, and so hides all devices: the exporter sees the links only.
	mkdir -p "/tmp/sys-$id/class/infiniband" && cd "/tmp/sys-$id/class/infiniband" &&
		ln -s /sys/class/infiniband/ofl /sys/class/infiniband/ofp .
}

# rdma_rxe counts packets, and no bytes. The peer has counted the same.
equals_traffic_of_rxe() {
	local before sent

	for _ in 1 2 3; do
		before=$(cat /sys/class/infiniband/ofx/ports/1/hw_counters/sent_pkts)
		remember && written ofp 10.96.0.2 "$nsB" ofl 10.96.0.1 "" || return
		sleep 0.1
		fetch
		sent=$(($(cat /sys/class/infiniband/ofx/ports/1/hw_counters/sent_pkts) - before))
		echo "rdma_rxe $sent, link $(grown port_packets_transmitted_total ofl), peer $(grown port_packets_received_total ofp)," \
			"expected $packets"
		[ "$sent" -ge "$packets" ] && [ "$(grown port_packets_transmitted_total ofl)" = "$sent" ] &&
			[ "$(grown port_packets_received_total ofl)" -gt 0 ] || return
		[ "$(grown port_packets_received_total ofp)" != "$packets" ] || [ "$sent" != "$packets" ] || return 0
	done
	return 1
}

stub_cards() {
	rdma link del ofx && becomes software && insmod "$tree/build/standin-$(uname -r)/standin.ko" traffic=1000
}

# usage: passed_on CARD TYPE PORT: the link reports the counters of that port of the card
passed_on() {
	local it n=$((1000 * $3))

	rdma link add "$1" type "$2" netdev ia && becomes hardware &&
		wait_for 5 grep -qx "$1/$3" /sys/class/infiniband/ofl/offload/lower || return
	# The files of its port are there a moment after those of the device.
	wait_for 10 collector_succeeds || { collector_succeeds; return 1; }
	equals_sysfs ofl ofp || return
	[ "$(cat /sys/class/infiniband/ofl/board_id)" = "of-$1/$3" ] || return
	for it in "port_xmit_packets $n" "port_rcv_packets $((n + 1))" "port_xmit_data $((n * 256))" \
		"port_rcv_data $((n * 256 + 1))" "symbol_error $3"; do
		[ "$(file ofl "${it% *}") " = "${it#* } " ] || { echo "$it: $(file ofl "${it% *}")"; return 1; }
		[ "$(cat "/sys/class/infiniband/$1/ports/$3/counters/${it% *}")" = "${it#* }" ] || { echo "card: $it"; return 1; }
	done
	[ "$(exported port_data_transmitted_bytes_total ofl)" = $((n * 1024)) ] &&
		echo 5 >/sys/module/standin/parameters/traffic && [ "$(file ofl port_xmit_packets)" = $((5 * $3)) ] || return
	echo 1000 >/sys/module/standin/parameters/traffic
	rdma link del "$1" && becomes software && [ "$(cat /sys/class/infiniband/ofl/board_id)" = software ]
}

# The card goes and comes while its counters are being read through the link.
read_while_pulled() {
	local pid status=0

	while :; do cat /sys/class/infiniband/ofl/ports/1/counters/* /sys/class/infiniband/ofl/board_id; done >/dev/null 2>&1 &
	pid=$!
	for _ in {1..10}; do
		rdma link add mlx5_9 type standin5 netdev ia && becomes hardware && rdma link del mlx5_9 && becomes software ||
			{ status=1; break; }
	done
	kill $pid
	wait $pid
	return $status
} 2>/dev/null

run_hardware() {
	local suite

	tap_case monitor.over_rxe over_rxe
	for suite in bookworm trixie; do
		tap_case monitor.rxe_${suite}_starts export_with $suite --path.sysfs="/tmp/sys-$id"
		tap_case monitor.rxe_${suite}_collector_succeeds collector_succeeds
		tap_case monitor.rxe_${suite}_equals_traffic equals_traffic_of_rxe
		tap_case monitor.rxe_${suite}_equals_sysfs equals_sysfs ofl ofp
	done
	tap_case monitor.perfquery_says_the_same_of_rxe perfquery_says_why ofx
	tap_case monitor.stub_cards stub_cards
	for suite in bookworm trixie; do
		tap_case monitor.cards_${suite}_starts export_with $suite
		tap_case monitor.cards_${suite}_mlx5 passed_on mlx5_9 standin5 1
		tap_case monitor.cards_${suite}_mlx4_second_port passed_on mlx4_9 standin4 2
	done
	tap_case monitor.read_while_pulled read_while_pulled
}

"run_${1:?software or hardware}"
tap_done
