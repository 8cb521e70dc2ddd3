// SPDX-License-Identifier: GPL-2.0
/*
 * Switches of links, in debugfs. A case that counts what only comes about with
 * one of them turns it, whatever it was before.
 */
#include <fcntl.h>
#include <unistd.h>

#include "vt.h"

#define MAX_TURNED	12
#define MAX_TRIES	100

/* What has been turned, and what it was. */
static struct turned {
	char path[128];
	char was[64];
} turned[MAX_TURNED];
static unsigned int nr_turned;

/*
 * Try again when memory runs out: cases run where allocations fail at random,
 * and what they turned must be turned back.
 */
static int path_open(const char *path, int flags)
{
	int tries = MAX_TRIES, fd;

	do {
		fd = open(path, flags | O_CLOEXEC);
	} while (fd < 0 && errno == ENOMEM && --tries);
	VT_OK(fd >= 0, "%s: %m", path);
	return fd;
}

static void path_of(const struct vt_end *e, const char *name, char path[128])
{
	snprintf(path, 128, "/sys/kernel/debug/hroce/%s/%s",
		 ibv_get_device_name(e->ctx->device), name);
}

static void path_write(const char *path, const char *value)
{
	int fd = path_open(path, O_WRONLY);

	VT_EQ(write(fd, value, strlen(value)), strlen(value));
	close(fd);
}

static void path_read(const char *path, char *value, size_t len)
{
	int fd = path_open(path, O_RDONLY);
	ssize_t n = read(fd, value, len - 1);

	VT_OK(n > 0, "%s: %m", path);
	value[n] = 0;
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

/* Remember what is about to be turned; the caller says what it was. */
static struct turned *turn_begin(const struct vt_end *e, const char *name)
{
	struct turned *it = &turned[nr_turned];

	VT_OK(nr_turned < MAX_TURNED, "%u switches", nr_turned);
	path_of(e, name, it->path);
	return it;
}

static void turn_done(void)
{
	if (nr_turned++)
		return;
	vt_on_fail(turn_all_back);
	vt_defer(undo_turns, &nr_turned, "switches");
}

/* Turn a switch, until the case ends. */
void vt_switch(const struct vt_end *e, const char *name, bool on)
{
	struct turned *it = turn_begin(e, name);

	path_read(it->path, it->was, 2);
	turn_done();
	vt_switch_again(e, name, on);
}

/* Set a switch that has a value, until the case ends. */
void vt_set(const struct vt_end *e, const char *name, const char *value)
{
	struct turned *it = turn_begin(e, name);

	path_read(it->path, it->was, sizeof(it->was));
	turn_done();
	path_write(it->path, value);
}

/* Limits of a kind of objects, and how many of it there are. */
struct vt_limit vt_limit(const struct vt_end *e, const char *kind)
{
	char path[128], text[1024], name[16], *line;
	struct vt_limit l;

	path_of(e, "limits", path);
	path_read(path, text, sizeof(text));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (sscanf(line, "%15s %u %u %u", name, &l.each, &l.all,
			   &l.used) == 4 && !strcmp(name, kind))
			return l;
	vt_fail(__FILE__, __LINE__, "no limit for %s", kind);
}

/* Set them until the case ends. */
void vt_set_limit(const struct vt_end *e, const char *kind, unsigned int each,
		  unsigned int all)
{
	struct vt_limit was = vt_limit(e, kind);
	struct turned *it = turn_begin(e, "limits");
	char line[64];

	snprintf(it->was, sizeof(it->was), "%s %u %u", kind, was.each, was.all);
	turn_done();
	snprintf(line, sizeof(line), "%s %u %u", kind, each, all);
	path_write(it->path, line);
}

/* Turn it once more; vt_switch() has taken care of the end. */
void vt_switch_again(const struct vt_end *e, const char *name, bool on)
{
	char path[128];

	path_of(e, name, path);
	path_write(path, on ? "Y" : "N");
}
