// SPDX-License-Identifier: GPL-2.0
/* Choose the mode of a link from its policy and the hardware below. */
#include <linux/netdevice.h>
#include "choice.h"

const char *const hroce_policy_names[HROCE_POLICY_NR] = {
	[HROCE_POLICY_AUTO] = "auto",
	[HROCE_POLICY_SOFTWARE] = "software",
	[HROCE_POLICY_HARDWARE] = "hardware",
};

const char *const hroce_mode_names[] = {
	[HROCE_MODE_SOFTWARE] = "software",
	[HROCE_MODE_FACADE] = "hardware",
};

void hroce_choice_make(struct hroce_choice *choice,
		       const struct net_device *ndev)
{
	struct hroce_lower last = choice->lower;
	bool hardware;

	choice->has_lower = hroce_lower_find(ndev, choice->has_lower ? &last :
						   NULL, &choice->lower);
	hardware = choice->policy == HROCE_POLICY_HARDWARE ||
		   (choice->policy == HROCE_POLICY_AUTO && choice->has_lower);
	choice->mode = hardware ? HROCE_MODE_FACADE : HROCE_MODE_SOFTWARE;
}

bool hroce_choice_differs(const struct hroce_choice *a,
			  const struct hroce_choice *b)
{
	if (a->mode != b->mode || a->has_lower != b->has_lower)
		return true;
	return a->has_lower && (a->lower.index != b->lower.index ||
				a->lower.port != b->lower.port ||
				strcmp(a->lower.name, b->lower.name));
}

void hroce_choice_reason(const struct hroce_choice *choice,
			 const struct net_device *ndev, char *buf, size_t len)
{
	const char *policy = hroce_policy_names[choice->policy];
	char remedy[HROCE_REMEDY_LEN];

	if (!choice->has_lower) {
		snprintf(buf, len,
			 "policy %s; no device of offload_drivers offers RoCEv2 on %s",
			 policy, ndev->name);
	} else if (choice->mode == HROCE_MODE_FACADE) {
		snprintf(buf, len, "policy %s; %s port %u offers RoCEv2 on %s",
			 policy, choice->lower.name, choice->lower.port,
			 ndev->name);
	} else {
		hroce_lower_remedy(&choice->lower, remedy, sizeof(remedy));
		snprintf(buf, len,
			 "policy %s, but %s takes UDP port 4791 on %s: %s",
			 policy, choice->lower.name, ndev->name, remedy);
	}
}
