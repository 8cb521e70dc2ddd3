// SPDX-License-Identifier: GPL-2.0
/*
 * The command line:
 *	fabric [-v] [-c CASE] [-s SEED] [-t FILE] SCENARIO...
 * runs the cases of each scenario and reports the expectations as TAP; a table
 * of what was measured goes to FILE.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "fabric.h"
#include "tap.h"

static const struct fab_load_ops *const loads[] = {
	[FAB_ONCE] = &fab_load_flows,
	[FAB_LONG] = &fab_load_flows,
	[FAB_POISSON] = &fab_load_poisson,
	[FAB_STORAGE] = &fab_load_storage,
	[FAB_ALLTOALL] = &fab_load_alltoall,
	[FAB_RING] = &fab_load_ring,
	[FAB_TREE] = &fab_load_tree,
	[FAB_BROADCAST] = &fab_load_broadcast,
};

/* Packets that have left a port, in all runs, and seconds. */
static double all_pkts, all_seconds;

static void warm(struct fab_actor *actor)
{
	fab_measure_begin(fab_of(actor, struct fabric, warm));
}

static void end(struct fab_actor *actor)
{
	fab_of(actor, struct fabric, end)->stop = true;
}

/* What has no end of its own ends after its duration, the rest at the limit. */
static u64 end_ns(const struct fab_opts *o)
{
	return o->load == FAB_LONG || o->load == FAB_STORAGE ? o->duration :
							       o->limit;
}

