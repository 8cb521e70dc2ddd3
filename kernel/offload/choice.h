/* SPDX-License-Identifier: GPL-2.0 */
/* Software or hardware: what a link is to be, and why. */
#ifndef HROCE_OFFLOAD_CHOICE_H
#define HROCE_OFFLOAD_CHOICE_H

#include <rdma/hroce-abi.h>
#include "lower.h"

/* Room for what hroce_choice_reason() tells. */
#define HROCE_REASON_LEN	(HROCE_REMEDY_LEN + 192)

/**
 * enum hroce_policy - what the administrator wants of a link
 * @HROCE_POLICY_AUTO: hardware if there is any
 * @HROCE_POLICY_SOFTWARE: never hardware
 * @HROCE_POLICY_HARDWARE: nothing but hardware; opening fails without
 * @HROCE_POLICY_NR: number of policies
 */
enum hroce_policy {
	HROCE_POLICY_AUTO,
	HROCE_POLICY_SOFTWARE,
	HROCE_POLICY_HARDWARE,
	HROCE_POLICY_NR,
};

/**
 * struct hroce_choice - what a link is
 * @policy: what was asked for
 * @mode: what came of it
 * @has_lower: there is hardware below, used or not
 * @lower: which
 */
struct hroce_choice {
	enum hroce_policy policy;
	enum hroce_mode mode;
	bool has_lower;
	struct hroce_lower lower;
};

extern const char *const hroce_policy_names[HROCE_POLICY_NR];
extern const char *const hroce_mode_names[];

/**
 * hroce_choice_make - choose
 * @choice: has the policy, and what was chosen last
 * @ndev: netdev of the link
 *
 * Context: process, may sleep.
 */
void hroce_choice_make(struct hroce_choice *choice,
		       const struct net_device *ndev);

/**
 * hroce_choice_differs - is it worth a line in the log?
 * @a: choice
 * @b: choice
 *
 * Return: true if they differ in mode or lower device.
 */
bool hroce_choice_differs(const struct hroce_choice *a,
			  const struct hroce_choice *b);

/**
 * hroce_choice_reason - tell why
 * @choice: choice
 * @ndev: netdev of the link
 * @buf: for the text, one line
 * @len: room in @buf
 */
void hroce_choice_reason(const struct hroce_choice *choice,
			 const struct net_device *ndev, char *buf, size_t len);

#endif /* HROCE_OFFLOAD_CHOICE_H */
