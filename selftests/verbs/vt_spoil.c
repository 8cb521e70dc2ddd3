// SPDX-License-Identifier: GPL-2.0
/* Pages that are taken away from whoever has not pinned them. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

/* Memory whose contents stay when its pages are dropped. */
unsigned char *vt_map_shared(size_t len)
{
	int fd = memfd_create("vt", 0);
	void *p;

	VT_EQ(ftruncate(fd, len), 0);
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	VT_OK(p != MAP_FAILED, "%s", strerror(errno));
	close(fd);
	return p;
}

/* For shared memory. */
int vt_spoil_drop(void *buf, size_t len)
{
	return madvise(buf, len, MADV_DONTNEED);
}

/* The same. */
int vt_spoil_pageout(void *buf, size_t len)
{
	return madvise(buf, len, MADV_PAGEOUT);
}

/* All that is private is protected, and shared until somebody writes. */
int vt_spoil_fork(void *buf, size_t len)
{
	pid_t pid = fork();

	(void)buf;
	(void)len;
	if (!pid)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

/* It can be read at any time, but not be written in between. */
int vt_spoil_rights(void *buf, size_t len)
{
	return mprotect(buf, len, PROT_READ) ||
	       mprotect(buf, len, PROT_READ | PROT_WRITE);
}

static void *spoiler_thread(void *arg)
{
	struct vt_spoiler *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		if (s->how(s->buf[s->times & 1], s->len)) {
			s->err = errno ?: -1;
			break;
		}
		s->times++;
		/*
		 * More than the millisecond after which a peer that was told
		 * RNR comes again: else it may never find what was fetched.
		 */
		usleep(3000);
	}
	return NULL;
}

void vt_spoiler_begin(struct vt_spoiler *s)
{
	VT_EQ(pthread_create(&s->thread, NULL, spoiler_thread, s), 0);
}

void vt_spoiler_end(struct vt_spoiler *s)
{
	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
	pthread_join(s->thread, NULL);
	VT_EQ(s->err, 0);
	vt_note("%u times", s->times);
	VT_OK(s->times, "never");
}
