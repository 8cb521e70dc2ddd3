// SPDX-License-Identifier: GPL-2.0
/* Definitions of the tracepoints. */
#define CREATE_TRACE_POINTS
#include "trace.h"

u32 hroce_trace_waits;

/* Called one at a time. */
int hroce_trace_wait_on(void)
{
	WRITE_ONCE(hroce_trace_waits, hroce_trace_waits + 1);
	return 0;
}

void hroce_trace_wait_off(void)
{
}

const char *hroce_trace_drop_name(u32 reason)
{
	static const char *const names[] = {
#define HROCE_TRACE_DROP(name, str, proves) str,
		HROCE_DROPS(HROCE_TRACE_DROP)
#undef HROCE_TRACE_DROP
	};

	return reason < ARRAY_SIZE(names) ? names[reason] : "unknown";
}
