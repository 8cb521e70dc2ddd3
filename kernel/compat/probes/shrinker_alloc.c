// SPDX-License-Identifier: GPL-2.0
/* Shrinkers are allocated since 6.7. */
#include <linux/shrinker.h>

struct shrinker *probe(void);
struct shrinker *probe(void)
{
	struct shrinker *shrinker = shrinker_alloc(0, "probe");

	if (shrinker)
		shrinker_register(shrinker);
	return shrinker;
}
