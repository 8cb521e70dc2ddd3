# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# SCSI over RDMA without targetcli or srp_daemon: target by configfs, initiator by sysfs. Source it after lib.sh.

srp_target=/sys/kernel/config/target
srp_port=5555
srp_modules=(ib_srpt target_core_user target_core_pscsi target_core_file target_core_iblock target_core_mod)

# A link's first GID without colons. Its second half is how ib_srp introduces itself.
srp_gid() { tr -d : <"/sys/class/infiniband/$1/ports/1/gids/0"; }

# usage: srp_target_up LINK MEGABYTES INITIATOR-GID
# Offer a disk in memory to one initiator. The service's name is in srp_service afterwards.
srp_target_up() {
	local disk=$srp_target/core/rd_mcp_0/disk tpg acl

	modprobe ib_srpt && mkdir "$srp_target/srpt" && echo "$srp_port" >"$srp_target/srpt/discovery_auth/rdma_cm_port" &&
		mkdir -p "$disk" && echo "rd_pages=$(($2 * 256))" >"$disk/control" && echo 1 >"$disk/enable" || return
	tpg=$srp_target/srpt/0x$(srp_gid "$1")/tpg
	acl=$tpg/acls/0x0000000000000000${3:16}
	mkdir -p "$tpg/lun/lun_0" && ln -s "$disk" "$tpg/lun/lun_0/" && mkdir -p "$acl/lun_0" &&
		ln -s "$tpg/lun/lun_0" "$acl/lun_0/" && echo 1 >"$tpg/enable"
}

srp_service() { cat /sys/module/ib_srpt/parameters/srpt_service_guid; }

srp_target_down() {
	local tpg disk=$srp_target/core/rd_mcp_0/disk

	for tpg in "$srp_target"/srpt/0x*/tpg; do
		rm "$tpg"/acls/*/lun_0/lun_0 && rmdir "$tpg"/acls/*/lun_0 "$tpg"/acls/* && rm "$tpg/lun/lun_0/disk" &&
			rmdir "$tpg/lun/lun_0" "$tpg" "${tpg%/tpg}" || return
	done
	rmdir "$srp_target/srpt" "$disk" "${disk%/disk}" && modprobe -r "${srp_modules[@]}"
}

# usage: srp_connect LINK SERVICE ADDRESS
srp_connect() {
	local service=${2#0x}

	modprobe -a ib_srp sd_mod && echo "id_ext=$service,ioc_guid=$service,dest=$3:$srp_port" \
		>"/sys/class/infiniband_srp/srp-$1-1/add_target" && wait_for 20 srp_disk
}

# The disk's node; fails if there is none.
srp_disk() {
	local vendor

	for vendor in /sys/block/sd*/device/vendor; do
		[[ $(cat "$vendor" 2>/dev/null) == LIO-ORG* ]] || continue
		vendor=${vendor#/sys/block/}
		echo "/dev/${vendor%%/*}"
		return
	done
	return 1
}

# usage: srp_io BYTES
srp_io() {
	local n=$1 disk

	disk=$(srp_disk) || return
	blockio -b 512 -q 8 -s 1 -n $((n / 32)) "$disk" && blockio -b 16384 -q 16 -s 2 -n "$n" -w "$disk" &&
		blockio -b 262144 -q 8 -s 2 -n "$n" -o 512 -r "$disk" && blockio -b 1048576 -q 4 -s 3 -n "$n" "$disk"
}

srp_disconnect() {
	local port

	for port in /sys/class/srp_remote_ports/port-*; do
		echo 1 >"$port/delete" || return
	done
	wait_for 20 srp_gone && modprobe -r ib_srp
}

srp_gone() { ! srp_disk; }
