// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU plugin: which cache lines do two CPUs of the guest take from each other?
 *
 *	-plugin lines.so,out=FILE
 *
 * From the first mark of mark.h on, which begins no window, it watches every
 * access to memory between the marks, of the kernel and of processes. A line is
 * 64 bytes of the guest's physical memory, so a ring that is mapped twice is
 * one thing. Two events cost a real machine a transfer of the line between
 * caches:
 *
 *	taken	a CPU writes what the other one wrote last
 *	fetched	a CPU reads what the other one has written since it last did
 *
 * What a CPU writes right after it has fetched the line counts as taken, too:
 * the other one has to give up its copy. At the end of each window comes
 *
 *	window NUMBER
 *	ADDRESS VIRTUAL TAKEN FETCHED WORDS0 WORDS1 ACCESS...
 *
 * with a line for each line of memory that moved: physical and virtual address
 * (that of the kernel, if it has used one), the two counts, bit masks of the
 * 8-byte words that each CPU wrote, and the instructions that made it move,
 * each as CPU:KIND:ADDRESS:COUNT, KIND being t or f. All but counts and CPUs
 * are hexadecimal.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "marks.h"
#include "qemu_plugin.h"

#define LINE_SHIFT	6
#define WORD_SHIFT	3
#define WORD_MASK	7
#define NR_CPUS		2
/* Guests have no more memory; what is beyond is no RAM. */
#define NR_LINES	((1ul << 31) >> LINE_SHIFT)
#define NR_LOCKS	1024
#define NR_ACCESSES	8
#define KERNEL_BASE	(1ull << 63)

/* An instruction that made a line move. */
struct access {
	uint64_t pc;
	uint32_t count;
	uint8_t cpu;
	char kind;
};

/**
 * struct line - a line of memory in this window
 * @next: in the list of those that have moved
 * @vaddr: where it was accessed
 * @taken: times that it was taken
 * @fetched: times that it was fetched
 * @owner: the CPU that wrote it last, plus one; 0 for none
 * @holders: bit mask of the CPUs that have what the owner wrote
 * @words: bit masks of the words that each CPU has written
 * @accesses: the instructions; those that find no room count only above
 */
struct line {
	struct line *next;
	uint64_t vaddr;
	uint32_t taken;
	uint32_t fetched;
	uint8_t owner;
	uint8_t holders;
	uint8_t words[NR_CPUS];
	struct access accesses[NR_ACCESSES];
};

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct line *lines;
static struct line *moved;	/* those that have moved, in a list */
static pthread_mutex_t locks[NR_LOCKS];
static pthread_mutex_t moved_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool watching;
static unsigned int nr_windows;
static uint64_t plugin_id;
static FILE *out;

/* A line has moved, which its count already tells. */
static void note(struct line *line, unsigned int cpu, char kind, uint64_t pc)
{
	struct access *a;

	if (line->taken + line->fetched == 1) {
		pthread_mutex_lock(&moved_lock);
		line->next = moved;
		moved = line;
		pthread_mutex_unlock(&moved_lock);
	}
	for (a = line->accesses; a < line->accesses + NR_ACCESSES; a++) {
		if (!a->count)
			*a = (struct access) {
				.pc = pc, .cpu = cpu, .kind = kind,
			};
		if (a->pc == pc && a->cpu == cpu && a->kind == kind) {
			a->count++;
			return;
		}
	}
}

static void write_line(struct line *line, unsigned int cpu, uint64_t pc,
		       uint8_t words)
{
	if (line->owner && line->owner != cpu + 1) {
		line->taken++;
		note(line, cpu, 't', pc);
	}
	line->owner = cpu + 1;
	line->holders = 1 << cpu;
	line->words[cpu] |= words;
}

static void read_line(struct line *line, unsigned int cpu, uint64_t pc)
{
	if (!line->owner || line->holders & 1 << cpu)
		return;
	line->holders |= 1 << cpu;
	line->fetched++;
	note(line, cpu, 'f', pc);
}

