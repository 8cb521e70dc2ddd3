// SPDX-License-Identifier: GPL-2.0
/* Longer packets between hroce peers, see mtu.h. */
#include <linux/lockdep.h>
#include <rdma/ib_addr.h>
#include "../proto/req.h"
#include "../proto/resp.h"
#include "mtu.h"
#include "qp.h"

void hroce_mtu_start(struct hroce_qp *qp)
{
	const struct hroce_dev *dev = hqp_dev(qp);
	u32 ip_mtu = READ_ONCE(dev->port.dev->mtu);
	struct hrp_qp *proto = &qp->proto;
	u32 own;

	lockdep_assert_held(&qp->recv.lock);
	proto->resp.own_mtu = 0;
	if (!READ_ONCE(dev->agree_mtu) || !hrp_qp_is_reliable(proto) ||
	    proto->mtu != ib_mtu_enum_to_int(iboe_get_mtu(ip_mtu)))
		return;
	own = hrp_mtu_of_link(ip_mtu);
	if (own > proto->mtu)
		proto->resp.own_mtu = own / HRP_MTU_UNIT;
}

int hroce_mtu_answered(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		       const u8 *magic)
{
	int drop = HROCE_DROP_QP_STATE;

	spin_lock(&qp->send.lock);
	if (!qp->dead && hrp_qp_sends(&qp->proto))
		drop = hrp_mtu_answered(&qp->proto, pkt, magic) ?
		       -1 : HROCE_DROP_OPCODE;
	spin_unlock(&qp->send.lock);
	return drop;
}
