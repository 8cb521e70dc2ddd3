// SPDX-License-Identifier: GPL-2.0
/*
 * Tables and packet headers: opcode properties typed once more from IBTA
 * table 38, times from the text of the specification, and round trips.
 */
#include <linux/kernel.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "proto/burst.h"
#include "proto/psn.h"
#include "proto/qp.h"
#include "proto/table.h"
#include "tap.h"

/* Extended headers of table 38, by name and length in bytes. */
static const struct {
	const char *name;
	u32 flag;
	u32 len;
} headers[] = {
	{ "DETH", HRP_OI_DETH, 8 },
	{ "XRCETH", HRP_OI_XRCETH, 4 },
	{ "FETH", HRP_OI_FLUSH, 4 },
	{ "RETH", HRP_OI_RETH, 16 },
	{ "AtomicETH", HRP_OI_ATOMICETH, 28 },
	{ "AETH", HRP_OI_AETH, 4 },
	{ "AtomicAckETH", HRP_OI_ATOMICACKETH, 8 },
	{ "ImmDt", HRP_OI_IMM, 4 },
	{ "IETH", HRP_OI_INV, 4 },
	{ "PayLd", HRP_OI_PAYLOAD, 0 },
};

/* IBTA table 38, A14 and A19: code in bits, name, packet contents after the BTH. */
static const struct {
	u8 opcode;
	const char *name;
	const char *contents;
} table38[] = {
	{ 0b00000000, "RC SEND First", "PayLd" },
	{ 0b00000001, "RC SEND Middle", "PayLd" },
	{ 0b00000010, "RC SEND Last", "PayLd" },
	{ 0b00000011, "RC SEND Last with Immediate", "ImmDt PayLd" },
	{ 0b00000100, "RC SEND Only", "PayLd" },
	{ 0b00000101, "RC SEND Only with Immediate", "ImmDt PayLd" },
	{ 0b00000110, "RC WRITE First", "RETH PayLd" },
	{ 0b00000111, "RC WRITE Middle", "PayLd" },
	{ 0b00001000, "RC WRITE Last", "PayLd" },
	{ 0b00001001, "RC WRITE Last with Immediate", "ImmDt PayLd" },
	{ 0b00001010, "RC WRITE Only", "RETH PayLd" },
	{ 0b00001011, "RC WRITE Only with Immediate", "RETH ImmDt PayLd" },
	{ 0b00001100, "RC READ Request", "RETH" },
	{ 0b00001101, "RC READ Response First", "AETH PayLd" },
	{ 0b00001110, "RC READ Response Middle", "PayLd" },
	{ 0b00001111, "RC READ Response Last", "AETH PayLd" },
	{ 0b00010000, "RC READ Response Only", "AETH PayLd" },
	{ 0b00010001, "RC Acknowledge", "AETH" },
	{ 0b00010010, "RC ATOMIC Acknowledge", "AETH AtomicAckETH" },
	{ 0b00010011, "RC CmpSwap", "AtomicETH" },
	{ 0b00010100, "RC FetchAdd", "AtomicETH" },
	{ 0b00010110, "RC SEND Last with Invalidate", "IETH PayLd" },
	{ 0b00010111, "RC SEND Only with Invalidate", "IETH PayLd" },
	{ 0b00011100, "RC FLUSH", "FETH RETH" },
	{ 0b00011101, "RC ATOMIC-WRITE", "RETH PayLd" },
	{ 0b00100000, "UC SEND First", "PayLd" },
	{ 0b00100001, "UC SEND Middle", "PayLd" },
	{ 0b00100010, "UC SEND Last", "PayLd" },
	{ 0b00100011, "UC SEND Last with Immediate", "ImmDt PayLd" },
	{ 0b00100100, "UC SEND Only", "PayLd" },
	{ 0b00100101, "UC SEND Only with Immediate", "ImmDt PayLd" },
	{ 0b00100110, "UC WRITE First", "RETH PayLd" },
	{ 0b00100111, "UC WRITE Middle", "PayLd" },
	{ 0b00101000, "UC WRITE Last", "PayLd" },
	{ 0b00101001, "UC WRITE Last with Immediate", "ImmDt PayLd" },
	{ 0b00101010, "UC WRITE Only", "RETH PayLd" },
	{ 0b00101011, "UC WRITE Only with Immediate", "RETH ImmDt PayLd" },
	{ 0b01100100, "UD SEND Only", "DETH PayLd" },
	{ 0b01100101, "UD SEND Only with Immediate", "DETH ImmDt PayLd" },
	{ 0b10000001, "CNP", "PayLd" },
	{ 0b10100000, "XRC SEND First", "XRCETH PayLd" },
	{ 0b10100001, "XRC SEND Middle", "XRCETH PayLd" },
	{ 0b10100010, "XRC SEND Last", "XRCETH PayLd" },
	{ 0b10100011, "XRC SEND Last with Immediate", "XRCETH ImmDt PayLd" },
	{ 0b10100100, "XRC SEND Only", "XRCETH PayLd" },
	{ 0b10100101, "XRC SEND Only with Immediate", "XRCETH ImmDt PayLd" },
	{ 0b10100110, "XRC WRITE First", "XRCETH RETH PayLd" },
	{ 0b10100111, "XRC WRITE Middle", "XRCETH PayLd" },
	{ 0b10101000, "XRC WRITE Last", "XRCETH PayLd" },
	{ 0b10101001, "XRC WRITE Last with Immediate", "XRCETH ImmDt PayLd" },
	{ 0b10101010, "XRC WRITE Only", "XRCETH RETH PayLd" },
	{ 0b10101011, "XRC WRITE Only with Immediate",
	  "XRCETH RETH ImmDt PayLd" },
	{ 0b10101100, "XRC READ Request", "XRCETH RETH" },
	{ 0b10101101, "XRC READ Response First", "AETH PayLd" },
	{ 0b10101110, "XRC READ Response Middle", "PayLd" },
	{ 0b10101111, "XRC READ Response Last", "AETH PayLd" },
	{ 0b10110000, "XRC READ Response Only", "AETH PayLd" },
	{ 0b10110001, "XRC Acknowledge", "AETH" },
	{ 0b10110010, "XRC ATOMIC Acknowledge", "AETH AtomicAckETH" },
	{ 0b10110011, "XRC CmpSwap", "XRCETH AtomicETH" },
	{ 0b10110100, "XRC FetchAdd", "XRCETH AtomicETH" },
	{ 0b10110110, "XRC SEND Last with Invalidate", "XRCETH IETH PayLd" },
	{ 0b10110111, "XRC SEND Only with Invalidate", "XRCETH IETH PayLd" },
};

