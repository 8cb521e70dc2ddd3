/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: placement of variables. */
#ifndef SHIM_LINUX_CACHE_H
#define SHIM_LINUX_CACHE_H

#define __ro_after_init
#define __read_mostly

#endif /* SHIM_LINUX_CACHE_H */
