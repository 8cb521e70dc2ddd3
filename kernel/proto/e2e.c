// SPDX-License-Identifier: GPL-2.0
/* End-to-end flow control, see e2e.h. */
#include "e2e.h"

const u16 hrp_e2e_credits[HRP_SYN_CREDIT_INVALID] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, HRP_E2E_CREDITS_MAX - 1,
};
