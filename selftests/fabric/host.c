// SPDX-License-Identifier: GPL-2.0
/*
 * The network interface of a node. Queue pairs take turns, a super-packet each,
 * as with fq_codel; CNPs go first. What arrives waits for a poll, which comes
 * some time after the first packet (interrupt moderation). There, packets of a
 * queue pair that follow each other are one frame for it, up to the size of a
 * super-packet: it answers once.
 */
#include <string.h>
#include "proto/burst.h"
#include "proto/wire.h"
#include "fabric.h"

/* Headers below the BTH, and the FCS: Ethernet, IPv4, UDP. */
#define LOWER_BYTES	(14 + 20 + 8 + 4)
#define GAP_BYTES	20

/* A super-packet: net/tx.c builds none that are larger, and GRO neither. */
#define SUPER_BYTES	(15 * 4096)
#define SUPER_PKTS	64

/* First of the ports that RoCEv2 takes for entropy, and how many there are. */
#define SPORT_FIRST	0xc000
#define NR_SPORTS	0x4000

u16 fab_draw_sport(struct fabric *fab)
{
	return SPORT_FIRST + sim_rand(&fab->rng) % NR_SPORTS;
}

static u32 flow_hash(u32 from, u32 to, u32 sport)
{
	u64 x = (u64)from << 40 ^ (u64)to << 16 ^ sport;

	x *= 0x9e3779b97f4a7c15ull;
	return x >> 32;
}

static void put_burst(struct fab_burst_queue *q, struct fab_burst *burst)
{
	burst->next = NULL;
	*q->tail = burst;
	q->tail = &burst->next;
}

static void turn_begin(struct fab_host *host, struct fab_qp *qp)
{
	qp->in_turn = true;
	qp->turn_bytes = 0;
	qp->next_turn = NULL;
	*host->turn_tail = qp;
	host->turn_tail = &qp->next_turn;
}

/* As datapath/reply.c: answers take the ports of their requests if asked to. */
static u32 burst_sport(const struct fab_qp *qp, const struct hrp_burst *b)
{
	bool response = b->first.info & (HRP_OI_RESPONSE | HRP_OI_CNP);

	if (b->first.info & HRP_OI_CNP && b->first.sport)
		return b->first.sport;
	if (response && b->first.info & (HRP_OI_READ | HRP_OI_ATOMIC) &&
	    qp->hrp.resp.follows && b->first.sport)
		return b->first.sport;
	return qp->sport[response];
}

/*
 * The burst keeps its source port, so that its packets stay in order. With more
 * than one path, bursts of a queue pair take turns.
 */
void fab_host_send(struct fab_qp *qp, const struct hrp_burst *b,
		   const u8 *bytes, bool ect, bool cnp)
{
	struct fab_host *host = qp->host;
	struct fabric *fab = host->node.fab;
	struct fab_burst *burst = fab_pool_get(&fab->bursts);
	u32 sport = burst_sport(qp, b);
	u32 path = fab->opts.paths > 1 ? qp->bursts++ % fab->opts.paths : 0;

	burst->qp = qp;
	burst->b = *b;
	burst->map = NULL;
	burst->sent = 0;
	burst->prio = cnp;
	burst->ect = ect;
	sport = SPORT_FIRST + (sport + path) % NR_SPORTS;
	burst->b.first.sport = sport;
	burst->hash = flow_hash(host->id, qp->peer->host->id, sport);
	if (bytes) {
		burst->map = fab_pool_get(&fab->maps);
		memcpy(burst->map, bytes, b->mem.len);
	}
	qp->nic_bytes += b->mem.len;
	put_burst(cnp ? &host->cnps : &qp->out, burst);
	if (!cnp && !qp->in_turn)
		turn_begin(host, qp);
	fab_port_kick(host->node.port);
}

static void burst_sent(struct fab_host *host, struct fab_burst *burst)
{
	struct fab_burst_queue *q = burst->prio ? &host->cnps : &burst->qp->out;
	struct fab_qp *qp = burst->qp;
	u32 len = burst->b.mem.len;

	q->head = burst->next;
	if (!q->head)
		q->tail = &q->head;
	fab_pool_put(&host->node.fab->bursts, burst);
	fab_qp_left(qp, len);
}

/* The burst that the next packet is of; NULL if there is none. */
static struct fab_burst *next_burst(struct fab_host *host)
{
	struct fab_qp *qp;

	if (host->cnps.head)
		return host->cnps.head;
	while ((qp = host->turn_head)) {
		if (qp->out.head && qp->turn_bytes < SUPER_BYTES)
			return qp->out.head;
		host->turn_head = qp->next_turn;
		if (!host->turn_head)
			host->turn_tail = &host->turn_head;
		qp->in_turn = false;
		if (qp->out.head)
			turn_begin(host, qp);
	}
	return NULL;
}

