// SPDX-License-Identifier: GPL-2.0
/* Units of the responder. */
#include "suites.h"

SUITE(resp);
SUITE(rdres);
SUITE(hold);
SUITE(keep);
SUITE(dgram);
SUITE(xrc);
SUITE(resp_pace);

kunit_test_suites(&resp_suite, &rdres_suite, &hold_suite, &keep_suite, &dgram_suite, &xrc_suite,
		  &resp_pace_suite);
