/* SPDX-License-Identifier: GPL-2.0 */
/* Recorder of microbursts: who fills the queue below a link, and for how long. */
#ifndef HROCE_MICROBURST_H
#define HROCE_MICROBURST_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct hroce_port;
struct hroce_recorder;
struct seq_file;

/* Maximum of the threshold, in KB. */
#define HROCE_MICROBURST_MAX_KB	(1u << 20)

/* At least one link has a recorder. */
DECLARE_STATIC_KEY_FALSE(hroce_microbursts);

/**
 * struct hroce_share - what one path has in the sum of its link
 * @recorder: number of the recorder that @kb counts for; 0: none yet
 * @kb: queued, in KB
 *
 * Guarded by the lock of the recorder.
 */
struct hroce_share {
	u32 recorder;
	u32 kb;
};

/**
 * hroce_microburst_set - switch the recorder of a link on or off
 * @port: port of the link
 * @kb: threshold, up to HROCE_MICROBURST_MAX_KB; 0 frees the recorder and what
 *	it has recorded
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, -ENOMEM.
 */
int hroce_microburst_set(struct hroce_port *port, u64 kb);

/* Return: the threshold in KB; 0: the recorder is off. Context: any. */
u32 hroce_microburst_kb(const struct hroce_port *port);

/**
 * hroce_microburst_show - write what is recorded, and what goes on
 * @port: port of the link
 * @file: written to
 *
 * Context: process, may sleep.
 */
void hroce_microburst_show(struct hroce_port *port, struct seq_file *file);

/* The rest is for path.c only. */

/**
 * hroce_recorder_lock - lock the recorder of a link
 * @rec: recorder
 *
 * Context: RCU read side. Interrupts are disabled until
 * hroce_recorder_unlock().
 * Return: flags for that.
 */
unsigned long hroce_recorder_lock(struct hroce_recorder *rec);
void hroce_recorder_unlock(struct hroce_recorder *rec, unsigned long flags);

/**
 * hroce_recorder_count - the queue of a path has grown or shrunk
 * @rec: locked
 * @share: of the path
 * @qpn: of its queue pair
 * @kb: what is queued, read with the lock held: so the last one to take the
 *	lock leaves the last value; 0 if the path ends
 */
void hroce_recorder_count(struct hroce_recorder *rec, struct hroce_share *share,
			  u32 qpn, u32 kb);

#endif /* HROCE_MICROBURST_H */
