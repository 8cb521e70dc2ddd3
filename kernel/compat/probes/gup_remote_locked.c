// SPDX-License-Identifier: GPL-2.0
/* get_user_pages_remote() has no argument vmas: 6.5 on. */
#include <linux/mm.h>

long probe(struct mm_struct *mm, struct page **pages, int *locked);
long probe(struct mm_struct *mm, struct page **pages, int *locked)
{
	return get_user_pages_remote(mm, 0, 1, 0, pages, locked);
}
