// SPDX-License-Identifier: GPL-2.0
/*
 * Loaded before a program (LD_PRELOAD), this has the kernel populate what the program maps when it is mapped, not as it
 * is touched. libfabric touches tens of megabytes for each endpoint, and user-mode Linux takes 150 us and more for a page
 * fault, 5 us for a page that it populates.
 */
#include <sys/mman.h>

__attribute__((constructor)) static void populate(void)
{
	mlockall(MCL_CURRENT | MCL_FUTURE);
}
