// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "util.h"

#define LINE_BYTES	512

struct proc_cpu proc_cpu(void)
{
	FILE *file = fopen("/proc/stat", "r");
	uint64_t user, nice, system, idle, iowait, irq, softirq, tick_ns;
	int n;

	if (!file)
		die("/proc/stat");
	n = fscanf(file, "cpu %" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%"
		   SCNu64 "%" SCNu64 "%" SCNu64, &user, &nice, &system, &idle,
		   &iowait, &irq, &softirq);
	if (n != 7)
		die_saying("/proc/stat is unreadable");
	fclose(file);
	tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	return (struct proc_cpu) {
		.busy_ns = (user + nice + system + irq + softirq) * tick_ns,
		.kernel_ns = (system + irq + softirq) * tick_ns,
	};
}

/* Return: what /proc/meminfo says of @name, in bytes. */
static uint64_t meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[LINE_BYTES];
	size_t len = strlen(name);
	uint64_t kb = 0;

	if (!file)
		die("/proc/meminfo");
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, len) || line[len] != ':')
			continue;
		if (sscanf(line + len + 1, "%" SCNu64, &kb) != 1)
			die_saying("/proc/meminfo is unreadable");
		break;
	}
	fclose(file);
	return kb * 1024;
}

/* Return: bytes that CPUs keep at hand, free but not in MemFree. */
static uint64_t spare_bytes(void)
{
	FILE *file = fopen("/proc/zoneinfo", "r");
	uint64_t pages, sum = 0;
	char line[LINE_BYTES];

	if (!file)
		die("/proc/zoneinfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " count: %" SCNu64, &pages) == 1)
			sum += pages;
	fclose(file);
	return sum * sysconf(_SC_PAGESIZE);
}

uint64_t proc_kernel_bytes(void)
{
	return meminfo("MemTotal") - meminfo("MemFree") - spare_bytes() -
	       meminfo("Buffers") - meminfo("Cached") -
	       meminfo("AnonPages") - meminfo("PageTables");
}

uint64_t proc_ring_bytes(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[LINE_BYTES];
	uint64_t start, end, sum = 0;

	if (!file)
		die("/proc/self/maps");
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "uverbs"))
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2)
			sum += end - start;
	}
	fclose(file);
	return sum;
}
