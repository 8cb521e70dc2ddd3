// SPDX-License-Identifier: GPL-2.0
/*
 * Port counters of a lower device.
 *
 * Most cards answer performance MADs: those are passed on. Others, rdma_rxe
 * among them, count packets and bytes in hw_counters under names of their own.
 *
 * While its driver is asked, a reference keeps the device registered.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_verbs.h>
#include "../core/pma.h"
#include "lower.h"
#include "mirror.h"

/* The members of the attribute that hw_counters may tell. */
enum mirror_field {
	MIRROR_XMIT_DATA,
	MIRROR_RCV_DATA,
	MIRROR_XMIT_PACKETS,
	MIRROR_RCV_PACKETS,
	MIRROR_NR,
};

static const struct {
	const char *name;
	enum mirror_field field;
} mirror_names[] = {
	/* rdma_rxe */
	{ "sent_pkts", MIRROR_XMIT_PACKETS },
	{ "rcvd_pkts", MIRROR_RCV_PACKETS },
	/* bnxt_re */
	{ "tx_bytes", MIRROR_XMIT_DATA },
	{ "rx_bytes", MIRROR_RCV_DATA },
	{ "tx_pkts", MIRROR_XMIT_PACKETS },
	{ "rx_pkts", MIRROR_RCV_PACKETS },
	/* irdma */
	{ "ip4OutOctets", MIRROR_XMIT_DATA },
	{ "ip6OutOctets", MIRROR_XMIT_DATA },
	{ "ip4InOctets", MIRROR_RCV_DATA },
	{ "ip6InOctets", MIRROR_RCV_DATA },
	{ "ip4OutPkts", MIRROR_XMIT_PACKETS },
	{ "ip6OutPkts", MIRROR_XMIT_PACKETS },
	{ "ip4InPkts", MIRROR_RCV_PACKETS },
	{ "ip6InPkts", MIRROR_RCV_PACKETS },
	/* hns */
	{ "tx_pkt", MIRROR_XMIT_PACKETS },
	{ "rx_pkt", MIRROR_RCV_PACKETS },
};

static struct ib_pma_portcounters *mirror_attr(struct ib_mad *mad)
{
	return (void *)(mad->data + HROCE_PMA_DATA);
}

/* Pass the MAD on. Return: true if the device has answered. */
static bool mirror_mad(struct ib_device *ibdev, u32 port,
		       const struct ib_mad *in, struct ib_mad *out)
{
	const int want = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	size_t size = sizeof(struct ib_mad);
	struct ib_mad *mads;
	u16 pkey_index = 0;
	bool ok = false;

	/* PortSelect is a byte. */
	if (!ibdev->ops.process_mad || port > U8_MAX)
		return false;
	mads = kcalloc(2, sizeof(*mads), GFP_KERNEL);
	if (!mads)
		return false;
	mads[0] = *in;
	mirror_attr(&mads[0])->port_select = port;
	/* As ib_core calls it for the files of the device. */
	if ((ibdev->ops.process_mad(ibdev, IB_MAD_IGNORE_MKEY, port, NULL, NULL,
				    &mads[0], &mads[1], &size, &pkey_index) &
	     want) == want) {
		memcpy(out->data + HROCE_PMA_DATA,
		       mads[1].data + HROCE_PMA_DATA,
		       sizeof(out->data) - HROCE_PMA_DATA);
		mirror_attr(out)->port_select = 1;
		ok = true;
	}
	kfree(mads);
	return ok;
}

static void mirror_add(u64 *fields, const char *name, u64 value)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mirror_names); i++)
		if (!strcmp(mirror_names[i].name, name))
			fields[mirror_names[i].field] += value;
}

/* Ask for hw_counters. Return: false if there are none. */
static bool mirror_hw_counters(struct ib_device *ibdev, u32 port, u64 *fields)
{
	struct rdma_hw_stats *stats;
	bool ok;
	int i;

	if (!ibdev->ops.alloc_hw_port_stats || !ibdev->ops.get_hw_stats)
		return false;
	stats = ibdev->ops.alloc_hw_port_stats(ibdev, port);
	if (!stats)
		return false;
	ok = ibdev->ops.get_hw_stats(ibdev, stats, port,
				     stats->num_counters) >= 0;
	for (i = 0; ok && i < stats->num_counters; i++)
		mirror_add(fields, stats->descs[i].name, stats->value[i]);
	rdma_free_hw_stats_struct(stats);
	return ok;
}

static void mirror_names_ext(struct ib_device *ibdev, u32 port,
			     struct ib_pma_portcounters_ext *c)
{
	u64 fields[MIRROR_NR] = {};

	if (!mirror_hw_counters(ibdev, port, fields))
		return;
	c->port_xmit_data = cpu_to_be64(fields[MIRROR_XMIT_DATA] / 4);
	c->port_rcv_data = cpu_to_be64(fields[MIRROR_RCV_DATA] / 4);
	c->port_xmit_packets = cpu_to_be64(fields[MIRROR_XMIT_PACKETS]);
	c->port_rcv_packets = cpu_to_be64(fields[MIRROR_RCV_PACKETS]);
}

void hroce_mirror_counters(const struct hroce_lower *lower,
			   const struct ib_mad *in, struct ib_mad *out)
{
	struct ib_device *ibdev = hroce_lower_get(lower);

	if (!ibdev)
		return;
	if (!mirror_mad(ibdev, lower->port, in, out) &&
	    in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT)
		mirror_names_ext(ibdev, lower->port,
				 (void *)(out->data + HROCE_PMA_DATA));
	ib_device_put(ibdev);
}
