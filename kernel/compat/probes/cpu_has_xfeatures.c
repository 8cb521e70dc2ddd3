// SPDX-License-Identifier: GPL-2.0
/* cpu_has_xfeatures(): x86, but not user-mode Linux. */
#include <linux/types.h>
#include <asm/fpu/api.h>

int probe(void);
int probe(void)
{
	return cpu_has_xfeatures(0, NULL);
}
