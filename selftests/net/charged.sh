#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What processes have hroce allocate is charged to their memory cgroups, see charged.py.
#
#	namespace A: nla on ea <----- veth -----> namespace B: nlb on eb

. "$(dirname "$0")/lib.sh"

# usage: charged PROGRAM [CASE]...: of the verbs
charged() { HROCE_DEV=nla HROCE_DEV2=nlb net/charged.py "$build/$1" "${@:2}"; }

tap_case charged.topology two_ends
tap_case charged.objects charged objects 'qp_*' 'mr_*' 'ah_*' 'cq_*'
tap_case charged.requests charged data
tap_case charged.datagrams charged ud
tap_case charged.xrc charged xrc all_operations targets_share_srqs
tap_case charged.pages charged odp
tap_done
