// SPDX-License-Identifier: GPL-2.0
/* Why a requester does not send. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "proto/pace.h"
#include "proto/req_priv.h"
#include "proto/wait.h"
#include "rig.h"
#include "tap.h"

static enum hrp_wait waits(void)
{
	return hrp_wait_for(&rig.qp);
}

static void for_nothing_and_answers(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	tap_eq(waits(), HRP_WAIT_NOTHING);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_ANSWER);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(waits(), HRP_WAIT_NOTHING);
	rig_end();
}

static void for_window(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.cwnd_pkts = 4;
	rig_post_op(HROCE_WR_WRITE, 100 * rig.qp.mtu);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_WINDOW);
	rig_end();
}

static void for_reads(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.max_rd_atomic = 1;
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_READS);
	rig_atomic_resp(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_ANSWER);
	rig_end();
}

static void for_order(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 1);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags |= HROCE_WRF_FENCE;
	rig_post(wqe, 1);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_ORDER);
	rig_end();

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_ORDER);
	rig_end();
}

static void for_rnr(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	rig_ack(0, 0x2e);
	tap_eq(waits(), HRP_WAIT_RNR);
	rig_end();
}

static void for_memory(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	hrp_req_wait_mem(&rig.qp.req, true);
	tap_eq(waits(), HRP_WAIT_MEMORY);
	rig_end();
}

static void for_rate(void)
{
	static struct hrp_pace pace;
	struct hrp_rp rp;

	hrp_rp_init(&rp);
	rig_begin(HRP_TYPE_RC, 0);
	hrp_pace_start(&rig.qp, &pace, &rp, rig.now_ns, 0);
	hrp_pace_set(&rig.qp, rig.now_ns, 1000, 0);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_RATE);
	rig_end();
}

static void for_state(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.cwnd_pkts = 4;
	rig_post_op(HROCE_WR_WRITE, 4 * rig.qp.mtu);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	tap_eq(waits(), HRP_WAIT_WINDOW);
	rig.qp.state = HRP_SQD;
	tap_eq(waits(), HRP_WAIT_DRAINED);
	rig_end();
}

static void names_are_complete(void)
{
	enum hrp_wait wait;

	for (wait = HRP_WAIT_NOTHING; wait <= HRP_WAIT_DRAINED; wait++) {
		tap_ok(*hrp_wait_name(wait));
		tap_ok(strnlen(hrp_wait_name(wait), HRP_WAIT_NAME_LEN) <
		       HRP_WAIT_NAME_LEN);
	}
}

int main(void)
{
	tap_plan(9);
	tap_run(for_nothing_and_answers);
	tap_run(for_window);
	tap_run(for_reads);
	tap_run(for_order);
	tap_run(for_rnr);
	tap_run(for_memory);
	tap_run(for_rate);
	tap_run(for_state);
	tap_run(names_are_complete);
	return tap_exit();
}
