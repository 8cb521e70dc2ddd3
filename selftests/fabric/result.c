// SPDX-License-Identifier: GPL-2.0
/* What a run has measured. */
#include <stdlib.h>
#include "fabric.h"

const char *const fab_metric_names[FAB_NR_METRICS] = {
#define FAB_METRIC_NAME(id, name) name,
	FAB_METRICS(FAB_METRIC_NAME)
#undef FAB_METRIC_NAME
};

/* At the end of the warm-up. */
void fab_measure_begin(struct fabric *fab)
{
	u32 i, j;

	fab->measure_ns = fab->now_ns;
	fab->c = (struct fab_counts) {};
	fab->counts = (struct hroce_stats) {};
	for (i = 0; i < fab->nr_sw; i++) {
		fab->sw[i].max_used = fab->sw[i].used;
		for (j = 0; j < fab->sw[i].nr_ports; j++)
			fab_port_measure(&fab->sw[i].port[j]);
	}
	for (i = 0; i < fab->nr_qps; i++)
		fab->qps[i]->rx_start = fab->qps[i]->rx_bytes;
}

static int compare_us(const void *a, const void *b)
{
	const struct fab_sample *x = a, *y = b;

	return (x->us > y->us) - (x->us < y->us);
}

static int compare_slowdown(const void *a, const void *b)
{
	const struct fab_sample *x = a, *y = b;

	return (x->slowdown > y->slowdown) - (x->slowdown < y->slowdown);
}

static void result_samples(struct fabric *fab, double *v)
{
	u32 nr = fab->nr_samples, i;
	double us = 0, slowdown = 0;

	if (!nr)
		return;
	for (i = 0; i < nr; i++) {
		us += fab->sample[i].us;
		slowdown += fab->sample[i].slowdown;
	}
	v[FAB_FCT_MEAN] = us / nr;
	v[FAB_SLOWDOWN] = slowdown / nr;
	qsort(fab->sample, nr, sizeof(*fab->sample), compare_us);
	v[FAB_FCT_P50] = fab->sample[nr / 2].us;
	v[FAB_FCT_P99] = fab->sample[(u64)nr * 99 / 100].us;
	qsort(fab->sample, nr, sizeof(*fab->sample), compare_slowdown);
	v[FAB_SLOWDOWN_P99] = fab->sample[(u64)nr * 99 / 100].slowdown;
}

static void result_queues(struct fabric *fab, double *v, u64 passed_ns)
{
	struct fab_port *port = fab->watched;
	u64 sum = 0;
	u32 i, j;

	for (i = 0; i < fab->nr_sw; i++) {
		struct fab_node *sw = &fab->sw[i];

		v[FAB_BUFFER_MAX] = max(v[FAB_BUFFER_MAX], (double)sw->max_used);
		for (j = 0; j < sw->nr_ports; j++)
			v[FAB_QUEUE_MAX] = max(v[FAB_QUEUE_MAX],
					       (double)sw->port[j].max_bytes);
	}
	fab_port_look(port);
	v[FAB_QUEUE_MEAN] = (double)port->byte_ns / passed_ns;
	v[FAB_UTIL] = (double)port->watch->tx_bytes * port->ps_per_byte /
		      1000 / passed_ns;
	for (i = 0; i + 1 < FAB_NR_BINS; i++) {
		sum += port->watch->bin[i];
		if (sum >= 0.9 * passed_ns)
			break;
	}
	v[FAB_QUEUE_P90] = (i + 1) * FAB_BIN;
}

/* Jain's index, of the flows that a load names. */
static void result_rates(struct fabric *fab, double *v, u64 passed_ns)
{
	double all = 0, sum = 0, squares = 0;
	u32 i, nr = 0;

	for (i = 0; i < fab->nr_qps; i++) {
		const struct fab_qp *qp = fab->qps[i];
		double bytes = qp->rx_bytes - qp->rx_start;

		all += bytes;
		if (!qp->is_flow)
			continue;
		nr++;
		sum += bytes;
		squares += bytes * bytes;
	}
	v[FAB_GOODPUT] = all * 8e3 / passed_ns;
	v[FAB_JAIN] = squares ? sum * sum / (nr * squares) : 1;
}

void fab_result(struct fabric *fab, struct fab_result *result)
{
	u64 passed_ns = max(fab->now_ns - fab->measure_ns, 1ull);
	double *v = result->v;

	*result = (struct fab_result) {};
	v[FAB_FLOWS] = fab->nr_arrived;
	/* A load that has no end is cut off. */
	if (fab->load->is_done && fab->opts.load != FAB_LONG)
		v[FAB_UNFINISHED] = fab->nr_sent - fab->nr_arrived +
				    !fab->load->is_done(fab);
	v[FAB_FAILED] = fab->nr_failed;
	if (fab->nr_arrived) {
		v[FAB_DONE] = (fab->last_arrival_ns - FAB_START) / 1e3;
		v[FAB_FAIRNESS] = (double)(fab->last_arrival_ns - FAB_START) /
				  (fab->first_arrival_ns - FAB_START);
	}
	if (fab->load->ideal_ns && fab->opts.load != FAB_LONG) {
		v[FAB_IDEAL] = fab->load->ideal_ns(fab) / 1e3;
		v[FAB_RATIO] = v[FAB_DONE] / v[FAB_IDEAL];
	}
	result_samples(fab, v);
	result_queues(fab, v, passed_ns);
	result_rates(fab, v, passed_ns);
	v[FAB_PACKETS] = fab->nr_pkts;
	v[FAB_DROPS] = fab->c.drops;
	v[FAB_LOST] = fab->c.lost;
	v[FAB_MARKS] = fab->c.marks;
	v[FAB_CNPS] = fab->c.cnps;
	v[FAB_PAUSES] = fab->c.pauses;
	if (fab->c.data_pkts)
		v[FAB_RESENT] = (double)fab->c.resent_pkts / fab->c.data_pkts;
	v[FAB_PROBES] = fab->counts.v[HROCE_EV_PROBES];
	v[FAB_RTOS] = fab->counts.v[HROCE_EV_RTO_EXPIRED] +
		      fab->counts.v[HROCE_EV_TIMEOUTS];
	v[FAB_REHASHES] = fab->counts.v[HROCE_EV_REHASHES];
	v[FAB_EVENTS] = fab->nr_events;
}