/* Bit mask of the words of the line in which @size bytes at @addr are. */
static uint8_t words_of(uint64_t addr, uint64_t size)
{
	unsigned int first = addr >> WORD_SHIFT & WORD_MASK;
	unsigned int last = (addr + size - 1) >> WORD_SHIFT & WORD_MASK;

	return (2 << last) - (1 << first);
}

static void watch(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
		  void *data)
{
	uint64_t size = 1u << qemu_plugin_mem_size_shift(info);
	struct qemu_plugin_hwaddr *hw;
	uint64_t pc = (uintptr_t)data;
	pthread_mutex_t *lock;
	struct line *line;
	uint64_t addr;

	if (!atomic_load_explicit(&watching, memory_order_relaxed) ||
	    cpu >= NR_CPUS)
		return;
	hw = qemu_plugin_get_hwaddr(info, vaddr);
	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	addr = qemu_plugin_hwaddr_phys_addr(hw);
	if (addr >> LINE_SHIFT >= NR_LINES)
		return;
	/* Compilers align what matters: of what crosses a line, the first. */
	if ((addr ^ (addr + size - 1)) >> LINE_SHIFT)
		size = (1u << LINE_SHIFT) - (addr & ((1u << LINE_SHIFT) - 1));
	line = &lines[addr >> LINE_SHIFT];
	lock = &locks[addr >> LINE_SHIFT & (NR_LOCKS - 1)];
	pthread_mutex_lock(lock);
	if (vaddr >= KERNEL_BASE || !line->vaddr)
		line->vaddr = vaddr;
	if (qemu_plugin_mem_is_store(info))
		write_line(line, cpu, pc, words_of(addr, size));
	else
		read_line(line, cpu, pc);
	pthread_mutex_unlock(lock);
}

static void translate_watched(uint64_t id, struct qemu_plugin_tb *tb);

/* All code is translated anew. */
static void begin_to_watch(uint64_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_watched);
}

/* The first mark: what was executed before had better be fast. */
static void see_first_mark(unsigned int vcpu, void *data)
{
	qemu_plugin_reset(plugin_id, begin_to_watch);
}

static void begin_window(unsigned int vcpu, void *data)
{
	atomic_store(&watching, false);
	if (madvise(lines, NR_LINES * sizeof(*lines), MADV_DONTNEED))
		abort();
	moved = NULL;
	atomic_store(&watching, true);
}

static void print_line(const struct line *line)
{
	const struct access *a;

	fprintf(out, "%lx %llx %u %u %x %x", (line - lines) << LINE_SHIFT,
		(unsigned long long)line->vaddr >> LINE_SHIFT << LINE_SHIFT,
		line->taken, line->fetched, line->words[0], line->words[1]);
	for (a = line->accesses;
	     a < line->accesses + NR_ACCESSES && a->count; a++)
		fprintf(out, " %u:%c:%llx:%u", a->cpu, a->kind,
			(unsigned long long)a->pc, a->count);
	fputc('\n', out);
}

static void end_window(unsigned int vcpu, void *data)
{
	const struct line *line;

	atomic_store(&watching, false);
	fprintf(out, "window %u\n", nr_windows++);
	for (line = moved; line; line = line->next)
		print_line(line);
	fflush(out);
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < n; i++)
		call_at_marks(qemu_plugin_tb_get_insn(tb, i), see_first_mark,
			      see_first_mark);
}

static void translate_watched(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;

	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		call_at_marks(insn, begin_window, end_window);
		qemu_plugin_register_vcpu_mem_cb(insn, watch,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 (void *)(uintptr_t)
						 qemu_plugin_insn_vaddr(insn));
	}
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
			char **argv)
{
	unsigned int i;

	out = open_output(argc, argv);
	if (!out)
		return -1;
	for (i = 0; i < NR_LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	lines = mmap(NULL, NR_LINES * sizeof(*lines), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (lines == MAP_FAILED) {
		fprintf(stderr, "plugin: %s\n", strerror(errno));
		return -1;
	}
	plugin_id = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
