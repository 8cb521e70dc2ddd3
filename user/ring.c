// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Mapping of queues. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

static bool geometry_fits(const struct hroce_ring_info *info,
			  uint32_t min_entries, size_t min_stride)
{
	uint64_t entries_bytes = (uint64_t)info->nr_entries * info->stride;

	if (!info->nr_entries || (info->nr_entries & (info->nr_entries - 1)))
		return false;
	if (info->nr_entries < min_entries)
		return false;
	if (info->stride < min_stride || info->stride % 16)
		return false;
	return info->mmap_size >= HROCE_RING_ENTRIES_OFFSET &&
	       info->mmap_size - HROCE_RING_ENTRIES_OFFSET >= entries_bytes;
}

int hroce_map_open(struct hroce_map *map, int cmd_fd,
		   const struct hroce_ring_info *info, uint32_t min_entries,
		   size_t min_stride)
{
	void *base;

	if (!info->mmap_size && !min_entries)
		return 0;

	if (!geometry_fits(info, min_entries, min_stride)) {
		fprintf(stderr,
			"libhroce: the kernel module's queue has %u entries of %u bytes in %u, wanted %u of %zu: install module and library of the same hroce release\n",
			info->nr_entries, info->stride, info->mmap_size,
			min_entries, min_stride);
		return EPROTO;
	}

	base = mmap(NULL, info->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    cmd_fd, (off_t)info->mmap_offset);
	if (base == MAP_FAILED)
		return errno;

	map->base = base;
	map->len_bytes = info->mmap_size;
	return 0;
}

void hroce_map_close(struct hroce_map *map)
{
	if (map->base)
		munmap(map->base, map->len_bytes);
	map->base = NULL;
}

void hroce_map_trim(struct hroce_map *map)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (map->len_bytes <= page)
		return;
	if (!munmap((uint8_t *)map->base + page, map->len_bytes - page))
		map->len_bytes = page;
}
