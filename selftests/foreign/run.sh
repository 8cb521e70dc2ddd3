#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs and libraries that others wrote and Debian ships, between two guests: UCX, Open MPI over UCX, libfabric, uDAPL,
# fio. All are told of is the device, and its GID or address. Node 1 serves, node 2 asks; both must end well, and the
# link must have carried it.
#
#	node 1 (server)                   node 2 (client)
#	+-------------------------+       +-------------------------+
#	| hroce0  10.77.0.1       |<----->| hroce0  10.77.0.2       |
#	|         fd77::1         | eth0  |         fd77::2         |
#	+-------------------------+       +-------------------------+
#
#	run.sh [PATTERN...]	only the cases whose name matches

cd "$(dirname "$0")/../.." || exit 1
. selftests/lib/tap.sh
. selftests/lib/programs.sh

build=${FOREIGN_BUILD:-$PWD/build/selftests-foreign}
link=hroce0
limit=${FOREIGN_LIMIT:-120}
log=/tmp/foreign
patterns=("${@:-*}")
port=14000
server=10.77.0.1
server6=fd77::1
preload=$build/populate.so

# usage: wanted NAME
wanted() { is_wanted "$1" "${patterns[@]}"; }

# Our side of a case. With "stays" set the server is one that does not end by itself.
side() {
	local name=$1 ready=$2 status=0 before pid

	before=$(received $link)
	if [ "$NODE" = 1 ]; then
		timeout -k 5 "$limit" "${serve[@]}" >$log 2>&1 </dev/null &
		pid=$!
		# shellcheck disable=SC2086 # a command with an argument
		wait_for 15 $ready || status=1
		vm-barrier "$name.up"
		[ -z "${stays:-}" ] || { vm-barrier "$name.asked"; kill "$pid"; }
		wait "$pid" || [ -n "${stays:-}" ] || status=$?
	else
		vm-barrier "$name.up"
		timeout -k 5 "$limit" "${ask[@]}" >$log 2>&1 </dev/null || status=$?
		[ -z "${stays:-}" ] || vm-barrier "$name.asked"
	fi
	vm-barrier "$name.done"
	echo "status $status; packets received before: $before, after: $(received $link)"
	echo "\$ $([ "$NODE" = 1 ] && echo "${serve[*]}" || echo "${ask[*]}")"
	cat $log
	[ "$status" = 0 ] && [ "$(received $link)" -gt "$before" ]
}

# usage: both NAME READY SERVER... -- CLIENT...
# READY is a command that succeeds as soon as the server can be talked to.
both() {
	local name=$1 ready=$2 serve=() ask=()

	shift 2
	while [ "$1" != -- ]; do
		serve+=("$1")
		shift
	done
	shift
	ask=("$@")
	tap_case "foreign.$name" side "$name" "$ready"
}


# UCX. Its own endpoints: rc_verbs, which ud_verbs connects, and ud_verbs; and what they carry.

# usage: ucx NAME OPTIONS...
ucx() {
	local name=$1

	wanted "$name" || return
	shift
	port=$((port + 1))
	both "$name" "tcp_listens $port" ucx_perftest -p "$port" "$@" -- ucx_perftest -p "$port" "$@" "$server"
}

# usage: ucp NAME TRANSPORTS OPTIONS...
ucp() {
	UCX_TLS=$2 ucx "$1" -w 10 "${@:3}"
}

# io_demo compares all that it reads and writes (-q), and connects by rdma_cm.
io_demo() {
	local name=$1 address=$2

	wanted "$name" || return
	shift 2
	port=$((port + 1))
	stays=1 both "$name" cm_listens env UCX_SOCKADDR_TLS_PRIORITY=rdmacm /usr/bin/io_demo -q -p "$port" -d 64:100000 "$@" -- \
		/usr/bin/io_demo -q -p "$port" -i 30 -d 64:100000 -o read,write "$@" "$address"
}

# usage: ucx_messages PREFIX
ucx_messages() {
	local prefix=$1 tls

	for tls in rc_verbs ud_verbs; do
		ucx "${prefix}uct_${tls}_am" -d $link:1 -x $tls -t am_lat -n 100 -w 10
		ucp "${prefix}${tls}_tag" $tls,ud_v -t tag_lat -n 100
	done
}

export UCX_NET_DEVICES=$link:1
UCX_IB_GID_INDEX=$(gid_index $link 0000:0000:0000:0000:0000:ffff) && export UCX_IB_GID_INDEX || exit
ucx_messages ucx_
for tls in rc_verbs ud_verbs; do
	ucx "ucx_uct_${tls}_am_zcopy" -d $link:1 -x $tls -t am_bw -D zcopy -s 1000 -n 200 -w 10
	ucp "ucx_${tls}_tag_large" $tls,ud_v -t tag_bw -s 200000 -n 10
