# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The installed libibverbs: the release of rdma-core that it is from, which is
# the third part of its version, and the number of its private ABI.

PKG_CONFIG ?= pkg-config
NM ?= nm

verbs_libdir  := $(shell $(PKG_CONFIG) --variable=libdir libibverbs)
verbs_release := $(word 3,$(subst ., ,$(shell $(PKG_CONFIG) --modversion libibverbs)))
verbs_pabi    := $(shell $(NM) -D $(verbs_libdir)/libibverbs.so 2>/dev/null | \
	sed -n 's/.* verbs_register_driver_\([0-9]*\).*/\1/p')

VERBS_CPPFLAGS := -DHROCE_RDMA_CORE=$(verbs_release) -DHROCE_PABI=$(verbs_pabi)

# libibverbs appends this to the names of providers.
PLUGIN := libhroce-rdmav$(verbs_pabi).so