static bool contains_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *p = text;

	while ((p = strstr(p, word))) {
		if ((p == text || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
		p++;
	}
	return false;
}

static void check_opcode(unsigned int i)
{
	u32 info = hrp_opcode_info(table38[i].opcode);
	const char *name = table38[i].name;
	u32 len = 12;
	unsigned int h;

	tap_ok(info & HRP_OI_VALID);
	for (h = 0; h < ARRAY_SIZE(headers); h++) {
		bool has = contains_word(table38[i].contents, headers[h].name);

		tap_eq(!!(info & headers[h].flag), has);
		len += has ? headers[h].len : 0;
	}
	tap_eq(hrp_opcode_hdr_len(info), len);
	tap_eq(!!(info & HRP_OI_SEND), contains_word(name, "SEND"));
	tap_eq(!!(info & HRP_OI_WRITE), contains_word(name, "WRITE"));
	tap_eq(!!(info & HRP_OI_READ), contains_word(name, "READ"));
	tap_eq(!!(info & HRP_OI_ATOMIC), contains_word(name, "ATOMIC") ||
					 contains_word(name, "CmpSwap") ||
					 contains_word(name, "FetchAdd"));
	tap_eq(!!(info & HRP_OI_ATOMIC_WRITE),
	       contains_word(name, "ATOMIC-WRITE"));
	tap_eq(!!(info & HRP_OI_RESPONSE), contains_word(name, "Response") ||
					   contains_word(name, "Acknowledge"));
	tap_eq(!(info & HRP_OI_FIRST), contains_word(name, "Middle") ||
				       contains_word(name, "Last"));
	tap_eq(!(info & HRP_OI_LAST), contains_word(name, "Middle") ||
				      contains_word(name, "First"));
}

static void opcode_info_as_specified(void)
{
	bool known[256] = { false };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table38); i++) {
		known[table38[i].opcode] = true;
		check_opcode(i);
	}
	/* Opcodes of manufacturers: see sack.h and mtu.h. */
	known[HRP_OPCODE_SACK_ASK] = true;
	known[HRP_OPCODE_SACK] = true;
	known[HRP_OPCODE_MTU_ASK] = true;
	known[HRP_OPCODE_SECOND] = true;
	known[HRP_OPCODE_SECOND_ASK] = true;
	known[HRP_OPCODE_MTU] = true;
	for (i = 0; i < 256; i++)
		if (!known[i])
			tap_eq(hrp_opcode_info(i), 0);
}

