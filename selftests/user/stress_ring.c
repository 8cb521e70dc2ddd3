// SPDX-License-Identifier: GPL-2.0
/*
 * Two posting threads, one polling thread and a thread that plays the kernel,
 * all on one QP and one CQ. The kernel sleeps whenever the send queue is empty
 * and the poller whenever the CQ is: a kick or an event that gets lost shows as
 * a wait that times out, an entry read too early as a wrong value.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "fixture.h"

PROVIDER_FIXTURE(stress_ring)

#define NR_POSTERS	2
#define NR_WRS		20000U	/* by each poster */
#define TIMEOUT_S	60

static struct fixture *fix;
static struct ibv_cq_ex *cq_ex;
static sem_t kicks, events;

/*
 * The kernel's view, at the provider's addresses: of the same memory at others
 * the thread sanitizer would not know that it is the same.
 */
static struct fake_ring sq, cq;
static bool kernel_ok, poller_ok, posters_ok;

static bool wait_for(sem_t *sem)
{
	struct timespec deadline;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += TIMEOUT_S;
	while (sem_timedwait(sem, &deadline))
		if (errno != EINTR)
			return false;
	return true;
}

static void on_kick(uint32_t qpn)
{
	(void)qpn;
	sem_post(&kicks);
}

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void put(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static bool entry_is_sound(const struct hroce_sq_wqe *wqe,
			   const struct hroce_sge *sge)
{
	return wqe->opcode == HROCE_WR_WRITE && wqe->nr_sges == 1 &&
	       wqe->rdma.remote_addr == wqe->wr_id &&
	       sge->addr == ~wqe->wr_id && !wqe->reserved1[1];
}

static void complete(uint32_t idx, uint64_t wr_id)
{
	struct hroce_cqe cqe = { .wr_id = wr_id, .qpn = fix->qp->qp_num,
				 .timestamp_ns = ~wr_id };
	struct hroce_cq_hdr *hdr = (struct hroce_cq_hdr *)cq.base;

	while (idx - get(&hdr->cons) >= cq.nr_entries)
		sched_yield();
	fake_complete(&cq, idx, &cqe);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (get(&hdr->arm) &&
	    __atomic_exchange_n(&hdr->arm, HROCE_CQ_ARM_NONE, __ATOMIC_ACQ_REL))
		sem_post(&events);
}

static void *run_kernel(void *arg)
{
	struct hroce_sq_hdr *hdr = (struct hroce_sq_hdr *)sq.base;
	const struct hroce_sq_wqe *entry;
	struct hroce_sq_wqe wqe;
	struct hroce_sge sge;
	uint32_t cons = 0;

	(void)arg;
	while (cons != NR_POSTERS * NR_WRS) {
		put(&hdr->need_kick, 0);
		while (cons != get(&hdr->prod)) {
			entry = fake_entry(&sq, cons);
			memcpy(&wqe, entry, sizeof(wqe));
			memcpy(&sge, entry + 1, sizeof(sge));
			put(&hdr->cons, cons + 1);
			if (!entry_is_sound(&wqe, &sge))
				return NULL;
			complete(cons++, wqe.wr_id);
		}
		put(&hdr->need_kick, 1);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (cons == get(&hdr->prod) && cons != NR_POSTERS * NR_WRS &&
		    !wait_for(&kicks))
			return NULL;
	}
	kernel_ok = true;
	return NULL;
}

static int post_plain(uint64_t wr_id)
{
	struct ibv_sge sge = { .addr = ~wr_id };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma.remote_addr = wr_id,
	};

	return ibv_post_send(fix->qp, &wr, &bad);
}

static int post_extended(uint64_t wr_id)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(fix->qp);

	ibv_wr_start(qp);
	qp->wr_id = wr_id;
	qp->wr_flags = 0;
	ibv_wr_rdma_write(qp, 0, wr_id);
	ibv_wr_set_sge(qp, 0, ~wr_id, 0);
	return ibv_wr_complete(qp);
}

