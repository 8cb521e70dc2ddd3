// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU plugin: how often was each block of the guest's kernel executed?
 *
 *	-plugin plugin.so,out=FILE
 *
 * For a guest with one CPU. Counts between the marks of mark.h, and writes at
 * the end of each window
 *
 *	window NUMBER USER-INSTRUCTIONS
 *	ADDRESS INSTRUCTIONS EXECUTIONS STORED REP	(for each block executed)
 *
 * with the address in hexadecimal. STORED are the bytes that one execution
 * stores by the few kinds of instruction that loops for filling memory consist
 * of; REP is s or m if the block ends with "rep stos" or "rep movs", else -.
 * Each iteration of such an instruction is an execution of a block: QEMU
 * leaves after the first one and comes back to the instruction alone. Under
 * -icount one more of these finds nothing left to do.
 *
 * User space is one number: it is not what is measured.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "marks.h"
#include "qemu_plugin.h"

#define KERNEL_BASE	0xffff800000000000ull
#define NR_CHAINS	(1u << 16)

struct block {
	struct block *next;
	uint64_t addr;
	uint64_t execs;
	uint32_t nr_insns;
	uint32_t stored;
	char rep;
};

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct block *chains[NR_CHAINS];
static uint64_t user_insns;
static unsigned int nr_windows;
static FILE *out;

/* Skip prefixes; return how many, and what they mean. */
static size_t parse_prefixes(const uint8_t *p, size_t len, uint32_t *width,
			     bool *rep)
{
	size_t i;

	*width = 4;
	*rep = false;
	for (i = 0; i < len; i++) {
		if (p[i] == 0x66)
			*width = 2;
		else if (p[i] == 0xf2 || p[i] == 0xf3)
			*rep = true;
		else if ((p[i] & 0xf8) == 0x48)
			*width = 8;	/* REX.W, which comes last */
		else if ((p[i] & 0xf0) != 0x40)
			break;
	}
	return i;
}

/* Take note of what the instruction stores, if it may belong to a memset(). */
static void look_at_insn(struct block *b, const uint8_t *p, size_t len)
{
	uint32_t width;
	size_t i;
	bool rep;

	b->rep = '-';
	i = parse_prefixes(p, len, &width, &rep);
	if (i == len)
		return;
	if (!(p[i] & 1))
		width = 1;
	switch (p[i]) {
	case 0xaa:	/* stos */
	case 0xab:
		b->stored += width;
		if (rep)
			b->rep = 's';
		break;
	case 0xa4:	/* movs */
	case 0xa5:
		if (rep)
			b->rep = 'm';
		break;
	case 0x88:	/* mov from a register */
	case 0x89:
		if (i + 1 < len && p[i + 1] < 0xc0)
			b->stored += width;
		break;
	}
}

static struct block *find_block(const struct block *wanted)
{
	struct block **chain, *b;

	chain = &chains[(wanted->addr ^ wanted->addr >> 16) % NR_CHAINS];
	for (b = *chain; b; b = b->next)
		if (b->addr == wanted->addr &&
		    b->nr_insns == wanted->nr_insns &&
		    b->stored == wanted->stored && b->rep == wanted->rep)
			return b;
	b = malloc(sizeof(*b));
	if (!b)
		abort();
	*b = *wanted;
	b->next = *chain;
	*chain = b;
	return b;
}

static void begin_window(unsigned int vcpu, void *data)
{
	struct block *b;
	unsigned int i;

	for (i = 0; i < NR_CHAINS; i++)
		for (b = chains[i]; b; b = b->next)
			b->execs = 0;
	user_insns = 0;
}

static void end_window(unsigned int vcpu, void *data)
{
	const struct block *b;
	unsigned int i;

	fprintf(out, "window %u %llu\n", nr_windows++,
		(unsigned long long)user_insns);
	for (i = 0; i < NR_CHAINS; i++)
		for (b = chains[i]; b; b = b->next)
			if (b->execs)
				fprintf(out, "%llx %u %llu %u %c\n",
					(unsigned long long)b->addr,
					b->nr_insns,
					(unsigned long long)b->execs,
					b->stored, b->rep);
	fflush(out);
}

/* Have each execution add @by to @counter. */
static void count_execs(struct qemu_plugin_tb *tb, uint64_t *counter,
			uint64_t by)
{
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 counter, by);
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	struct block b = {
		.addr = qemu_plugin_tb_vaddr(tb),
		.nr_insns = qemu_plugin_tb_n_insns(tb),
		.rep = '-',
	};
	bool user = b.addr < KERNEL_BASE;
	struct qemu_plugin_insn *insn;
	size_t i;

	for (i = 0; i < b.nr_insns; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		if (user)
			call_at_marks(insn, begin_window, end_window);
		else
			look_at_insn(&b, qemu_plugin_insn_data(insn),
				     qemu_plugin_insn_size(insn));
	}
	if (user)
		count_execs(tb, &user_insns, b.nr_insns);
	else
		count_execs(tb, &find_block(&b)->execs, 1);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
			char **argv)
{
	out = open_output(argc, argv);
	if (!out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
