/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: what runs when a module is loaded runs before main(). */
#ifndef SHIM_LINUX_INIT_H
#define SHIM_LINUX_INIT_H

#define __init	__attribute__((__constructor__))

#endif /* SHIM_LINUX_INIT_H */
