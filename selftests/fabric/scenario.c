// SPDX-License-Identifier: GPL-2.0
/*
 * Scenarios are text files, see Documentation/fabric.rst:
 *	KEY VALUE			a setting of all cases that follow
 *	case NAME KEY=VALUE...		a run, with settings of its own
 *	expect METRIC OP VALUE		what must be found
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric.h"

#define MAX_LINE	512

static const char *const shapes[] = {
	[FAB_STAR] = "star",
	[FAB_DUMBBELL] = "dumbbell",
	[FAB_LEAFSPINE] = "leafspine",
	[FAB_FATTREE] = "fattree",
	NULL
};

static const char *const loads[] = {
	[FAB_ONCE] = "once",
	[FAB_LONG] = "long",
	[FAB_POISSON] = "poisson",
	[FAB_STORAGE] = "storage",
	[FAB_ALLTOALL] = "alltoall",
	[FAB_RING] = "ring",
	[FAB_TREE] = "tree",
	[FAB_BROADCAST] = "broadcast",
	NULL
};

static const char *const patterns[] = {
	[FAB_INCAST] = "incast",
	[FAB_PERMUTATION] = "permutation",
	[FAB_PAIRS] = "pairs",
	NULL
};

enum kind { NUMBER, REAL, TEXT, NAME };

#define KEY(name, kind, names) \
	{ #name, kind, offsetof(struct fab_opts, name), names }

static const struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	const char *const *names;
} keys[] = {
	KEY(seed, NUMBER, NULL),
	KEY(topology, NAME, shapes),
	KEY(hosts, NUMBER, NULL),
	KEY(leaves, NUMBER, NULL),
	KEY(spines, NUMBER, NULL),
	KEY(k, NUMBER, NULL),
	KEY(edge_hosts, NUMBER, NULL),
	KEY(rate, NUMBER, NULL),
	KEY(fabric_rate, NUMBER, NULL),
	KEY(delay, NUMBER, NULL),
	KEY(buffer, NUMBER, NULL),
	KEY(alpha, REAL, NULL),
	KEY(ecn_min, NUMBER, NULL),
	KEY(ecn_max, NUMBER, NULL),
	KEY(ecn_p, REAL, NULL),
	KEY(red, NUMBER, NULL),
	KEY(pfc, NUMBER, NULL),
	KEY(pfc_xoff, NUMBER, NULL),
	KEY(pfc_headroom, NUMBER, NULL),
	KEY(loss_ppm, NUMBER, NULL),
	KEY(loss_to, NUMBER, NULL),
	KEY(loss_burst, NUMBER, NULL),
	KEY(late_ppm, NUMBER, NULL),
	KEY(late_by, NUMBER, NULL),
	KEY(flap_link, NUMBER, NULL),
	KEY(flap_at, NUMBER, NULL),
	KEY(flap_down, NUMBER, NULL),
	KEY(flap_every, NUMBER, NULL),
	KEY(flap_marks, NUMBER, NULL),
	KEY(flap_loss_ppm, NUMBER, NULL),
	KEY(detect, NUMBER, NULL),
	KEY(mtu, NUMBER, NULL),
	KEY(window, NUMBER, NULL),
	KEY(keep, NUMBER, NULL),
	KEY(sack, NUMBER, NULL),
	KEY(timeout, NUMBER, NULL),
	KEY(cc, TEXT, NULL),
	KEY(ai_rate, NUMBER, NULL),
	KEY(time_reset, NUMBER, NULL),
	KEY(cnp_gap, NUMBER, NULL),
	KEY(ack_delay, NUMBER, NULL),
	KEY(rx_delay, NUMBER, NULL),
	KEY(rx_jitter, NUMBER, NULL),
	KEY(paths, NUMBER, NULL),
	KEY(rehash, NUMBER, NULL),
	KEY(spray, NUMBER, NULL),
	KEY(flowlet, NUMBER, NULL),
	KEY(load, NAME, loads),
	KEY(pattern, NAME, patterns),
	KEY(flows, NUMBER, NULL),
	KEY(reads, NUMBER, NULL),
	KEY(size, NUMBER, NULL),
	KEY(depth, NUMBER, NULL),
	KEY(gap, NUMBER, NULL),
	KEY(jitter, NUMBER, NULL),
	KEY(offered, REAL, NULL),
	KEY(duration, NUMBER, NULL),
	KEY(warmup, NUMBER, NULL),
	KEY(limit, NUMBER, NULL),
};

#define NR_KEYS	(sizeof(keys) / sizeof(keys[0]))

static const struct fab_opts defaults = {
	.seed = 1,
	.hosts = 16,
	.leaves = 4,
	.spines = 4,
	.k = 4,
	.rate = 100000000000ull,
	.delay = FAB_US,
	.buffer = 16u << 20,
	.alpha = 1,
	.ecn_p = 1,
	.late_by = 500 * FAB_US,
	.pfc_headroom = 100000,
	.detect = FAB_MS,
	.mtu = 4096,
	.window = 2048,
	.keep = 1,
	.sack = 1,
	.timeout = 14,
	.cc = "delay",
	.cnp_gap = 50 * FAB_US,
	.ack_delay = 20 * FAB_US,
	.rx_delay = 5 * FAB_US,
	.paths = 1,
	.rehash = 1,
	.spray = 1,
	.size = 1000000,
	.depth = 4,
	.offered = 0.5,
	.duration = 10 * FAB_MS,
	.limit = 10 * FAB_SEC,
};

/* Where in which file, for messages. */
struct place {
	const char *path;
	u32 line;
};

