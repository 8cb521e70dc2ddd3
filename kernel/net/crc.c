// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 of the ICRC: choice of the method, and use of vector registers.
 *
 * Tables alone take most of the CPU time of a packet, so the choice matters. It
 * cannot be made by CPU features: an emulated CPU has carry-less multiplication
 * that is slower than tables. So methods are timed at load.
 */
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "crc.h"
#include "crc_shift.h"

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include "crc_x86.h"
#endif

/* Below this length, in bytes, a vector section costs more than tables. */
#define CRC_VECTOR_MIN		256

#define CRC_TEST_LEN		4096
#define CRC_TEST_REPEAT		64
#define CRC_TEST_ROUNDS		4

static u32 crc_library_update(u32 state, const void *p, size_t len)
{
	return crc32_le(state, p, len);
}

static u32 crc_library_copy(u32 state, void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	return crc32_le(state, dst, len);
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

/* Vector sections take spin locks, which sleep on PREEMPT_RT. */
static bool crc_vector_usable(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && irq_fpu_usable();
}

static void crc_vector_begin(void)
{
	kernel_fpu_begin();
}

static void crc_vector_end(void)
{
	kernel_fpu_end();
}
#else
static bool crc_vector_usable(void)
{
	return false;
}

static void crc_vector_begin(void)
{
}

static void crc_vector_end(void)
{
}
#endif

static const struct hroce_crc_method crc_methods[] = {
	{
		.name = "shift",
		.update = hroce_crc_shift_update,
		.copy = hroce_crc_shift_copy,
	}, {
		.name = "table",
		.update = hroce_crc_table_update,
		.copy = hroce_crc_table_copy,
	}, {
		.name = "kernel",
		.update = crc_library_update,
		.copy = crc_library_copy,
#ifdef CONFIG_X86_64
	}, {
		.name = "pclmul",
		.vector = true,
		.usable = crc_has_pclmul,
		.update = hroce_crc_pclmul_update,
		.copy = hroce_crc_pclmul_copy,
	}, {
		.name = "vpclmul_avx2",
		.vector = true,
		.usable = crc_has_avx2,
		.update = hroce_crc_avx2_update,
		.copy = hroce_crc_avx2_copy,
	}, {
		.name = "vpclmul_avx512",
		.vector = true,
		.usable = crc_has_avx512,
		.update = hroce_crc_avx512_update,
		.copy = hroce_crc_avx512_copy,
#endif
	},
};

/* Guards the choice of the method: the variables below. */
static DEFINE_MUTEX(crc_mutex);
static const struct hroce_crc_method *crc_chosen;
static DEFINE_STATIC_KEY_FALSE(crc_vector);
DEFINE_STATIC_CALL(hroce_crc_scalar_update, hroce_crc_table_update);
DEFINE_STATIC_CALL(hroce_crc_scalar_copy, hroce_crc_table_copy);
DEFINE_STATIC_CALL(hroce_crc_vector_update, hroce_crc_table_update);
DEFINE_STATIC_CALL(hroce_crc_vector_copy, hroce_crc_table_copy);

bool hroce_crc_begin(size_t len)
{
	if (!static_branch_likely(&crc_vector) || len < CRC_VECTOR_MIN ||
	    !crc_vector_usable())
		return false;
	crc_vector_begin();
	return true;
}

void hroce_crc_end(bool vector)
{
	if (vector)
		crc_vector_end();
}

/* Return: time that the method takes, sections included, in ns. */
static u64 __init crc_time(const struct hroce_crc_method *m, void *dst,
			   const void *src)
{
	u64 best_ns = U64_MAX;
	u32 state = 0;
	int round, i;

	for (round = 0; round < CRC_TEST_ROUNDS; round++) {
		u64 begin_ns = ktime_get_ns();

		for (i = 0; i < CRC_TEST_REPEAT; i++) {
			if (m->vector)
				crc_vector_begin();
			state = m->copy(state, dst, src, CRC_TEST_LEN);
			if (m->vector)
				crc_vector_end();
		}
		best_ns = min(best_ns, ktime_get_ns() - begin_ns);
	}
	return best_ns;
}

static bool crc_usable(const struct hroce_crc_method *m)
{
	return !m->usable || m->usable();
}

/*
 * CRCs in progress may continue with another method. Open sections continue
 * with a vector method: the previous one, if @m is not a vector method.
 */
static void crc_use(const struct hroce_crc_method *m)
{
	mutex_lock(&crc_mutex);
	crc_chosen = m;
	if (m->vector) {
		static_call_update(hroce_crc_vector_update, m->update);
		static_call_update(hroce_crc_vector_copy, m->copy);
		static_branch_enable(&crc_vector);
		/* For short lengths, and where vectors cannot be used. */
		m = &crc_methods[0];
	} else {
		static_branch_disable(&crc_vector);
	}
	static_call_update(hroce_crc_scalar_update, m->update);
	static_call_update(hroce_crc_scalar_copy, m->copy);
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
		const struct hroce_crc_method *m = &crc_methods[i];

		if (crc_usable(m))
			seq_printf(file, m == READ_ONCE(crc_chosen) ? "%s[%s]" :
				   "%s%s", i ? " " : "", m->name);
	}
	seq_putc(file, '\n');
}

void __init hroce_crc_init(void)
{
	const struct hroce_crc_method *best = &crc_methods[0];
	u64 ns, best_ns = U64_MAX;
	void *buf;
	int i;

	buf = kzalloc(2 * CRC_TEST_LEN, GFP_KERNEL);
	for (i = 0; buf && i < ARRAY_SIZE(crc_methods); i++) {
		const struct hroce_crc_method *m = &crc_methods[i];

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
	pr_info("hroce: ICRC by %s, %llu MB/s\n", best->name,
		div64_u64((u64)CRC_TEST_REPEAT * CRC_TEST_LEN * 1000,
			  max_t(u64, best_ns, 1)));
}
