// SPDX-License-Identifier: GPL-2.0
/* Transmission of bursts, see out.h. */
#include "../mem/iter.h"
#include "../net/path.h"
#include "../net/port.h"
#include "local.h"
#include "out.h"

static int out_aim(struct hroce_out *out, struct hroce_path *path,
		   struct hroce_mem_iter *it)
{
	/* Ending a run runs what pends at receivers on this host. */
	bool locked = out->tx.path && hroce_mem_release(it);

	hroce_out_end(out);
	if (locked)
		hroce_mem_resume(it);
	return hroce_tx_aim(&out->tx, path);
}

u8 hroce_out_add(struct hroce_out *out, struct hroce_path *path,
		 const struct hrp_burst *b, struct hroce_mem_iter *it)
{
	if (out->tx.path != path && unlikely(out_aim(out, path, it))) {
		out->tx.next = 0;
		if (it->status == HROCE_WC_SUCCESS)
			hroce_stats_add(out->tx.stats, HROCE_EV_TX_ERRORS,
					b->nr_pkts);
		return it->status;
	}
	if (out->tx.route.to && !out->tx.frame.skb &&
	    hroce_local_may(&out->tx, it)) {
		out->tx.next = 0;
		hroce_local_deliver(&out->tx, b, it, &out->receiver);
		return it->status;
	}
	return hroce_tx_add(&out->tx, b, it);
}

void hroce_out_end(struct hroce_out *out)
{
	hroce_tx_end(&out->tx);
	if (!out->receiver)
		return;
	hroce_local_end(out->receiver);
	out->receiver = NULL;
}
