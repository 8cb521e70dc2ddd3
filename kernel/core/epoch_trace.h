/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoint of epochs; the others are in trace/trace.h. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hroce

#if !defined(HROCE_EPOCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HROCE_EPOCH_TRACE_H

#include <linux/tracepoint.h>

/* An epoch of the datapath ends. */
TRACE_EVENT(hroce_epoch,
	TP_PROTO(int work, u64 ns),
	TP_ARGS(work, ns),
	TP_STRUCT__entry(
		__field(int, work)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->ns = ns;
	),
	TP_printk("work=%d ns=%llu", __entry->work, __entry->ns)
);

#endif /* HROCE_EPOCH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE epoch_trace
#include <trace/define_trace.h>
