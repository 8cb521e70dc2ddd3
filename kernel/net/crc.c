// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 of the ICRC: choice of the method, and use of vector registers.
 *
 * Tables alone take most of the CPU time of a packet, so the choice matters.
 * Each method is the fastest one on some CPUs: vector registers on x86, the
 * widest that pay; "kernel" where crc32_le() has instructions for it, as on
 * arm64; "shift" on other CPUs, and where vector registers cannot be used. The
 * features that tell so differ by architecture, so methods are timed at load.
 */
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#endif

#include "crc.h"

#define CRC_TEST_LEN		4096
#define CRC_TEST_REPEAT		64
#define CRC_TEST_ROUNDS		4

/**
 * struct crc_method - one way to compute the CRC
 * @name: for debugfs and the log
 * @sum: see hroce_crc_table()
 * @on_this_cpu: of a method that uses vector registers: does this CPU have
 *	those, and the instructions? NULL: a scalar method
 */
struct crc_method {
	const char *name;
	u32 (*sum)(u32 state, void *dst, const void *src, size_t len);
	bool (*on_this_cpu)(void);
};

static u32 crc_library(u32 state, void *dst, const void *src, size_t len)
{
	if (dst)
		src = memcpy(dst, src, len);
	return crc32_le(state, src, len);
}

#ifdef CONFIG_X86_64
static bool crc_has_pclmul(void)
{
	return boot_cpu_has(X86_FEATURE_PCLMULQDQ) &&
	       boot_cpu_has(X86_FEATURE_XMM4_1);
}

static bool crc_has_avx2(void)
{
	return crc_has_pclmul() && boot_cpu_has(X86_FEATURE_VPCLMULQDQ) &&
	       boot_cpu_has(X86_FEATURE_AVX2) &&
	       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

static bool crc_has_avx512(void)
{
	return crc_has_avx2() && boot_cpu_has(X86_FEATURE_AVX512F) &&
	       cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL);
}
#else
#define irq_fpu_usable()	false
#define kernel_fpu_begin()	do { } while (0)
#define kernel_fpu_end()	do { } while (0)
#endif

static const struct crc_method crc_methods[] = {
	{ "shift", hroce_crc_shift },
	{ "kernel", crc_library },
#ifdef CONFIG_X86_64
	{ "pclmul", hroce_crc_pclmul, crc_has_pclmul },
	{ "vpclmul_avx2", hroce_crc_avx2, crc_has_avx2 },
	{ "vpclmul_avx512", hroce_crc_avx512, crc_has_avx512 },
#endif
};

/* Guards the choice of the method: the variables below. */
static DEFINE_MUTEX(crc_mutex);
static const struct crc_method *crc_chosen;
static DEFINE_STATIC_KEY_FALSE(crc_vector);
DEFINE_STATIC_CALL(hroce_crc_scalar, hroce_crc_table);
DEFINE_STATIC_CALL(hroce_crc_vector, hroce_crc_table);

bool hroce_crc_enter(void)
{
	/* Vector sections take spin locks, which sleep on PREEMPT_RT. */
	if (!static_branch_likely(&crc_vector) ||
	    IS_ENABLED(CONFIG_PREEMPT_RT) || !irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

void hroce_crc_leave(void)
{
	kernel_fpu_end();
}

static bool crc_is_vector(const struct crc_method *m)
{
	return m->on_this_cpu;
}

static bool crc_usable(const struct crc_method *m)
{
	return !crc_is_vector(m) || m->on_this_cpu();
}

/* Return: time that the method takes, sections included, in ns. */
static u64 __init crc_time(const struct crc_method *m, void *dst,
			   const void *src)
{
	u64 best_ns = U64_MAX;
	u32 state = 0;
	int round, i;

	for (round = 0; round < CRC_TEST_ROUNDS; round++) {
		u64 begin_ns = ktime_get_ns();

		for (i = 0; i < CRC_TEST_REPEAT; i++) {
			if (crc_is_vector(m))
				kernel_fpu_begin();
			state = m->sum(state, dst, src, CRC_TEST_LEN);
			if (crc_is_vector(m))
				kernel_fpu_end();
		}
		best_ns = min(best_ns, ktime_get_ns() - begin_ns);
	}
	return best_ns;
}

/*
 * CRCs in progress may continue with another method. Open sections continue
 * with a vector method: the previous one, if @m is not a vector method.
 */
static void crc_use(const struct crc_method *m)
{
	mutex_lock(&crc_mutex);
	crc_chosen = m;
	if (crc_is_vector(m)) {
		static_call_update(hroce_crc_vector, m->sum);
		static_branch_enable(&crc_vector);
		/* For short lengths, and where vectors cannot be used. */
		m = &crc_methods[0];
	} else {
		static_branch_disable(&crc_vector);
	}
	static_call_update(hroce_crc_scalar, m->sum);
	mutex_unlock(&crc_mutex);
}

int hroce_crc_choose(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(crc_methods); i++) {
		if (strcmp(name, crc_methods[i].name))
			continue;
		if (!crc_usable(&crc_methods[i]))
			return -EOPNOTSUPP;
		crc_use(&crc_methods[i]);
		return 0;
	}
	return -EINVAL;
}

void hroce_crc_show(struct seq_file *file)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(crc_methods); i++) {
		const struct crc_method *m = &crc_methods[i];

		if (crc_usable(m))
			seq_printf(file, m == READ_ONCE(crc_chosen) ? "%s[%s]" :
				   "%s%s", i ? " " : "", m->name);
	}
	seq_putc(file, '\n');
}

void __init hroce_crc_init(void)
{
	const struct crc_method *best = &crc_methods[0];
	u64 ns, best_ns = U64_MAX;
	void *buf;
	int i;

	hroce_crc_tables_init();
	buf = kzalloc(2 * CRC_TEST_LEN, GFP_KERNEL);
	for (i = 0; buf && i < ARRAY_SIZE(crc_methods); i++) {
		const struct crc_method *m = &crc_methods[i];

		if (!crc_usable(m))
			continue;
		ns = crc_time(m, buf + CRC_TEST_LEN, buf);
		if (ns < best_ns) {
			best_ns = ns;
			best = m;
		}
	}
	kfree(buf);
	crc_use(best);
	pr_info("ICRC by %s, %llu MB/s\n", best->name,
		div64_u64((u64)CRC_TEST_REPEAT * CRC_TEST_LEN * 1000,
			  max_t(u64, best_ns, 1)));
}