done
ucx ucx_uct_put -d $link:1 -x rc_verbs -t put_bw -n 300 -w 10
ucx ucx_uct_get -d $link:1 -x rc_verbs -t get -D bcopy -s 4000 -n 100 -w 10
ucx ucx_uct_fetch_add -d $link:1 -x rc_verbs -t fadd -n 100 -w 10
ucx ucx_uct_compare_swap -d $link:1 -x rc_verbs -t cswap -n 100 -w 10
ucp ucx_stream rc_v,ud_v -t stream_bw -s 3000 -n 50
ucp ucx_tag_list rc_v,ud_v -t tag_bw -D iov,iov -s 100,20000,3000 -n 20
ucp ucx_put rc_v,ud_v -t ucp_put_bw -s 65536 -n 20
ucp ucx_get rc_v,ud_v -t ucp_get -s 65536 -n 20
ucp ucx_am rc_v,ud_v -t ucp_am_bw -s 20000 -n 50
ucp ucx_fetch_add rc_v,ud_v -t ucp_fadd -s 8 -n 100
ucp ucx_swap rc_v,ud_v -t ucp_swap -s 8 -n 100
ucp ucx_compare_swap rc_v,ud_v -t ucp_cswap -s 8 -n 100
UCX_IB_PCI_RELAXED_ORDERING=y ucp ucx_relaxed rc_v,ud_v -t ucp_put_bw -s 200000 -n 10
UCX_IB_NUM_PATHS=4 UCX_MAX_EAGER_RAILS=4 UCX_MAX_RNDV_RAILS=4 ucp ucx_paths rc_v,ud_v -t tag_bw -s 200000 -n 10
io_demo ucx_io_demo $server
io_demo ucx_io_demo_am $server -A
UCX_IB_GID_INDEX=$(gid_index $link fd77) || exit
ucx_messages ucx_ipv6_

# Open MPI, four ranks, over UCX and over libfabric. mpirun has no ssh here: the other guest runs what it is told to.

# usage: mpi NAME PART OPTIONS...
mpi() {
	local name=mpi_$1

	wanted "$name" || return
	export MPI_LAUNCH=$1
	tap_case "foreign.$name" mpi_side "$name" "${@:2}"
}

mpi_side() {
	local name=$1 part=$2 status=0 before command

	shift 2
	before=$(received $link)
	if [ "$NODE" = 1 ]; then
		timeout -k 5 "$limit" mpirun --allow-run-as-root --mca plm_rsh_agent "$PWD/selftests/foreign/rsh-agent" \
			--mca oob_tcp_if_include eth0 --oversubscribe -H node1,node2 -np 4 --map-by node "$@" \
			"$build/mpi" "$part" </dev/null || status=$?
	else
		command=$(vm-get "launch.$MPI_LAUNCH") && eval "$command" || status=$?
	fi
	vm-barrier "$name.done"
	echo "status $status; packets received before: $before, after: $(received $link)"
	[ "$status" = 0 ] && [ "$(received $link)" -gt "$before" ]
}

UCX_IB_GID_INDEX=$(gid_index $link 0000:0000:0000:0000:0000:ffff) || exit
for part in collectives messages windows atomics; do
	mpi $part $part --mca pml ucx --mca osc ucx -x UCX_NET_DEVICES -x UCX_IB_GID_INDEX
done
for part in collectives messages; do
	mpi ofi_$part $part -x LD_PRELOAD="$preload" --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "verbs;ofi_rxm" --mca btl self
done

# libfabric. The programs that come with it in Debian (fabtests does not), and ours for writes and reads. All of their
# memory is there from the begin (populate.c), but for the one that registers it on demand.

# usage: pingpong NAME OPTIONS...
pingpong() {
	local name=fabric_pingpong_$1 program=(env "LD_PRELOAD=$preload" fi_pingpong)

	wanted "$name" || return
	shift
	port=$((port + 1))
	both "$name" "tcp_listens $port" "${program[@]}" -B $port -c -I 20 "$@" -- \
		"${program[@]}" -P $port -c -I 20 "$@" $server
}

rma() {
	local name=fabric_rma$1 program=(env "LD_PRELOAD=$preload" "$build/rma")

	wanted "$name" || return
	port=$((port + 1))
	both "$name" cm_listens "${program[@]}" "verbs;ofi_rxm" $link "$2" $port -- \
		"${program[@]}" -c "verbs;ofi_rxm" $link "$2" $port
}

pingpong msg -p verbs -e msg -S 65536 -d $link
pingpong rxm -p "verbs;ofi_rxm" -e rdm -S 65536 -d $link
pingpong rxm_tagged -p "verbs;ofi_rxm" -e rdm -m tagged -S 1024 -d $link
pingpong rxm_tagged_large -p "verbs;ofi_rxm" -e rdm -m tagged -S 65536 -d $link
preload="" FI_VERBS_USE_ODP=1 pingpong on_demand -p "verbs;ofi_rxm" -e rdm -S 65536 -d $link
FI_VERBS_PREFER_XRC=1 FI_OFI_RXM_USE_SRX=1 pingpong xrc -p "verbs;ofi_rxm" -e rdm -S 65536 -d $link-xrc
pingpong datagrams -p verbs -e dgram -S 1000 -d $link-dgram
rma "" $server
rma _ipv6 $server6

# uDAPL over rdma_cm.

# usage: dapl NAME OPERATION...
dapl() {
	local name=dapl_$1

	wanted "$name" || return
	shift
	stays=1 both "$name" cm_listens dapltest -T S -D $link -- \
		dapltest -T T -s $server -D $link -i 20 -t 1 -w 2 -V "$@"
}

export DAT_OVERRIDE=/tmp/dat.conf
echo "$link u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"eth0 0\" \"\"" >$DAT_OVERRIDE
dapl send client SR 4096 2 server SR 4096 2
dapl write client SR 256 server RW 8192 2 client RW 65536 server SR 256
dapl read client SR 256 server RR 8192 2 client RR 65536 server SR 256

# fio, which compares nothing over RDMA.

# usage: fio_verb VERB
fio_verb() {
	local name=fio_$1

	wanted "$name" || return
	port=$((port + 1))
	both "$name" cm_listens fio --name=server --ioengine=rdma --rw=read --bs=64k --size=8m --iodepth=8 --port=$port -- \
		fio --name=client --ioengine=rdma --rw=write --verb="$1" --bs=64k --size=8m --iodepth=8 \
		--hostname=$server --port=$port
}

fio_verb write
fio_verb read

tap_done
