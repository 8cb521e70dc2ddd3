// SPDX-License-Identifier: GPL-2.0
/* Devices by name, and their GIDs by address. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define MAX_GIDS	1024

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

struct ibv_context *device_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int err = ENODEV;

	for (int i = 0; list && list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name))
			continue;
		context = ibv_open_device(list[i]);
		err = errno;
		break;
	}
	if (list)
		ibv_free_device_list(list);
	if (context)
		fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	errno = err;
	return context;
}

struct ibv_context *device_open_wait(const char *name)
{
	uint64_t end = now_ms() + 20000;
	struct ibv_context *context;

	while (!(context = device_open(name)) && now_ms() < end)
		usleep(5000);
	return context;
}

bool device_is_fatal(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return false;
	ibv_ack_async_event(&event);
	return event.event_type == IBV_EVENT_DEVICE_FATAL;
}

int device_find_gid(struct ibv_context *context, const char *address,
		    union ibv_gid *gid)
{
	static struct ibv_gid_entry entries[MAX_GIDS];
	union ibv_gid want = { .raw = { [10] = 0xff, [11] = 0xff } };
	ssize_t nr;

	if (inet_pton(AF_INET, address, want.raw + 12) != 1)
		return -1;
	nr = ibv_query_gid_table(context, entries, MAX_GIDS, 0);
	for (ssize_t i = 0; i < nr; i++) {
		if (entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(&entries[i].gid, &want, sizeof(want))) {
			*gid = want;
			return entries[i].gid_index;
		}
	}
	return -1;
}
