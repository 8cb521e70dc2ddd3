/* SPDX-License-Identifier: GPL-2.0 */
/* Frames in files, and the manifest that says what to expect of them. */
#ifndef VECTORS_H
#define VECTORS_H

#include <linux/types.h>

#define VECTORS_MAX_FILES	256

/**
 * struct frame - one Ethernet frame
 * @data: heap block of exactly @len bytes, to be freed by the caller
 * @len: captured bytes
 */
struct frame {
	u8 *data;
	u32 len;
};

/* Open a *.pcap or *.hex file; false if that fails. */
bool frames_open(const char *dir, const char *name);

/* The next frame; false at the end or if the file is damaged. */
bool frames_next(struct frame *f);

void frames_close(void);

/* Read MANIFEST.tsv; returns the number of files it lists, in @names. */
int manifest_load(const char *dir, const char **names);

/* Frames that it lists for a file. */
int manifest_count(const char *name);

/* Go to the line of a frame, counted from 1: that of its first packet. */
bool manifest_find(const char *name, int frame);

/* Go to the next packet of that frame; false if it was the last one. */
bool manifest_next(void);

/* A column of that line; NULL if there is none. */
const char *manifest_get(const char *column);

#endif /* VECTORS_H */
