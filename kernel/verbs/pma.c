// SPDX-License-Identifier: GPL-2.0
/*
 * Performance management agent (IBTA 16.1).
 *
 * ib_core calls it to read the files in ports/1/counters, and ib_mad for each
 * MAD that arrives at QP1. So any node can send a MAD: it can read counters, and
 * change nothing. Responses and requests of other classes belong to others. Only
 * these attributes exist: ClassPortInfo, PortCounters, PortCountersExtended.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include "../core/pma.h"
#include "counter.h"
#include "device.h"
#include "ops.h"
#include "pma.h"

/* Time to answer: 4.096 us * 2^18, a second. */
#define PMA_RESPONSE_TIME	18

/* Packets with an error of their own, which no queue pair can accept. */
static const enum hroce_stat pma_rcv_errors[] = {
	HROCE_DROP_SHORT, HROCE_DROP_LENGTH, HROCE_DROP_VERSION,
	HROCE_DROP_ICRC,
};

/* Counters stop at their maximum (16.1.3.5). */
static __be16 pma_u16(u64 value)
{
	return cpu_to_be16(min_t(u64, value, U16_MAX));
}

static __be32 pma_u32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static void pma_port_info(struct ib_mad *out)
{
	struct ib_class_port_info info = {
		.base_version = IB_MGMT_BASE_VERSION,
		.class_version = HROCE_PMA_VERSION,
		.capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH,
	};

	ib_set_cpi_resp_time(&info, PMA_RESPONSE_TIME);
	memcpy(out->data + HROCE_PMA_DATA, &info, sizeof(info));
}

/* Return: status of the answer to a request with a valid version. */
static u16 pma_check(const struct ib_mad *in)
{
	/* The same offset in both attributes. */
	const struct ib_pma_portcounters *at =
		(const void *)(in->data + HROCE_PMA_DATA);

	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return 0;
	case IB_PMA_PORT_COUNTERS:
	case IB_PMA_PORT_COUNTERS_EXT:
		return at->port_select == 1 ?
			       0 : IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}

int hroce_pma_begin(const struct ib_wc *wc, const struct ib_mad *in,
		    struct ib_mad *out, bool *counters)
{
	const struct ib_mad_hdr *hdr = &in->mad_hdr;
	u16 status = IB_MGMT_MAD_STATUS_BAD_VERSION;

	*counters = false;
	if (hdr->mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (hdr->method != IB_MGMT_METHOD_GET &&
	     hdr->method != IB_MGMT_METHOD_SET))
		return IB_MAD_RESULT_SUCCESS;
	/* Behind the end of a short MAD, the buffer has an older one. */
	if (wc && wc->byte_len < sizeof(struct ib_grh) + sizeof(*in))
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;

	if (hdr->base_version == IB_MGMT_BASE_VERSION &&
	    hdr->class_version == HROCE_PMA_VERSION)
		status = pma_check(in);
	memset(out, 0, sizeof(*out));
	out->mad_hdr = *hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(status);
	if (status)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	if (hdr->attr_id == IB_PMA_CLASS_PORT_INFO) {
		pma_port_info(out);
	} else {
		*counters = true;
		/* PortSelect and CounterSelect. */
		memcpy(out->data + HROCE_PMA_DATA, in->data + HROCE_PMA_DATA,
		       offsetof(struct ib_pma_portcounters,
				symbol_error_counter));
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* An Ethernet port has no symbols, and no VL 15: those counters stay 0. */
static void pma_counters(u32 link_downed, const u64 *v,
			 struct ib_pma_portcounters *c)
{
	u64 errors = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(pma_rcv_errors); i++)
		errors += v[pma_rcv_errors[i]];
	c->link_downed_counter = min_t(u32, link_downed, U8_MAX);
	c->port_rcv_errors = pma_u16(errors);
	c->port_xmit_discards = pma_u16(v[HROCE_EV_TX_ERRORS] +
					v[HROCE_EV_TX_REFUSED]);
	/* In units of 4 bytes. */
	c->port_xmit_data = pma_u32(v[HROCE_EV_TX_WIRE] / 4);
	c->port_rcv_data = pma_u32(v[HROCE_EV_RX_WIRE] / 4);
	c->port_xmit_packets = pma_u32(v[HROCE_EV_TX_PACKETS]);
	c->port_rcv_packets = pma_u32(v[HROCE_EV_RX_PACKETS]);
}

/*
 * Packets are counted one by one: one that is sent meanwhile may be a multicast
 * packet, but none of all packets yet.
 */
static __be64 pma_unicast(u64 all, u64 multicast)
{
	return cpu_to_be64(all - min(all, multicast));
}

static void pma_counters_ext(const u64 *v, struct ib_pma_portcounters_ext *c)
{
	u64 sent = v[HROCE_EV_TX_PACKETS], sent_mc = v[HROCE_EV_TX_MCAST];
	u64 rcvd = v[HROCE_EV_RX_PACKETS], rcvd_mc = v[HROCE_EV_RX_MCAST];

	c->port_xmit_data = cpu_to_be64(v[HROCE_EV_TX_WIRE] / 4);
	c->port_rcv_data = cpu_to_be64(v[HROCE_EV_RX_WIRE] / 4);
	c->port_xmit_packets = cpu_to_be64(sent);
	c->port_rcv_packets = cpu_to_be64(rcvd);
	c->port_unicast_xmit_packets = pma_unicast(sent, sent_mc);
	c->port_unicast_rcv_packets = pma_unicast(rcvd, rcvd_mc);
	c->port_multicast_xmit_packets = cpu_to_be64(sent_mc);
	c->port_multicast_rcv_packets = cpu_to_be64(rcvd_mc);
}

int hroce_mad_process(struct ib_device *ibdev, int flags, u32 port_num,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	struct hroce_ibdev *hibdev = to_hibdev(ibdev);
	u64 values[HROCE_STAT_NR];
	bool counters;
	int result;

	result = hroce_pma_begin(wc, in, out, &counters);
	if (!counters)
		return result;
	hroce_counters_sum(hibdev, values);
	if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		pma_counters(READ_ONCE(hibdev->link_downed), values,
			     (void *)(out->data + HROCE_PMA_DATA));
	else
		pma_counters_ext(values, (void *)(out->data + HROCE_PMA_DATA));
	return result;
}
