# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# NVMe over RDMA without nvme-cli: target and host by configfs, sysfs and /dev/nvme-fabrics. Source it after lib.sh,
# at the top of the tree.

nvme_nqn=hroce-selftest
nvme_port=4420
nvmet=/sys/kernel/config/nvmet
nullb=/sys/kernel/config/nullb/nullb0

# usage: target_up MEGABYTES ADDRESS...
# Offer a disk in memory at each address.
target_up() {
	local mb=$1 address n=0

	shift
	# shellcheck disable=SC2086 # there may be several parameters
	modprobe null_blk nr_devices=0 && modprobe nvmet-rdma ${nvmet_params:-} || return
	mkdir "$nullb" && echo "$mb" >"$nullb/size" && echo 1 >"$nullb/memory_backed" &&
		echo 1 >"$nullb/discard" && echo 1 >"$nullb/power" || return
	mkdir "$nvmet/subsystems/$nvme_nqn" && cd "$nvmet/subsystems/$nvme_nqn" || return
	echo 1 >attr_allow_any_host && mkdir namespaces/1 && echo /dev/nullb0 >namespaces/1/device_path &&
		echo 1 >namespaces/1/enable || return
	for address in "$@"; do
		target_port "$((++n))" "$address" || return
	done
}

# usage: target_port NUMBER ADDRESS
target_port() {
	local family=ipv4

	[[ $2 != *:* ]] || family=ipv6
	mkdir "$nvmet/ports/$1" && cd "$nvmet/ports/$1" && echo rdma >addr_trtype && echo "$family" >addr_adrfam &&
		echo "$2" >addr_traddr && echo "$nvme_port" >addr_trsvcid &&
		echo "${target_inline:-16384}" >param_inline_data_size &&
		ln -s "$nvmet/subsystems/$nvme_nqn" subsystems/
}

target_down() {
	local port

	[ -d "$nvmet" ] || return 0
	for port in "$nvmet"/ports/*; do
		[ -d "$port" ] || continue
		rm -f "$port/subsystems/$nvme_nqn" && rmdir "$port" || return
	done
	[ ! -d "$nvmet/subsystems/$nvme_nqn" ] ||
		rmdir "$nvmet/subsystems/$nvme_nqn"/namespaces/1 "$nvmet/subsystems/$nvme_nqn" || return
	[ ! -d "$nullb" ] || rmdir "$nullb" || return
	modprobe -r nvmet-rdma nvmet null_blk
}

# usage: host_connect ADDRESS [OPTION=VALUE...]
host_connect() {
	local address=$1 options option reply

	shift
	# shellcheck disable=SC2086 # there may be several parameters
	modprobe nvme-rdma ${nvme_params:-} || return
	options="transport=rdma,traddr=$address,trsvcid=$nvme_port,nqn=$nvme_nqn"
	for option in "$@"; do
		options+=,$option
	done
	exec 3<>/dev/nvme-fabrics || return
	if ! echo "$options" >&3; then
		echo "connect failed: $options"
		dmesg | tail -n 12
		return 1
	fi
	read -r reply <&3
	echo "$reply"
	exec 3>&-
	wait_for 20 host_state live && wait_for 20 host_disk
}

# The controller's directory in sysfs, and the disk's node; they fail if there is none.
host_ctrl() { compgen -G '/sys/class/nvme/nvme*'; }

host_disk() {
	local nqn

	for nqn in /sys/block/nvme*n*/device/subsysnqn; do
		nqn=${nqn#/sys/block/}
		[ -b "/dev/${nqn%%/*}" ] || continue
		echo "/dev/${nqn%%/*}"
		return
	done
	return 1
}

# usage: host_state STATE
host_state() { [ "$(cat "$(host_ctrl)/state" 2>/dev/null)" = "$1" ]; }

host_disconnect() {
	local ctrl

	ctrl=$(host_ctrl) && echo 1 >"$ctrl/delete_controller" && wait_for 20 host_gone && modprobe -r nvme-rdma
}

host_gone() { ! compgen -G '/sys/class/nvme/nvme*' >/dev/null && ! compgen -G '/sys/block/nvme*' >/dev/null; }

# usage: host_io BYTES
# Requests from one sector to a megabyte; what some wrote is read by others.
host_io() {
	local n=$1 disk run

	disk=$(host_disk) || return
	run="blockio -n $n"
	# Data within the command, in one and in several pieces; then by RDMA READ and WRITE.
	$run -b 512 -q 8 -s 1 -n $((n / 32)) "$disk" &&
		$run -b 4096 -q 16 -s 2 -n $((n / 4)) -o 512 "$disk" &&
		$run -b 16384 -q 16 -s 3 -o 2560 -w "$disk" &&
		$run -b 131072 -q 8 -s 3 -o 8 -r "$disk" &&
		$run -b 131072 -q 32 -s 4 -w "$disk" &&
		$run -b 1048576 -q 4 -s 4 -o 512 -r "$disk" &&
		$run -b 1048576 -q 4 -s 5 "$disk" &&
		$run -b 65536 -q 64 -s 5 -r "$disk"
}

# A program that everybody knows: what it wrote it reads again, and compares.
host_fio() {
	local disk job rw size depth

	disk=$(host_disk) || return
	for job in "randwrite 4k 32" "write 128k 8" "randrw 64k 16"; do
		read -r rw size depth <<<"$job"
		fio --name="$rw" --filename="$disk" --rw="$rw" --bs="$size" --iodepth="$depth" --size=8m --direct=1 \
			--ioengine=libaio --verify=crc32c --verify_fatal=1 --verify_state_save=0 || return
	done
}

# Commands with no data, and with data that is not the user's.
host_discard() {
	local disk

	disk=$(host_disk) || return
	blockio -b 65536 -n 1048576 -s 6 "$disk" && blkdiscard -l 1048576 "$disk" &&
		blkdiscard -z -o 524288 -l 1048576 "$disk" &&
		cmp -n 1048576 "$disk" /dev/zero
}

# usage: requests DISK
# How many reads and writes there have been.
requests() {
	local fields

	read -ra fields <"/sys/block/${1#/dev/}/stat" && echo $((fields[0] + fields[4]))
}

# usage: requests_beyond NUMBER DISK
requests_beyond() { [ "$(requests "$2")" -gt "$1" ]; }