void fab_simulate(const struct fab_opts *opts, struct fab_result *result)
{
	struct fabric *fab = fab_alloc(1, sizeof(*fab));

	fab->opts = *opts;
	fab_opts_check(&fab->opts);
	fab->cc = fab_find_cc(opts->cc);
	hrp_rp_init(&fab->rp);
	fab->rp.line_kbps = opts->rate / 1000;
	fab->rp.ai_rate = opts->ai_rate / 1000000;
	fab->rp.time_reset = opts->time_reset / FAB_US;
	fab->rng.state = opts->seed;
	fab->now_ns = FAB_START;
	fab->measure_ns = FAB_START;
	fab->kick_tail = &fab->kick_head;
	fab->pkts.size = (sizeof(struct fab_pkt) + 63) & ~63ul;
	fab->bursts.size = sizeof(struct fab_burst);
	fab->maps.size = HRP_SACK_MAP_BYTES;
	fab->msgs.size = sizeof(struct fab_msg);
	fab_build(fab);
	fab->load = loads[opts->load];
	fab->load->start(fab);
	fab->warm.act = warm;
	fab->end.act = end;
	if (opts->warmup)
		fab_at(fab, FAB_START + opts->warmup, &fab->warm);
	fab_at(fab, FAB_START + end_ns(opts), &fab->end);
	fab_flap_start(fab);
	fab_run(fab);
	fab_result(fab, result);
	fab_unbuild(fab);
	free(fab);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print_head(FILE *table)
{
	u32 i;

	fprintf(table, "scenario\tcase\tseed\tcc");
	for (i = 0; i < FAB_NR_METRICS; i++)
		fprintf(table, "\t%s", fab_metric_names[i]);
	fprintf(table, "\n");
}

static void print_row(FILE *table, const char *name,
		      const struct fab_opts *opts,
		      const struct fab_result *result)
{
	u32 i;

	fprintf(table, "%s\t%s\t%llu\t%s", name, opts->name,
		(unsigned long long)opts->seed, opts->cc);
	for (i = 0; i < FAB_NR_METRICS; i++)
		fprintf(table, "\t%.6g", result->v[i]);
	fprintf(table, "\n");
	fflush(table);
}

static void print_all(const struct fab_result *result)
{
	u32 i;

	for (i = 0; i < FAB_NR_METRICS; i++)
		printf("#   %-16s %.6g\n", fab_metric_names[i], result->v[i]);
}

/* The engine may have no such control. */
static const char *why_skip(const struct fab_opts *opts)
{
	return fab_find_cc(opts->cc) < 0 ? "no such control" : NULL;
}

static void run_case(const struct fab_scenario *s, u32 i, FILE *table,
		       bool verbose, struct fab_result *result)
{
	const struct fab_opts *opts = &s->cases[i];
	double took = seconds();

	if (why_skip(opts)) {
		tap_case(true, why_skip(opts), "%s.%s", s->name, opts->name);
		return;
	}
	fab_simulate(opts, result);
	took = seconds() - took;
	all_pkts += result->v[FAB_PACKETS];
	all_seconds += took;
	if (table)
		print_row(table, s->name, opts, result);
	if (verbose) {
		printf("# %s.%s: %.0f packets in %.2f s\n", s->name,
		       opts->name, result->v[FAB_PACKETS], took);
		print_all(result);
	}
	tap_ok(!result->v[FAB_UNFINISHED]);
	tap_ok(!result->v[FAB_FAILED]);
	tap_case(!tap_failed_checks, NULL, "%s.%s", s->name, opts->name);
}

static s32 find_case(const struct fab_scenario *s, const char *name)
{
	u32 i;

	for (i = 0; i < s->nr_cases; i++)
		if (!strcmp(s->cases[i].name, name))
			return i;
	return -1;
}

static bool holds(double left, char op, double right)
{
	if (op == '<')
		return left <= right;
	return op == '>' ? left >= right : left == right;
}

/* Each case that the expectation is about. */
static void check_expect(const struct fab_scenario *s,
			 const struct fab_expect *e,
			 const struct fab_result *results)
{
	double left, right = e->factor;
	const char *skip = "no such control";
	u32 i;

	if (e->right[0])
		right *= results[find_case(s, e->right)].v[e->right_metric];
	for (i = 0; i < s->nr_cases; i++) {
		if (e->left[0] && strcmp(s->cases[i].name, e->left))
			continue;
		if (why_skip(&s->cases[i]))
			continue;
		skip = NULL;
		left = results[i].v[e->metric];
		if (!tap_ok(holds(left, e->op, right)))
			printf("# %s.%s: %s is %.6g, not %c= %.6g\n",
			       s->name, s->cases[i].name, fab_metric_names[e->metric],
			       left, e->op, right);
	}
	tap_case(!tap_failed_checks, skip, "%s: %s", s->name, e->text);
}

static void run_scenario(const struct fab_scenario *s, FILE *table,
			 bool verbose)
{
	struct fab_result *results = fab_alloc(s->nr_cases, sizeof(*results));
	u32 i;

	for (i = 0; i < s->nr_cases; i++)
		run_case(s, i, table, verbose, &results[i]);
	for (i = 0; i < s->nr_expects; i++)
		check_expect(s, &s->expects[i], results);
	free(results);
}

/* Only one case, without expectations. */
static void choose_case(struct fab_scenario *s, const char *name)
{
	s32 i = find_case(s, name);

	if (i < 0)
		fab_die("%s: no case %s", s->name, name);
	s->cases[0] = s->cases[i];
	s->nr_cases = 1;
	s->nr_expects = 0;
}

static void usage(void)
{
	fab_die("usage: fabric [-v] [-c CASE] [-s SEED] [-t FILE] SCENARIO...");
}

int main(int argc, char **argv)
{
	const char *only = NULL, *seed = NULL;
	struct fab_scenario *s;
	FILE *table = NULL;
	bool verbose = false;
	u32 nr = 0, i, j, n;
	int opt;

	while ((opt = getopt(argc, argv, "vc:s:t:")) != -1) {
		if (opt == 'v')
			verbose = true;
		else if (opt == 'c')
			only = optarg;
		else if (opt == 's')
			seed = optarg;
		else if (opt == 't')
			table = fopen(optarg, "w");
		else
			usage();
		if (opt == 't' && !table)
			fab_die("cannot write %s", optarg);
	}
	n = argc - optind;
	if (!n)
		usage();
	s = fab_alloc(n, sizeof(*s));
	for (i = 0; i < n; i++) {
		fab_scenario_read(&s[i], argv[optind + i]);
		if (only)
			choose_case(&s[i], only);
		for (j = 0; seed && j < s[i].nr_cases; j++)
			s[i].cases[j].seed = strtoull(seed, NULL, 0);
		nr += s[i].nr_cases + s[i].nr_expects;
	}
	if (table)
		print_head(table);
	tap_plan(nr);
	for (i = 0; i < n; i++)
		run_scenario(&s[i], table, verbose);
	printf("# %.3g packets in %.3g s: %.3g a second\n", all_pkts,
	       all_seconds, all_pkts / all_seconds);
	if (table)
		fclose(table);
	free(s);
	return tap_exit();
}
