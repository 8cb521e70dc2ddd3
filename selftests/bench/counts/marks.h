/* SPDX-License-Identifier: GPL-2.0 */
/* What plugins have in common: the marks of mark.h, and a file to write to. */
#ifndef MARKS_H
#define MARKS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mark.h"
#include "qemu_plugin.h"

typedef void (*mark_fn)(unsigned int vcpu, void *data);

/* Have @begin or @end called whenever @insn is executed, if it is a mark. */
static inline void call_at_marks(struct qemu_plugin_insn *insn, mark_fn begin,
				 mark_fn end)
{
	static const uint8_t opcode[] = { MARK_OPCODE };
	const uint8_t *p = qemu_plugin_insn_data(insn);
	uint32_t disp;

	if (qemu_plugin_insn_size(insn) != MARK_LEN ||
	    memcmp(p, opcode, sizeof(opcode)))
		return;
	memcpy(&disp, p + sizeof(opcode), sizeof(disp));
	if (disp == MARK_BEGIN || disp == MARK_END)
		qemu_plugin_register_vcpu_insn_exec_cb(insn,
						       disp == MARK_BEGIN ?
						       begin : end,
						       QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
}

/* The file that the only argument, out=FILE, names; NULL if that fails. */
static inline FILE *open_output(int argc, char **argv)
{
	FILE *file;

	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "plugin: out=FILE is missing\n");
		return NULL;
	}
	file = fopen(argv[0] + 4, "w");
	if (!file)
		fprintf(stderr, "plugin: %s: %s\n", argv[0] + 4,
			strerror(errno));
	return file;
}

#endif /* MARKS_H */
