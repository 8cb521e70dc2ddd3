// SPDX-License-Identifier: GPL-2.0
/* Memory, and the end if there is none. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "fabric.h"

#define CHUNK_OBJECTS	1024

/* Objects that are free are linked by their first word, as chunks are. */
struct link {
	struct link *next;
};

static void pool_grow(struct fab_pool *pool)
{
	struct link *chunk = malloc(64 + CHUNK_OBJECTS * pool->size);
	char *object = (char *)chunk + 64;
	u32 i;

	if (!chunk)
		fab_die("no memory");
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	for (i = 0; i < CHUNK_OBJECTS; i++)
		fab_pool_put(pool, object + i * pool->size);
}

void *fab_pool_get(struct fab_pool *pool)
{
	struct link *object;

	if (!pool->free)
		pool_grow(pool);
	object = pool->free;
	pool->free = object->next;
	return object;
}

void fab_pool_put(struct fab_pool *pool, void *object)
{
	struct link *free = object;

	free->next = pool->free;
	pool->free = free;
}

void fab_pool_end(struct fab_pool *pool)
{
	struct link *chunk;

	while ((chunk = pool->chunks)) {
		pool->chunks = chunk->next;
		free(chunk);
	}
	pool->free = NULL;
}

void fab_die(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("fabric: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

void *fab_alloc(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	if (!p)
		fab_die("no memory");
	return p;
}