#define bad(place, format, ...) \
	fab_die("%s:%u: " format, (place)->path, (place)->line, ##__VA_ARGS__)

static double unit(const char *name)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		{ "", 1 }, { "k", 1e3 }, { "m", 1e6 }, { "g", 1e9 },
		{ "Ki", 1024 }, { "Mi", 1048576 }, { "Gi", 1073741824 },
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ NULL, 0 }
	};
	u32 i;

	for (i = 0; units[i].name; i++)
		if (!strcmp(units[i].name, name))
			break;
	return units[i].factor;
}

static double number(const struct place *place, const char *text)
{
	char *end;
	double value = strtod(text, &end), factor = unit(end);

	if (end == text || !factor || value < 0)
		bad(place, "not a number: %s", text);
	return value * factor;
}

static u64 name_index(const struct place *place, const char *const *names,
		      const char *text)
{
	u32 i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], text))
			return i;
	bad(place, "unknown: %s", text);
}

static void set(const struct place *place, struct fab_opts *opts,
		const char *name, const char *text)
{
	const struct key *key = NULL;
	void *at;
	u32 i;

	for (i = 0; i < NR_KEYS && !key; i++)
		if (!strcmp(keys[i].name, name))
			key = &keys[i];
	if (!key)
		bad(place, "unknown setting: %s", name);
	at = (char *)opts + key->offset;
	switch (key->kind) {
	case NUMBER:
		*(u64 *)at = number(place, text) + 0.5;
		break;
	case REAL:
		*(double *)at = number(place, text);
		break;
	case TEXT:
		snprintf(at, sizeof(opts->cc), "%s", text);
		break;
	case NAME:
		*(u64 *)at = name_index(place, key->names, text);
		break;
	}
}

s32 fab_find_cc(const char *name)
{
	u8 cc;

	for (cc = 0; cc < HRP_CC_NR; cc++)
		if (!strcmp(hrp_cc_of(cc)->name, name))
			return cc;
	return -1;
}

/* Impossible settings would go wrong in strange ways. */
void fab_opts_check(struct fab_opts *opts)
{
	u64 half = opts->hosts / 2;

	if (!opts->fabric_rate)
		opts->fabric_rate = opts->rate;
	if (opts->mtu < 256 || opts->mtu > 4096 ||
	    opts->mtu & (opts->mtu - 1))
		fab_die("%s: mtu", opts->name);
	if (opts->hosts < 2 || opts->hosts > 1u << 16 ||
	    (opts->topology == FAB_DUMBBELL && 2 * half != opts->hosts) ||
	    (opts->topology == FAB_LEAFSPINE &&
	     (!opts->leaves || !opts->spines || opts->hosts % opts->leaves)) ||
	    (opts->topology == FAB_FATTREE && (opts->k < 2 || opts->k & 1)))
		fab_die("%s: topology", opts->name);
	if (opts->rate < 1000000 || opts->fabric_rate < 1000000)
		fab_die("%s: rate", opts->name);
	if (opts->size >= 1u << 31 || !opts->window ||
	    opts->window > 8191 || !opts->depth ||
	    (!opts->size && opts->load != FAB_POISSON))
		fab_die("%s: load", opts->name);
	if (opts->flap_every && opts->flap_every <= opts->flap_down)
		fab_die("%s: flap", opts->name);
}