/* IBTA table 45, in milliseconds, by code. */
static void rnr_delay_as_specified(void)
{
	static const double ms[32] = {
		655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12,
		0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92,
		2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72,
		40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
	};
	unsigned int i;

	for (i = 0; i < 32; i++)
		tap_eq(hrp_rnr_delay_ns(i), (long long)(ms[i] * 1e6 + 0.5));
}

/* 9.9.2.1.1 and the table that names some of the values. */
static void timeout_as_specified(void)
{
	static const struct {
		u8 code;
		u64 ns;
	} values[] = {
		{ 0, 0 },
		{ 1, 8192 },
		{ 2, 16384 },
		{ 8, 1048576 },
		{ 14, 67108864 },
		{ 18, 1073741824 },
		{ 20, 4294967296 },
		{ 31, 8796093022208 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		tap_eq(hrp_timeout_ns(values[i].code), values[i].ns);
}

static void psn_across_wrap(void)
{
	tap_eq(hrp_psn_add(0xffffff, 1), 0);
	tap_eq(hrp_psn_add(0xfffff0, 0x20), 0x10);
	tap_eq(hrp_psn_add(5, -6), 0xffffff);
	tap_eq(hrp_psn_diff(0, 0xffffff), 1);
	tap_eq(hrp_psn_diff(0xffffff, 0), -1);
	tap_eq(hrp_psn_diff(0x7fffff, 0), 0x7fffff);
	tap_eq(hrp_psn_diff(0x800000, 0), -0x800000);
	tap_eq(hrp_psn_diff(0x10, 0xfffff0), 0x20);
}

static u64 rnd_state = 0x9e3779b97f4a7c15;

static u32 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state >> 16;
}

static u64 rnd_64(void)
{
	return (u64)rnd() << 32 | rnd();
}

static void fill_pkt(struct hrp_pkt *pkt, u8 opcode)
{
	u32 info = hrp_opcode_info(opcode);

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = opcode;
	pkt->info = info;
	pkt->psn = rnd() & 0xffffff;
	pkt->dqpn = rnd() & 0xffffff;
	pkt->pkey = rnd();
	pkt->se = rnd() & 1;
	pkt->migreq = rnd() & 1;
	pkt->ackreq = rnd() & 1;
	pkt->cn = rnd() & (HRP_FECN | HRP_BECN);
	pkt->longer = rnd() & 1;
	if (info & HRP_OI_PAYLOAD) {
		pkt->payload_len = rnd() % 4097;
		pkt->pad = -pkt->payload_len & 3;
	}
	if (info & HRP_OI_DETH) {
		pkt->qkey = rnd();
		pkt->sqpn = rnd() & 0xffffff;
	}
	if (info & HRP_OI_XRCETH)
		pkt->srqn = rnd() & 0xffffff;
	if (info & (HRP_OI_RETH | HRP_OI_ATOMICETH)) {
		pkt->va = rnd_64();
		pkt->rkey = rnd();
	}
	if (info & HRP_OI_RETH)
		pkt->dmalen = rnd();
	if (info & HRP_OI_FLUSH)
		pkt->feth = rnd();
	if (info & HRP_OI_ATOMICETH) {
		pkt->swap_add = rnd_64();
		pkt->compare = rnd_64();
	}
	if (info & HRP_OI_AETH) {
		pkt->syndrome = rnd();
		pkt->msn = rnd() & 0xffffff;
	}
	if (info & HRP_OI_ATOMICACKETH)
		pkt->orig = rnd_64();
	if (info & HRP_OI_IMM)
		pkt->imm = (__be32)rnd();
	if (info & HRP_OI_INV)
		pkt->inv_rkey = rnd();
}

/* The SRQ comes right behind the BTH, below eight reserved bits. */
static void xrceth_precedes_the_others(void)
{
	static const u8 want[] = {
		0xaa, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11,
		0x00, 0x00, 0x00, 0x22, 0x00, 0x12, 0x34, 0x56,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00,
	};
	struct hrp_pkt pkt = {
		.opcode = HRP_SVC_XRC | HRP_OP_WRITE_ONLY,
		.info = hrp_opcode_info(HRP_SVC_XRC | HRP_OP_WRITE_ONLY),
		.pkey = 0xffff,
		.dqpn = 0x11,
		.psn = 0x22,
		.srqn = 0xff123456,
		.va = 0x100000002,
		.rkey = 3,
	};
	u32 buf[HRW_MAX_HDR_LEN / 4];

	tap_eq(hrp_pkt_build(&pkt, buf), sizeof(want));
	tap_ok(!memcmp(buf, want, sizeof(want)));
	((u8 *)buf)[12] = 0xff;
	tap_eq(hrp_pkt_parse(&pkt, buf, sizeof(buf), sizeof(want) + 4), 0);
	tap_eq(pkt.srqn, 0x123456);
}

/* Fields of headers that the packet does not have stay as they are in @out. */
static void pkt_pass(const struct hrp_pkt *in, struct hrp_pkt *out)
{
	u32 buf[HRW_MAX_HDR_LEN / 4];
	u32 len;

	memset(buf, 0xa5, sizeof(buf));
	len = hrp_pkt_build(in, buf);
	tap_eq(len, hrp_opcode_hdr_len(in->info));
	tap_eq(hrp_pkt_parse(out, buf, sizeof(buf), len + HRW_ICRC_LEN +
			     in->payload_len + in->pad), 0);
}

static void pkt_build_then_parse(void)
{
	struct hrp_pkt in, out;
	unsigned int i, round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < ARRAY_SIZE(table38); i++) {
			fill_pkt(&in, table38[i].opcode);
			memset(&out, 0, sizeof(out));
			pkt_pass(&in, &out);
			tap_ok(!memcmp(&in, &out, sizeof(in)));
		}
	}
}

