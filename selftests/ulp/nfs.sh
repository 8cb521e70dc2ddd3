# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# NFS over RDMA without any of its daemons: what mountd would be asked is told the kernel beforehand. Version 4.2 alone,
# on port 20049 alone, so that nothing can go over TCP. Source it after lib.sh.

nfs_port=20049
nfs_export=/mnt/export
nfs_mount=/mnt/nfs

# usage: nfs_server_up CLIENT-ADDRESS
nfs_server_up() {
	local never=4102444800 # year 2100, when the kernel would ask again

	modprobe -a nfsd rpcrdma && mount -t nfsd nfsd /proc/fs/nfsd && mkdir -p "$nfs_export" &&
		mount -t tmpfs export "$nfs_export" || return
	# Clients that were there before are waited for no longer than it has to be.
	echo 10 >/proc/fs/nfsd/nfsv4gracetime && echo "-3 +4 +4.1 +4.2" >/proc/fs/nfsd/versions &&
		echo "rdma $nfs_port" >/proc/fs/nfsd/portlist && echo 4 >/proc/fs/nfsd/threads || return
	# Who the client is, what it may have there (read and write, as root, root of the tree), and by which handle.
	echo "nfsd $1 $never client" >/proc/net/rpc/auth.unix.ip/channel &&
		echo "client $nfs_export $never 9216 65534 65534 0" >/proc/net/rpc/nfsd.export/channel &&
		echo "client 1 \\x00000000 $never $nfs_export" >/proc/net/rpc/nfsd.fh/channel
}

nfs_server_down() {
	echo 0 >/proc/fs/nfsd/threads && umount "$nfs_export" /proc/fs/nfsd && modprobe -r rpcrdma nfsd
}

# usage: nfs_mount OWN-ADDRESS SERVER-ADDRESS
nfs_mount() {
	mkdir -p "$nfs_mount" && modprobe -a nfsv4 rpcrdma && timeout 30 mount -i -t nfs4 "$2:/" "$nfs_mount" \
		-o "vers=4.2,proto=rdma,port=$nfs_port,addr=$2,clientaddr=$1,soft,timeo=100" &&
		grep -q "^$2:/ $nfs_mount nfs4 .*proto=rdma" /proc/mounts
}

# usage: nfs_io BYTES
# Files of some sizes are written, dropped from memory and read again; a large one past the page cache, too.
nfs_io() {
	local size

	for size in 1 4095 65536 1000003 "$1"; do
		head -c "$size" /dev/urandom >/tmp/nfs.data && cp /tmp/nfs.data "$nfs_mount/file.$size" &&
			sync "$nfs_mount/file.$size" && echo 3 >/proc/sys/vm/drop_caches &&
			cmp /tmp/nfs.data "$nfs_mount/file.$size" || return
	done
	dd if=/tmp/nfs.data of="$nfs_mount/direct" bs=1M oflag=direct &&
		dd if="$nfs_mount/direct" of=/tmp/nfs.back bs=256k iflag=direct && cmp /tmp/nfs.data /tmp/nfs.back
}

# Many names, so that answers are long and calls short.
nfs_names() {
	mkdir "$nfs_mount/names" && (cd "$nfs_mount/names" && touch {1..300}) && echo 3 >/proc/sys/vm/drop_caches &&
		[ "$(find "$nfs_mount/names" -type f | wc -l)" = 300 ] && rm -r "$nfs_mount/names"
}

# The kernel goes on closing the connection when the file system is gone, and waits for the peer then.
nfs_umount() { umount "$nfs_mount" && wait_for 20 modprobe -r rpcrdma nfsv4; }