static void read_case(struct fab_scenario *s, const struct place *place,
		      const struct fab_opts *base, char *words)
{
	char *word = strtok(words, " \t\n"), *value;
	struct fab_opts *opts;

	if (!word || s->nr_cases == FAB_MAX_CASES)
		bad(place, "no name, or too many cases");
	opts = &s->cases[s->nr_cases++];
	*opts = *base;
	snprintf(opts->name, sizeof(opts->name), "%s", word);
	while ((word = strtok(NULL, " \t\n"))) {
		value = strchr(word, '=');
		if (!value)
			bad(place, "not KEY=VALUE: %s", word);
		*value++ = 0;
		set(place, opts, word, value);
	}
}

/* [CASE.]METRIC */
static enum fab_metric read_metric(const struct place *place, const char *word,
				   char *name, size_t size)
{
	const char *dot = strchr(word, '.');
	u32 i;

	name[0] = 0;
	if (dot) {
		snprintf(name, size, "%.*s", (int)(dot - word), word);
		word = dot + 1;
	}
	for (i = 0; i < FAB_NR_METRICS; i++)
		if (!strcmp(fab_metric_names[i], word))
			return i;
	bad(place, "unknown metric: %s", word);
}

static void read_expect(struct fab_scenario *s, const struct place *place,
			char *words)
{
	struct fab_expect *e;
	char *left, *op, *right, *star;

	if (s->nr_expects == FAB_MAX_EXPECTS)
		bad(place, "too many expectations");
	e = &s->expects[s->nr_expects++];
	snprintf(e->text, sizeof(e->text), "%.*s", (int)strcspn(words, "\n"),
		 words + strspn(words, " \t"));
	left = strtok(words, " \t\n");
	op = strtok(NULL, " \t\n");
	right = strtok(NULL, " \t\n");
	if (!right || strtok(NULL, " \t\n") || !strchr("<>=", op[0]))
		bad(place, "not METRIC <=|>=|= VALUE");
	e->metric = read_metric(place, left, e->left, sizeof(e->left));
	e->op = op[0];
	star = strchr(right, '*');
	if (star) {
		*star++ = 0;
		e->right_metric = read_metric(place, star, e->right,
					      sizeof(e->right));
	}
	e->factor = number(place, right);
}

static bool has_case(const struct fab_scenario *s, const char *name)
{
	u32 i;

	for (i = 0; i < s->nr_cases; i++)
		if (!strcmp(s->cases[i].name, name))
			return true;
	return !name[0];
}

static void read_line(struct fab_scenario *s, const struct place *place,
		      struct fab_opts *base, char *line)
{
	char *word, *rest;

	line[strcspn(line, "#\n")] = 0;
	word = line + strspn(line, " \t");
	if (!*word)
		return;
	rest = word + strcspn(word, " \t");
	if (*rest)
		*rest++ = 0;
	if (!strcmp(word, "case")) {
		read_case(s, place, base, rest);
	} else if (!strcmp(word, "expect")) {
		read_expect(s, place, rest);
	} else {
		rest = strtok(rest, " \t");
		if (!rest || strtok(NULL, " \t"))
			bad(place, "%s has one value", word);
		set(place, base, word, rest);
	}
}

void fab_scenario_read(struct fab_scenario *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	struct fab_opts base = defaults;
	struct place place = { path, 0 };
	FILE *f = fopen(path, "r");
	char line[MAX_LINE];
	u32 i;

	if (!f)
		fab_die("cannot read %s", path);
	snprintf(s->name, sizeof(s->name), "%.*s", (int)strcspn(file, "."),
		 file);
	while (fgets(line, sizeof(line), f)) {
		place.line++;
		read_line(s, &place, &base, line);
	}
	fclose(f);
	if (!s->nr_cases)
		bad(&place, "no case");
	for (i = 0; i < s->nr_expects; i++)
		if (!has_case(s, s->expects[i].left) ||
		    !has_case(s, s->expects[i].right))
			bad(&place, "no such case: %s", s->expects[i].text);
}