struct fab_pkt *fab_host_next(struct fab_host *host)
{
	struct fab_burst *burst = next_burst(host);
	struct fabric *fab = host->node.fab;
	struct fab_pkt *pkt;

	if (!burst)
		return NULL;
	pkt = fab_pool_get(&fab->pkts);
	hrp_burst_pkt(&burst->b, burst->sent++, &pkt->hdr);
	pkt->to = burst->qp->peer;
	pkt->map = burst->map;
	burst->map = NULL;
	pkt->hash = burst->hash;
	pkt->bytes = LOWER_BYTES + hrp_opcode_hdr_len(pkt->hdr.info) +
		     pkt->hdr.payload_len + pkt->hdr.pad + HRW_ICRC_LEN;
	pkt->prio = burst->prio;
	pkt->ect = burst->ect;
	pkt->ce = false;
	if (!pkt->prio)
		burst->qp->turn_bytes += pkt->bytes;
	if (burst->sent == burst->b.nr_pkts)
		burst_sent(host, burst);
	return pkt;
}

/* Does the packet make a frame of its own, or a new one? */
static bool begins_frame(const struct fab_qp *qp, const struct fab_pkt *pkt)
{
	return qp->run_bytes + pkt->hdr.payload_len > SUPER_BYTES ||
	       qp->run_pkts == SUPER_PKTS || pkt->ce != qp->last_ce;
}

static void host_take(struct fab_host *host, struct fab_pkt *pkt)
{
	struct fab_qp *qp = pkt->to;

	if (qp->run_pkts && begins_frame(qp, pkt))
		fab_qp_run(qp);
	qp->last_ce = pkt->ce;
	qp->run_bytes += pkt->hdr.payload_len;
	qp->run_pkts++;
	fab_qp_receive(qp, pkt);
	fab_pkt_free(host->node.fab, pkt);
	fab_qp_kick(qp);
}

static void host_poll(struct fab_actor *actor)
{
	struct fab_host *host = fab_of(actor, struct fab_host, poll);
	struct fab_pkt *pkt;

	while ((pkt = fab_fifo_get(&host->rx)))
		host_take(host, pkt);
}

/* Until the poll: hosts are busy with other things, too. */
static u64 rx_delay_ns(struct fabric *fab)
{
	const struct fab_opts *o = &fab->opts;

	return o->rx_delay +
	       (o->rx_jitter ? sim_below(&fab->rng, o->rx_jitter) : 0);
}

void fab_host_receive(struct fab_host *host, struct fab_pkt *pkt)
{
	struct fabric *fab = host->node.fab;

	if (!fab->opts.rx_delay) {
		host_take(host, pkt);
		return;
	}
	if (!host->rx.head)
		fab_at(fab, fab->now_ns + rx_delay_ns(fab), &host->poll);
	fab_fifo_put(&host->rx, pkt);
}

void fab_host_init(struct fab_host *host)
{
	host->cnps.tail = &host->cnps.head;
	host->turn_tail = &host->turn_head;
	host->poll.act = host_poll;
	fab_fifo_init(&host->rx);
}

static u32 pkt_wire_bytes(u32 payload)
{
	return LOWER_BYTES + GAP_BYTES + sizeof(struct hrw_bth) +
	       HRW_ICRC_LEN + payload;
}

u64 fab_wire_bytes(const struct fabric *fab, u64 len)
{
	u64 nr_pkts = max((len + fab->opts.mtu - 1) / fab->opts.mtu, 1ull);

	/* The first packet has the RETH, the last one the immediate. */
	return len + nr_pkts * pkt_wire_bytes(0) + sizeof(struct hrw_reth) + 4;
}

static u64 wire_ns(const struct fabric *fab, u64 bytes)
{
	return bytes * 8000000 / (fab->opts.rate / 1000);
}

/* Each switch takes a whole packet before it sends it on. */
u64 fab_first_ns(const struct fabric *fab, u32 from, u32 to, u64 len)
{
	const struct fab_opts *o = &fab->opts;
	u32 pkt = pkt_wire_bytes(min_t(u64, len, o->mtu));
	u32 hops = fab_hops(fab, from, to);

	return hops * o->delay + (hops - 1) * wire_ns(fab, pkt);
}

/* A poll that the first packet has begun may find the last one. */
u64 fab_ideal_ns(const struct fabric *fab, u32 from, u32 to, u64 len)
{
	const struct fab_opts *o = &fab->opts;
	u32 pkt = pkt_wire_bytes(min_t(u64, len, o->mtu));
	u64 message_ns = wire_ns(fab, fab_wire_bytes(fab, len));

	return fab_first_ns(fab, from, to, len) +
	       max(message_ns, wire_ns(fab, pkt) + o->rx_delay);
}
