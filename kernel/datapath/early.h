/* SPDX-License-Identifier: GPL-2.0 */
/* Acknowledgements that arrive before the frames have been freed. */
#ifndef HROCE_EARLY_H
#define HROCE_EARLY_H

#include <linux/types.h>
#include <asm/barrier.h>

struct hrp_pkt;
struct hroce_qp;

/**
 * struct hroce_early - memory that frames of a requester may refer to
 * @until_ns: end of the wait, if @held or @error
 * @psn: PSN of the acknowledgement that is held back
 * @syndrome: its syndrome; the credits have been taken
 * @held: an acknowledgement is held back
 * @map: it tells what is kept behind a gap
 * @error: completions in error are held back
 * @busy: frames may refer to memory; false if none does, or after a timeout
 * @open: a burst may refer to memory and not be in a frame yet; written by the
 *	holder of the token, with or without the lock
 */
struct hroce_early {
	u64 until_ns;
	u32 psn;
	u8 syndrome;
	u8 held:1;
	u8 map:1;
	u8 error:1;
	bool busy;
	bool open;
};

/**
 * hroce_early_begin - announce a burst that may refer to memory
 * @qp: queue pair of a reliable service
 * @fresh: no frame is open
 * @psn: PSN of the first packet of the burst
 *
 * Context: @qp->send.lock held, by the holder of the token.
 */
void hroce_early_begin(struct hroce_qp *qp, bool fresh, u32 psn);

/*
 * All announced bursts are in frames, or copied. Context: holder of the token.
 */
static inline void hroce_early_sent(struct hroce_early *early)
{
	if (!early->open)
		return;
	/* Frames were counted before; pairs with early_end(). */
	smp_store_release(&early->open, false);
}

/**
 * hroce_early_hold - hold an acknowledgement back if it is early
 * @qp: queue pair
 * @pkt: response with a correct ICRC
 *
 * An acknowledgement is early if it completes a request while a frame still
 * refers to its memory: the application could then modify that. It is processed
 * as far as it is not early, and completely when the frames have been freed or
 * after EARLY_MAX_NS. Credits are taken at once.
 *
 * Responses to READ and atomic requests are not held back.
 *
 * Context: @qp->send.lock held.
 * Return: true if the caller must not process it.
 */
bool hroce_early_hold(struct hroce_qp *qp, const struct hrp_pkt *pkt);

/**
 * hroce_early_go_on - process a held acknowledgement as far as possible
 * @qp: queue pair that holds an acknowledgement back
 *
 * Context: @qp->send.lock held.
 */
void hroce_early_go_on(struct hroce_qp *qp);

/**
 * hroce_early_must_wait - must flushing wait for frames?
 * @qp: queue pair in state ERR
 * @now_ns: current time
 *
 * Context: @qp->send.lock held.
 * Return: true if so; the requester runs again when the frames have been freed,
 *         or after EARLY_MAX_NS.
 */
bool hroce_early_must_wait(struct hroce_qp *qp, u64 now_ns);

/**
 * hroce_early_timeout - the timer expired
 * @qp: queue pair
 * @now_ns: current time
 *
 * The local ACK timeout does not count while an acknowledgement is held back,
 * nor does the last retry of a request while frames refer to memory.
 *
 * Context: @qp->send.lock held. hrp_req_timeout() follows.
 * Return: true if the requester must run.
 */
bool hroce_early_timeout(struct hroce_qp *qp, u64 now_ns);

/**
 * hroce_early_drain - wait until no frame refers to memory
 * @qp: queue pair, stopped by hroce_qp_stop()
 *
 * Waits EARLY_MAX_NS at most, and not at all if the process ends or the device
 * is being removed.
 *
 * Context: process, sleeps.
 */
void hroce_early_drain(struct hroce_qp *qp);

/* Is there a deadline? Context: @qp->send.lock held. */
static inline bool hroce_early_waits(const struct hroce_early *early)
{
	return early->held || early->error;
}

#endif /* HROCE_EARLY_H */