/* Bits that the wire has no room for are ignored. */
static void pkt_as_received(void)
{
	struct hrp_pkt in, out;
	unsigned int i, round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < ARRAY_SIZE(table38); i++) {
			fill_pkt(&in, table38[i].opcode);
			in.psn = rnd();
			in.dqpn = rnd();
			in.msn = rnd();
			in.sqpn = rnd();
			in.srqn = rnd();
			in.syndrome = rnd();
			out = in;
			pkt_pass(&in, &out);
			hrp_pkt_as_received(&in);
			hrp_pkt_as_received(&out);
			tap_ok(!memcmp(&in, &out, sizeof(in)));
		}
	}
}

/* Another packet: the first eight bytes and the length are the same. */
static void pkt_parse_another(struct hrp_pkt *out, const struct hrp_pkt *first,
			      u8 opcode)
{
	u32 buf[HRW_MAX_HDR_LEN / 4];
	struct hrp_pkt in;

	fill_pkt(&in, opcode);
	in.pkey = first->pkey;
	in.dqpn = first->dqpn;
	in.cn = first->cn;
	in.se = first->se;
	in.migreq = first->migreq;
	in.pad = first->pad;
	in.payload_len = first->payload_len;
	hrp_pkt_build(&in, buf);
	hrp_pkt_parse_next(out, buf);
	tap_ok(!memcmp(&in, out, sizeof(in)));
}

static void pkt_like_the_one_before(void)
{
	u32 buf[HRW_MAX_HDR_LEN / 4];
	struct hrp_pkt first, out;
	unsigned int i, k;
	u32 len;

	for (i = 0; i < ARRAY_SIZE(table38); i++) {
		fill_pkt(&first, table38[i].opcode);
		len = hrp_pkt_build(&first, buf) + 4;
		memset(&out, 0, sizeof(out));
		hrp_pkt_parse(&out, buf, sizeof(buf),
			      len + first.payload_len + first.pad);
		for (k = 0; k < 100; k++)
			pkt_parse_another(&out, &first, table38[i].opcode);
	}
}

