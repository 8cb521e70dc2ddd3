/* SPDX-License-Identifier: GPL-2.0 */
/* Mode of a link, software or hardware, and the reason for it. */
#ifndef HROCE_OFFLOAD_CHOICE_H
#define HROCE_OFFLOAD_CHOICE_H

#include <rdma/hroce-abi.h>
#include "lower.h"

/* Buffer size for hroce_choice_reason(). */
#define HROCE_REASON_LEN	(HROCE_REMEDY_LEN + 192)

/**
 * enum hroce_policy - mode that the administrator requests
 * @HROCE_POLICY_AUTO: hardware if there is any, otherwise software
 * @HROCE_POLICY_SOFTWARE: never hardware
 * @HROCE_POLICY_HARDWARE: only hardware; without it, opening fails
 * @HROCE_POLICY_NR: number of policies
 */
enum hroce_policy {
	HROCE_POLICY_AUTO,
	HROCE_POLICY_SOFTWARE,
	HROCE_POLICY_HARDWARE,
	HROCE_POLICY_NR,
};

/**
 * struct hroce_choice - policy and mode of a link
 * @policy: requested by the administrator
 * @mode: mode in force
 * @has_lower: there is hardware below, used or not
 * @lower: that hardware, if @has_lower
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
 * hroce_choice_make - choose the mode and the lower device
 * @choice: holds the policy and the last choice; updated
 * @ndev: netdev of the link
 *
 * Context: process, may sleep.
 */
void hroce_choice_make(struct hroce_choice *choice,
		       const struct net_device *ndev);

/**
 * hroce_choice_differs - compare two choices
 * @a: choice
 * @b: choice
 *
 * Return: true if they differ in mode or lower device.
 */
bool hroce_choice_differs(const struct hroce_choice *a,
			  const struct hroce_choice *b);

/**
 * hroce_choice_reason - describe the reason for a choice
 * @choice: choice
 * @ndev: netdev of the link
 * @buf: for the text, one line
 * @len: size of @buf
 */
void hroce_choice_reason(const struct hroce_choice *choice,
			 const struct net_device *ndev, char *buf, size_t len);

#endif /* HROCE_OFFLOAD_CHOICE_H */
