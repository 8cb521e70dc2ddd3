// SPDX-License-Identifier: GPL-2.0
/*
 * Switches of links, in debugfs. A case that counts what only comes about with
 * one of them turns it, whatever it was before.
 */
#include <fcntl.h>
#include <unistd.h>

#include "vt.h"

#define MAX_TURNED	4

/* What has been turned, and what it was. */
static struct turned {
	char path[128];
	char was;
} turned[MAX_TURNED];
static unsigned int nr_turned;

static int path_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	VT_OK(fd >= 0, "%s: %m", path);
	return fd;
}

static void path_of(const struct vt_end *e, const char *name, char path[128])
{
	snprintf(path, 128, "/sys/kernel/debug/hroce/%s/%s",
		 ibv_get_device_name(e->ctx->device), name);
}

static void path_write(const char *path, char value)
{
	int fd = path_open(path, O_WRONLY);

	VT_EQ(write(fd, &value, 1), 1);
	close(fd);
}

static void turn_all_back(void)
{
	while (nr_turned) {
		const struct turned *it = &turned[--nr_turned];

		path_write(it->path, it->was);
	}
}

static int undo_turns(void *left)
{
	turn_all_back();
	return *(unsigned int *)left;
}

/* Turn a switch, until the case ends. */
void vt_switch(const struct vt_end *e, const char *name, bool on)
{
	struct turned *it = &turned[nr_turned];
	int fd;

	VT_OK(nr_turned < MAX_TURNED, "%u switches", nr_turned);
	path_of(e, name, it->path);
	fd = path_open(it->path, O_RDONLY);
	VT_EQ(read(fd, &it->was, 1), 1);
	close(fd);
	if (!nr_turned++) {
		vt_on_fail(turn_all_back);
		vt_defer(undo_turns, &nr_turned, "switches");
	}
	vt_switch_again(e, name, on);
}

/* Turn it once more; vt_switch() has taken care of the end. */
void vt_switch_again(const struct vt_end *e, const char *name, bool on)
{
	char path[128];

	path_of(e, name, path);
	path_write(path, on ? 'Y' : 'N');
}
