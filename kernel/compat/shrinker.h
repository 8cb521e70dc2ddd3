/* SPDX-License-Identifier: GPL-2.0 */
/* Shrinkers are allocated since 6.7. For the file that has the callbacks. */
#ifndef HROCE_COMPAT_SHRINKER_H
#define HROCE_COMPAT_SHRINKER_H

#include <linux/shrinker.h>
#include <linux/slab.h>

#ifndef HROCE_HAVE_SHRINKER_ALLOC
static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (!shrinker)
		return NULL;
	shrinker->flags = flags;
	shrinker->seeks = DEFAULT_SEEKS;
	return shrinker;
}

/* It is never called if that fails. */
static inline void shrinker_register(struct shrinker *shrinker)
{
	if (register_shrinker(shrinker, "hroce"))
		pr_debug("no shrinker\n");
}

static inline void shrinker_free(struct shrinker *shrinker)
{
	if (!shrinker)
		return;
	/* Does nothing if it is not registered. */
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#endif

#endif /* HROCE_COMPAT_SHRINKER_H */
