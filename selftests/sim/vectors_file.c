// SPDX-License-Identifier: GPL-2.0
/* Frames from *.pcap and *.hex files, expectations from MANIFEST.tsv. */
#include <linux/kernel.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vectors.h"

#define MAX_COLUMNS	32
#define MAX_FRAME	65536
#define MAX_LINE	4096

static FILE *file;
static bool is_pcap;
static bool pcap_swapped;

static char *columns[MAX_COLUMNS];
static int nr_columns;
static char ***rows;
static int nr_rows;
static int at_row;

static u32 pcap_word(u32 word)
{
	return pcap_swapped ? __builtin_bswap32(word) : word;
}

static bool pcap_begin(void)
{
	u32 header[6];

	if (fread(header, sizeof(header), 1, file) != 1)
		return false;
	pcap_swapped = header[0] == 0xd4c3b2a1 || header[0] == 0x4d3cb2a1;
	return (pcap_swapped || header[0] == 0xa1b2c3d4 ||
		header[0] == 0xa1b23c4d) && pcap_word(header[5]) == 1;
}

bool frames_open(const char *dir, const char *name)
{
	char path[MAX_LINE];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "rb");
	if (!file)
		return false;
	is_pcap = strstr(name, ".pcap");
	if (!is_pcap || pcap_begin())
		return true;
	frames_close();
	return false;
}

void frames_close(void)
{
	fclose(file);
	file = NULL;
}

static bool frame_set(struct frame *f, const u8 *data, u32 len)
{
	f->len = len;
	f->data = malloc(len);
	if (!f->data)
		return false;
	memcpy(f->data, data, len);
	return true;
}

static bool pcap_next(struct frame *f)
{
	static u8 data[MAX_FRAME];
	u32 header[4], len;

	if (fread(header, sizeof(header), 1, file) != 1)
		return false;
	len = pcap_word(header[2]);
	if (!len || len > sizeof(data) || fread(data, len, 1, file) != 1)
		return false;
	return frame_set(f, data, len);
}

static int hex_digit(int c)
{
	if (isdigit(c))
		return c - '0';
	return tolower(c) - 'a' + 10;
}

/* Frames are separated by blank lines; # begins a comment. */
static bool hex_next(struct frame *f)
{
	static u8 data[MAX_FRAME];
	char line[MAX_LINE];
	u32 nibbles = 0;
	char *p;

	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (nibbles && line[strspn(line, " \t\r\n")] == '\0')
			break;
		for (p = line; *p && *p != '#'; p++) {
			if (!isxdigit((unsigned char)*p))
				continue;
			if (nibbles / 2 == sizeof(data))
				return false;
			data[nibbles / 2] = data[nibbles / 2] << 4 |
					    hex_digit(*p);
			nibbles++;
		}
	}
	return nibbles && nibbles % 2 == 0 && frame_set(f, data, nibbles / 2);
}

bool frames_next(struct frame *f)
{
	return is_pcap ? pcap_next(f) : hex_next(f);
}

static int split(char *line, char **fields)
{
	int n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (n < MAX_COLUMNS && (fields[n] = strsep(&line, "\t")))
		n++;
	return n;
}

int manifest_load(const char *dir, const char **names)
{
	char line[MAX_LINE];
	int nr_files = 0;
	FILE *manifest;
	char **row;
	int i;

	snprintf(line, sizeof(line), "%s/MANIFEST.tsv", dir);
	manifest = fopen(line, "r");
	if (!manifest)
		return 0;
	while (fgets(line, sizeof(line), manifest)) {
		if (*line == '#')
			continue;
		if (!nr_columns) {
			nr_columns = split(strdup(line), columns);
			continue;
		}
		rows = realloc(rows, (nr_rows + 1) * sizeof(*rows));
		row = calloc(MAX_COLUMNS, sizeof(*row));
		split(strdup(line), row);
		rows[nr_rows++] = row;
		for (i = 0; i < nr_files; i++)
			if (!strcmp(names[i], row[0]))
				break;
		if (i == nr_files && nr_files < VECTORS_MAX_FILES)
			names[nr_files++] = row[0];
	}
	fclose(manifest);
	return nr_files;
}

static const char *column_of(char **r, const char *column)
{
	int i;

	for (i = 0; i < nr_columns; i++)
		if (!strcmp(columns[i], column))
			return r[i];
	return NULL;
}

/* The frame that line @i is about; 0 if that is one of another file. */
static int row_frame(int i, const char *name)
{
	const char *number = column_of(rows[i], "frame");

	return number && !strcmp(rows[i][0], name) ? atoi(number) : 0;
}

int manifest_count(const char *name)
{
	int i, frame, last = 0, n = 0;

	for (i = 0; i < nr_rows; i++) {
		frame = row_frame(i, name);
		n += frame && frame != last;
		last = frame;
	}
	return n;
}

bool manifest_find(const char *name, int frame)
{
	for (at_row = 0; at_row < nr_rows; at_row++)
		if (row_frame(at_row, name) == frame)
			return true;
	return false;
}

bool manifest_next(void)
{
	const char *name = rows[at_row][0];

	if (at_row + 1 == nr_rows ||
	    row_frame(at_row + 1, name) != row_frame(at_row, name))
		return false;
	at_row++;
	return true;
}

const char *manifest_get(const char *column)
{
	return column_of(rows[at_row], column);
}
