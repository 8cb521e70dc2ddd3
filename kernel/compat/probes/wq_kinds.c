// SPDX-License-Identifier: GPL-2.0
/* Each workqueue names its kind; the system's have new names: 6.18 on. */
#include <linux/workqueue.h>

bool probe(struct work_struct *work);
bool probe(struct work_struct *work)
{
	return queue_work(system_dfl_wq, work) && WQ_PERCPU;
}