/* One packet byte by byte, so that builder and parser cannot err together. */
static void pkt_bytes_as_specified(void)
{
	static const u8 wire[] = {
		0x0b, 0xe0, 0x12, 0x34, 0xc0, 0x01, 0x02, 0x03,
		0x80, 0xff, 0x00, 0x01,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
		0xca, 0xfe, 0xba, 0xbe, 0x00, 0x00, 0x10, 0x01,
		0xde, 0xad, 0xbe, 0xef,
	};
	u32 buf[10], copy[10];
	struct hrp_pkt pkt;

	memcpy(buf, wire, sizeof(wire));
	tap_eq(hrp_pkt_parse(&pkt, buf, sizeof(wire), sizeof(wire) + 12), 0);
	tap_eq(pkt.opcode, 0x0b);
	tap_ok(pkt.se && pkt.migreq && pkt.ackreq && !pkt.longer);
	tap_eq(pkt.cn, HRP_FECN | HRP_BECN);
	tap_eq(pkt.pad, 2);
	tap_eq(pkt.payload_len, 6);
	tap_eq(pkt.pkey, 0x1234);
	tap_eq(pkt.dqpn, 0x010203);
	tap_eq(pkt.psn, 0xff0001);
	tap_eq(pkt.va, 0x1122334455667788);
	tap_eq(pkt.rkey, 0xcafebabe);
	tap_eq(pkt.dmalen, 0x1001);
	tap_eq(be32_to_cpu(pkt.imm), 0xdeadbeef);
	tap_eq(hrp_pkt_build(&pkt, copy), sizeof(wire));
	tap_ok(!memcmp(copy, wire, sizeof(wire)));
}

static int parse_bytes(const u8 *bytes, u32 avail, u32 udp_len)
{
	struct hrp_pkt pkt;
	u32 *exact = malloc(avail ? avail : 1);
	int ret;

	memcpy(exact, bytes, avail);
	ret = hrp_pkt_parse(&pkt, exact, avail, udp_len);
	free(exact);
	return ret;
}

static void pkt_parse_refusals(void)
{
	u8 b[HRW_MAX_HDR_LEN] = { HRP_OP_SEND_ONLY };

	tap_eq(parse_bytes(b, 16, 16), 0);
	tap_eq(parse_bytes(b, 12, 16), 0);
	tap_eq(parse_bytes(b, 11, 11), -(HROCE_DROP_SHORT + 1));
	tap_eq(parse_bytes(b, 0, 0), -(HROCE_DROP_SHORT + 1));
	tap_eq(parse_bytes(b, 15, 15), -(HROCE_DROP_SHORT + 1));
	tap_eq(parse_bytes(b, 17, 17), -(HROCE_DROP_LENGTH + 1));
	b[1] = 0x10;
	tap_eq(parse_bytes(b, 16, 16), -(HROCE_DROP_LENGTH + 1));
	tap_eq(parse_bytes(b, 16, 20), 0);
	b[1] = 0x01;
	tap_eq(parse_bytes(b, 16, 16), -(HROCE_DROP_VERSION + 1));
	b[1] = 0;
	b[0] = 0x18;
	tap_eq(parse_bytes(b, 16, 16), -(HROCE_DROP_OPCODE + 1));
	b[0] = HRP_OP_ACK;
	tap_eq(parse_bytes(b, 16, 16), -(HROCE_DROP_SHORT + 1));
	tap_eq(parse_bytes(b, 16, 20), 0);
	tap_eq(parse_bytes(b, 16, 24), -(HROCE_DROP_LENGTH + 1));
	b[0] = HRP_OP_FETCH_ADD;
	tap_eq(parse_bytes(b, 40, 44), 0);
	tap_eq(parse_bytes(b, 39, 44), -(HROCE_DROP_SHORT + 1));
}

/* Any bytes, any lengths: a verdict, and no read outside of @avail. */
static void pkt_parse_random_bytes(void)
{
	u8 b[HRW_MAX_HDR_LEN];
	u32 i, round;

	for (round = 0; round < 200000; round++) {
		for (i = 0; i < sizeof(b); i++)
			b[i] = rnd();
		if (round & 1)
			b[1] &= 0xf0;
		parse_bytes(b, rnd() % (sizeof(b) + 1), rnd() % 128);
	}
	tap_ok(true);
}

