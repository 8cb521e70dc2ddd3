// SPDX-License-Identifier: GPL-2.0
/* IPv6 may be a module: in 6.12, not in 7.2. */
#include <net/ipv6_stubs.h>