/* The first poster takes the extended calls, the second the plain ones. */
static void *run_poster(void *arg)
{
	uint64_t poster = (uintptr_t)arg;
	uint32_t nr;
	int ret;

	for (nr = 0; nr < NR_WRS; nr++) {
		while ((ret = poster ? post_plain(poster << 32 | nr) :
				       post_extended(nr)) == ENOMEM)
			sched_yield();
		if (ret)
			__atomic_store_n(&posters_ok, false, __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool take(uint32_t next[NR_POSTERS], uint64_t wr_id, uint64_t timestamp)
{
	uint32_t poster = wr_id >> 32;

	return poster < NR_POSTERS && (uint32_t)wr_id == next[poster]++ &&
	       timestamp == ~wr_id;
}

/* Empty the CQ by the extended calls. Return: how many there were, or -1. */
static int drain(uint32_t next[NR_POSTERS])
{
	struct ibv_poll_cq_attr attr = {};
	int nr = 0;
	bool ok;

	if (ibv_start_poll(cq_ex, &attr))
		return 0;
	do {
		ok = take(next, cq_ex->wr_id, ibv_wc_read_completion_ts(cq_ex));
		nr++;
	} while (ok && !ibv_next_poll(cq_ex));
	ibv_end_poll(cq_ex);
	return ok ? nr : -1;
}

static void *run_poller(void *arg)
{
	uint32_t next[NR_POSTERS] = {}, polled = 0;
	struct ibv_wc wc;
	int nr;

	(void)arg;
	while (polled != NR_POSTERS * NR_WRS) {
		ibv_req_notify_cq(ibv_cq_ex_to_cq(cq_ex), 0);
		nr = drain(next);
		/* the plain call in turn with the other */
		if (nr >= 0 &&
		    ibv_poll_cq(ibv_cq_ex_to_cq(cq_ex), 1, &wc) == 1)
			nr = take(next, wc.wr_id, ~wc.wr_id) ? nr + 1 : -1;
		if (nr < 0)
			return NULL;
		polled += nr;
		if (!nr && polled != NR_POSTERS * NR_WRS && !wait_for(&events))
			return NULL;
	}
	poller_ok = true;
	return NULL;
}

/* A full ring holds up everybody, so a failure ends the program by timeout. */
TEST_F_TIMEOUT(stress_ring, threads_lose_nothing, 240)
{
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = RING_ENTRIES,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	pthread_t kernel, poller, posters[NR_POSTERS];
	uintptr_t idx;

	fix = fixture_open(&self->f, IBV_QPT_RC, IBV_QP_EX_WITH_RDMA_WRITE);
	cq_ex = hroce_create_cq_ex(fix->context, &cq_attr);
	sq = fake.sq;
	sq.base = to_hqp(fix->qp)->sq.map.base;
	cq = fake.cq[1];
	cq.base = to_hcq(ibv_cq_ex_to_cq(cq_ex))->map.base;
	fake.kicked = on_kick;
	posters_ok = true;
	sem_init(&kicks, 0, 0);
	sem_init(&events, 0, 0);

	pthread_create(&kernel, NULL, run_kernel, NULL);
	pthread_create(&poller, NULL, run_poller, NULL);
	for (idx = 0; idx < NR_POSTERS; idx++)
		pthread_create(&posters[idx], NULL, run_poster, (void *)idx);
	for (idx = 0; idx < NR_POSTERS; idx++)
		pthread_join(posters[idx], NULL);
	pthread_join(kernel, NULL);
	pthread_join(poller, NULL);

	EXPECT_TRUE(posters_ok);
	EXPECT_TRUE(kernel_ok);
	EXPECT_TRUE(poller_ok);
	printf("# %u requests, %d kicks\n", NR_POSTERS * NR_WRS, fake.nr_kicks);
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq_ex)));
}

TEST_HARNESS_MAIN