static void burst_of_several(void)
{
	struct hrp_qp qp = { .mtu = 1024, .pkey = 0xffff, .dest_qpn = 77 };
	struct hrp_burst b;
	struct hrp_pkt pkt;

	hrp_burst_begin(&b, &qp, HRP_OP_WRITE_FIRST, 0xfffffe);
	b.first.imm = cpu_to_be32(42);
	b.nr_pkts = 4;
	b.mem.len = 3 * 1024 + 1;
	b.op_middle = HRP_OP_WRITE_MIDDLE;
	b.op_last = HRP_OP_WRITE_LAST_IMM;
	b.ackreq_last = 1;
	b.se_last = 1;

	hrp_burst_pkt(&b, 0, &pkt);
	tap_eq(pkt.opcode, HRP_OP_WRITE_FIRST);
	tap_eq(hrp_opcode_hdr_len(pkt.info), 28);
	tap_eq(pkt.psn, 0xfffffe);
	tap_eq(pkt.payload_len, 1024);
	tap_ok(!pkt.ackreq && !pkt.se && pkt.migreq);
	hrp_burst_pkt(&b, 2, &pkt);
	tap_eq(pkt.opcode, HRP_OP_WRITE_MIDDLE);
	tap_eq(hrp_opcode_hdr_len(pkt.info), 12);
	tap_eq(pkt.psn, 0);
	tap_eq(pkt.payload_len, 1024);
	tap_eq(pkt.pad, 0);
	hrp_burst_pkt(&b, 3, &pkt);
	tap_eq(pkt.opcode, HRP_OP_WRITE_LAST_IMM);
	tap_eq(hrp_opcode_hdr_len(pkt.info), 16);
	tap_eq(pkt.psn, 1);
	tap_eq(pkt.payload_len, 1);
	tap_eq(pkt.pad, 3);
	tap_eq(be32_to_cpu(pkt.imm), 42);
	tap_ok(pkt.ackreq && pkt.se);
}

static void runs_of_a_burst(void)
{
	struct hrp_qp qp = { .mtu = 1024 };
	struct hrp_burst b;

	hrp_burst_begin(&b, &qp, HRP_OP_WRITE_FIRST, 5);
	tap_eq(hrp_burst_run(&b, 0), 1);
	b.nr_pkts = 5;
	b.mem.len = 5 * 1024;
	b.op_middle = HRP_OP_WRITE_MIDDLE;
	b.op_last = HRP_OP_WRITE_LAST;
	tap_eq(hrp_burst_run(&b, 0), 1);
	tap_eq(hrp_burst_run(&b, 1), 3);
	tap_eq(hrp_burst_run(&b, 3), 1);
	tap_eq(hrp_burst_run(&b, 4), 1);

	/* The middle of a message. */
	b.first.opcode = HRP_OP_WRITE_MIDDLE;
	tap_eq(hrp_burst_run(&b, 0), 4);
	b.op_last = HRP_OP_WRITE_MIDDLE;
	tap_eq(hrp_burst_run(&b, 0), 5);
	tap_eq(hrp_burst_run(&b, 2), 3);
	b.ackreq_last = 1;
	tap_eq(hrp_burst_run(&b, 0), 4);
	b.ackreq_last = 0;
	b.se_last = 1;
	tap_eq(hrp_burst_run(&b, 0), 4);
	b.se_last = 0;
	b.mem.len--;
	tap_eq(hrp_burst_run(&b, 0), 4);
}

static void bth_of_a_run(void)
{
	u8 a[12] __aligned(4) = { HRP_OP_WRITE_MIDDLE, 0x40, 0xff, 0xff, 0,
				  0, 0, 7, 0x80, 0x12, 0x34, 0xff };
	u8 b[12] __aligned(4);
	u32 i;

	memcpy(b, a, sizeof(b));
	tap_ok(!hrp_bth_follows(a, b, 1));
	hrp_bth_set_psn(b, 0x123500);
	tap_ok(hrp_bth_follows(a, b, 1));
	tap_ok(!hrp_bth_follows(b, a, 1));
	for (i = 0; i < sizeof(b); i++) {
		b[i] ^= 1;
		tap_ok(!hrp_bth_follows(a, b, 1));
		b[i] ^= 1;
	}
	tap_ok(!hrp_bth_follows(a, b, 2));
	hrp_bth_set_psn(b, 0x123501);
	tap_ok(hrp_bth_follows(a, b, 2));
	/* A run ends where PSNs wrap. */
	hrp_bth_set_psn(a, 0xffffff);
	hrp_bth_set_psn(b, 0);
	tap_ok(!hrp_bth_follows(a, b, 1));
	b[8]++;
	tap_ok(!hrp_bth_follows(a, b, 1));
}

int main(void)
{
	tap_plan(14);
	tap_run(opcode_info_as_specified);
	tap_run(rnr_delay_as_specified);
	tap_run(timeout_as_specified);
	tap_run(psn_across_wrap);
	tap_run(xrceth_precedes_the_others);
	tap_run(pkt_build_then_parse);
	tap_run(pkt_as_received);
	tap_run(pkt_like_the_one_before);
	tap_run(pkt_bytes_as_specified);
	tap_run(pkt_parse_refusals);
	tap_run(pkt_parse_random_bytes);
	tap_run(burst_of_several);
	tap_run(runs_of_a_burst);
	tap_run(bth_of_a_run);
	return tap_exit();
}
