// SPDX-License-Identifier: GPL-2.0
/* Units of the requester, and of what both sides use. */
#include "suites.h"

SUITE(sq);
SUITE(req);
SUITE(train);
SUITE(comp);
SUITE(masked);
SUITE(pace);
SUITE(cwnd);
SUITE(rtt);
SUITE(hole);
SUITE(sack);
SUITE(ahead);
SUITE(damage);
SUITE(delay);
SUITE(dcqcn);
SUITE(wait);
SUITE(pkt);
SUITE(cause);

kunit_test_suites(&sq_suite, &req_suite, &train_suite, &comp_suite,
		  &masked_suite, &pace_suite, &cwnd_suite, &rtt_suite, &hole_suite,
		  &sack_suite, &ahead_suite, &damage_suite, &delay_suite,
		  &dcqcn_suite, &wait_suite, &pkt_suite, &cause_suite);
