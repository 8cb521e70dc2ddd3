// SPDX-License-Identifier: GPL-2.0
/* Causes of failures: each implies one status, typed from the ABI's comments. */
#include <linux/kernel.h>
#include <linux/types.h>
#include "proto/cause.h"
#include "proto/env.h"
#include "proto/pkt.h"
#include "tap.h"

static const struct {
	u8 cause;
	u8 status;
} causes[] = {
	{ 0x20, HROCE_WC_LOC_QP_OP_ERR },
	{ 0x21, HROCE_WC_LOC_QP_OP_ERR },
	{ 0x22, HROCE_WC_LOC_QP_OP_ERR },
	{ 0x23, HROCE_WC_LOC_QP_OP_ERR },
	{ 0x24, HROCE_WC_LOC_LEN_ERR },
	{ 0x30, HROCE_WC_LOC_PROT_ERR },
	{ 0x31, HROCE_WC_LOC_PROT_ERR },
	{ 0x32, HROCE_WC_LOC_PROT_ERR },
	{ 0x33, HROCE_WC_LOC_PROT_ERR },
	{ 0x34, HROCE_WC_LOC_PROT_ERR },
	{ 0x35, HROCE_WC_LOC_QP_OP_ERR },
	{ 0x40, HROCE_WC_MW_BIND_ERR },
	{ 0x41, HROCE_WC_MW_BIND_ERR },
	{ 0x42, HROCE_WC_MW_BIND_ERR },
	{ 0x43, HROCE_WC_MW_BIND_ERR },
	{ 0x44, HROCE_WC_MW_BIND_ERR },
	{ 0x50, HROCE_WC_BAD_RESP_ERR },
	{ 0x51, HROCE_WC_LOC_LEN_ERR },
	{ 0x52, HROCE_WC_RETRY_EXC_ERR },
	{ 0x53, HROCE_WC_RETRY_EXC_ERR },
	{ 0x60, HROCE_WC_LOC_LEN_ERR },
	{ 0x61, HROCE_WC_REM_INV_REQ_ERR },
	{ 0x62, HROCE_WC_REM_INV_REQ_ERR },
	{ 0x63, HROCE_WC_REM_INV_REQ_ERR },
	{ 0x64, HROCE_WC_MW_BIND_ERR },
	{ 0x65, HROCE_WC_LOC_ACCESS_ERR },
	{ 0xe1, HROCE_WC_REM_INV_REQ_ERR },
	{ 0xe2, HROCE_WC_REM_ACCESS_ERR },
	{ 0xe3, HROCE_WC_REM_OP_ERR },
	{ 0xa0, HROCE_WC_RNR_RETRY_EXC_ERR },
	{ 0xbf, HROCE_WC_RNR_RETRY_EXC_ERR },
};

static struct hroce_cqe completion(u8 result)
{
	struct hrp_qp qp = { .qpn = 5 };
	struct hroce_cqe cqe;

	hrp_cqe_begin(&cqe, &qp, 1, result, HROCE_WC_SEND);
	return cqe;
}

static void each_implies_its_status(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(causes); i++) {
		struct hroce_cqe cqe = completion(causes[i].cause);

		tap_eq(cqe.status, causes[i].status);
		tap_eq(cqe.vendor_err, causes[i].cause);
	}
}

static void a_status_stands_for_itself(void)
{
	u32 i;

	for (i = 0; i < HROCE_CAUSE_FIRST; i++) {
		struct hroce_cqe cqe = completion(i);

		tap_eq(cqe.status, i);
		tap_eq(cqe.vendor_err, 0);
	}
}

/* Whatever comes, an error stays one. */
static void others_are_errors(void)
{
	u32 i;

	for (i = HROCE_CAUSE_FIRST; i < 256; i++)
		tap_ok(completion(i).status != HROCE_WC_SUCCESS);
}

int main(void)
{
	tap_plan(3);
	tap_run(each_implies_its_status);
	tap_run(a_status_stands_for_itself);
	tap_run(others_are_errors);
	return tap_exit();
}
