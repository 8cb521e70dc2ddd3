/* SPDX-License-Identifier: GPL-2.0 */
#include_next <linux/stddef.h>
#include <stddef.h>

#ifndef sizeof_field
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#endif
