#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma-core's suite between two machines: node 1 runs it, node 2 holds the other side of each test.
#
#	nodes.sh [PATTERN...]

here=$(dirname "$0")
[ "$NODE" != 2 ] || exec "$here/far.py" hroce0 1
exec "$here/run.py" -r -p node2 hroce0 1 "$@"
