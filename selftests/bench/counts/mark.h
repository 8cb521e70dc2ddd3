/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a program in a guest tells the plugin where a measured window begins and
 * ends: by a NOP that does nothing anywhere, and that nobody else has reason
 * to execute.
 *
 *	0f 1f 84 00 disp32	nopl disp32(%rax,%rax,1)
 */
#ifndef MARK_H
#define MARK_H

#define MARK_LEN	8
#define MARK_OPCODE	0x0f, 0x1f, 0x84, 0x00
#define MARK_BEGIN	0x6872b001
#define MARK_END	0x6872b002

#define mark_nop(disp) \
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0" \
			     : : "i"(disp) : "memory")

/* Count from here on; what was counted before is forgotten. */
static inline void mark_begin(void)
{
	mark_nop(MARK_BEGIN);
}

/* Write down what was executed since mark_begin(). */
static inline void mark_end(void)
{
	mark_nop(MARK_END);
}

#endif /* MARK_H */
