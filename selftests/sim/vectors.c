// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that others made, against our parser, builder and ICRC:
 *
 *	vectors DIRECTORY
 *
 * The directory holds *.pcap and *.hex files of Ethernet frames, and
 * MANIFEST.tsv with a line of expected values for each packet. One case per
 * file. Frames with ICRC expected BAD must fail; those expected TRUNC were cut
 * off by the capture. Frames are in heap blocks of their exact size, so that
 * the address sanitizer sees a read beyond.
 */
#include <linux/kernel.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "net/crc_methods.h"
#include "net/icrc.h"
#include "proto/pkt.h"
#include "tap.h"
#include "vectors.h"

/* Where the layers of a frame begin and what they claim. */
struct layers {
	const u8 *l3;
	const u8 *udp;
	const u8 *bth;
	u32 udp_len;	/* payload of UDP, as announced */
	u32 avail;	/* of these, captured */
	u32 vlan;
	bool ipv6;
	bool tagged;
};

static const char *where_file;
static int where_frame;

static bool check(bool ok, const char *what)
{
	if (!ok) {
		printf("# %s frame %d: %s\n", where_file, where_frame, what);
		tap_failed_checks++;
	}
	return ok;
}

static void check_number(const char *column, u64 got)
{
	const char *text = manifest_get(column);
	char what[160];

	if (text && strtoull(text, NULL, 0) == got)
		return;
	snprintf(what, sizeof(what), "%s is %#llx, not %s", column,
		 (unsigned long long)got, text ? text : "listed");
	check(false, what);
}

static void check_text(const char *column, const char *got)
{
	const char *text = manifest_get(column);
	char what[256];

	if (text && !strcmp(text, got))
		return;
	snprintf(what, sizeof(what), "%s is %s, not %s", column, got,
		 text ? text : "listed");
	check(false, what);
}

/* IPv4 in dotted notation, IPv6 as 32 hexadecimal digits. */
static void check_address(const char *column, bool ipv6, const u8 *addr)
{
	char text[40];
	int i;

	if (ipv6)
		for (i = 0; i < 16; i++)
			sprintf(text + 2 * i, "%02x", addr[i]);
	else
		sprintf(text, "%u.%u.%u.%u", addr[0], addr[1], addr[2],
			addr[3]);
	check_text(column, text);
}

static u32 get_16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

/* Return: false if this is not a whole set of headers up to the BTH. */
static bool find_layers(const struct frame *f, struct layers *l)
{
	const u8 *end = f->data + f->len;
	const u8 *p = f->data + 12;
	u32 l3_len;

	memset(l, 0, sizeof(*l));
	if (f->len < 18)
		return false;
	if (get_16(p) == 0x8100) {
		l->tagged = true;
		l->vlan = get_16(p + 2);
		p += 4;
	}
	l->ipv6 = get_16(p) == 0x86dd;
	if (!l->ipv6 && get_16(p) != 0x0800)
		return false;
	l->l3 = p + 2;
	l3_len = l->ipv6 ? 40 : 20;
	if (end - l->l3 < l3_len + 8)
		return false;
	if (!l->ipv6 && l->l3[0] != 0x45)
		return false;
	l->udp = l->l3 + l3_len;
	l->bth = l->udp + 8;
	l->udp_len = get_16(l->udp + 4) - 8;
	l->avail = min_t(u32, l->udp_len, end - l->bth);
	return l->l3[l->ipv6 ? 6 : 9] == 17 &&
	       get_16(l->udp + 2) == HRW_UDP_PORT;
}

static void check_layers(const struct layers *l)
{
	u32 addr_len = l->ipv6 ? 16 : 4;
	const u8 *src = l->l3 + (l->ipv6 ? 8 : 12);

	check_text("l3", l->ipv6 ? "ipv6" : "ipv4");
	if (l->tagged)
		check_number("vlan", l->vlan & 0xfff);
	else
		check_text("vlan", "-");
	check_number("tos", l->ipv6 ? get_16(l->l3) >> 4 & 0xff : l->l3[1]);
	check_address("src", l->ipv6, src);
	check_address("dst", l->ipv6, src + addr_len);
	check_number("sport", get_16(l->udp));
	check_number("udpcsum", get_16(l->udp + 6));
}

static void check_bth(const struct hrp_pkt *pkt)
{
	check_number("opcode", pkt->opcode);
	check_number("se", pkt->se);
	check_number("m", pkt->migreq);
	check_number("pad", pkt->pad);
	check_number("tver", 0);
	check_number("pkey", pkt->pkey);
	check_number("fecn", !!(pkt->cn & HRP_FECN));
	check_number("becn", !!(pkt->cn & HRP_BECN));
	check_number("dqpn", pkt->dqpn);
	check_number("ackreq", pkt->ackreq);
	check_number("psn", pkt->psn);
	check_number("payload", pkt->payload_len);
}

static size_t put_ext(char *text, size_t at, const char *name, int digits,
		      u64 value)
{
	return at + sprintf(text + at, "%s%s=0x%0*llx", at ? "," : "", name,
			    digits, (unsigned long long)value);
}

/* All extended headers as the manifest writes them. */
static void check_extended(const struct hrp_pkt *pkt)
{
	char text[256] = "-";
	size_t at = 0;

	if (pkt->info & HRP_OI_DETH) {
		at = put_ext(text, at, "qkey", 8, pkt->qkey);
		at = put_ext(text, at, "sqpn", 6, pkt->sqpn);
	}
	if (pkt->info & (HRP_OI_RETH | HRP_OI_ATOMICETH)) {
		at = put_ext(text, at, "va", 16, pkt->va);
		at = put_ext(text, at, "rkey", 8, pkt->rkey);
	}
	if (pkt->info & HRP_OI_RETH)
		at = put_ext(text, at, "dmalen", 8, pkt->dmalen);
	if (pkt->info & HRP_OI_ATOMICETH) {
		at = put_ext(text, at, "swap_add", 16, pkt->swap_add);
		at = put_ext(text, at, "compare", 16, pkt->compare);
	}
	if (pkt->info & HRP_OI_AETH) {
		at = put_ext(text, at, "syndrome", 2, pkt->syndrome);
		at = put_ext(text, at, "msn", 6, pkt->msn);
	}
	if (pkt->info & HRP_OI_ATOMICACKETH)
		at = put_ext(text, at, "orig", 16, pkt->orig);
	if (pkt->info & HRP_OI_IMM)
		at = put_ext(text, at, "imm", 8, be32_to_cpu(pkt->imm));
	if (pkt->info & HRP_OI_INV)
		at = put_ext(text, at, "inv_rkey", 8, pkt->inv_rkey);
	check_text("ext", text);
}

static int parse_exact(struct hrp_pkt *pkt, const u8 *bth, u32 avail,
		       u32 udp_len)
{
	u8 *exact = malloc(avail ? avail : 1);
	int ret;

	memcpy(exact, bth, avail);
	ret = hrp_pkt_parse(pkt, exact, avail, udp_len);
	free(exact);
	return ret;
}

/* Cut off anywhere within its headers, the packet is refused. */
static void check_cut_headers(const struct layers *l, u32 hdr_len)
{
	struct hrp_pkt pkt;
	u32 len;

	for (len = 0; len < hdr_len; len++) {
		check(parse_exact(&pkt, l->bth, len, l->udp_len) ==
		      -(HROCE_DROP_SHORT + 1), "cut header is accepted");
		check(parse_exact(&pkt, l->bth, len, len) ==
		      -(HROCE_DROP_SHORT + 1), "short packet is accepted");
	}
	for (; len < hdr_len + HRW_ICRC_LEN; len++)
		check(parse_exact(&pkt, l->bth, len, len) ==
		      -(HROCE_DROP_SHORT + 1), "packet without ICRC");
}

/* Headers built from what was parsed; reserved bits are lost on the way. */
static void check_rebuilt(const struct layers *l, const struct hrp_pkt *pkt)
{
	u32 want[HRW_MAX_HDR_LEN / 4], built[HRW_MAX_HDR_LEN / 4];
	u32 hdr_len = hrp_opcode_hdr_len(pkt->info);
	struct hrw_bth *bth = (void *)want;

	memcpy(want, l->bth, hdr_len);
	bth->dqpn &= cpu_to_be32(HRW_BTH_FECN | HRW_BTH_BECN | HRW_MASK_24);
	bth->psn &= cpu_to_be32(HRW_BTH_ACKREQ | HRW_BTH_LONG | HRW_MASK_24);
	check(hrp_pkt_build(pkt, built) == hdr_len, "length rebuilt");
	check(!memcmp(built, want, hdr_len), "headers rebuilt");
}

static void check_icrc(const struct layers *l, bool good)
{
	const u8 *rest = l->bth + sizeof(struct hrw_bth);
	const u8 *icrc = l->bth + l->udp_len - HRW_ICRC_LEN;
	char text[16];
	__le32 crc;
	u32 state;
	u8 *c;

	state = hroce_icrc_headers(l->l3, l->ipv6, l->udp, l->bth);
	state = hroce_crc_table(state, NULL, rest, icrc - rest);
	crc = hroce_icrc_final(state);
	c = (u8 *)&crc;
	snprintf(text, sizeof(text), "%02x%02x%02x%02x", c[0], c[1], c[2],
		 c[3]);
	check_text("icrc_computed", text);
	check(good == !memcmp(icrc, &crc, sizeof(crc)), "ICRC verdict");
}

static void check_packet(const struct frame *f)
{
	const char *expect = manifest_get("expect");
	bool truncated = !strcmp(expect, "TRUNC");
	struct hrp_pkt pkt;
	struct layers l;
	int ret;

	if (!check(find_layers(f, &l), "not RoCEv2"))
		return;
	check_layers(&l);
	if (!check(truncated == (l.avail < l.udp_len), "length of capture"))
		return;
	if (!truncated)
		check_icrc(&l, strcmp(expect, "OK") == 0);

	ret = parse_exact(&pkt, l.bth, l.avail, l.udp_len);
	if (!strncmp(manifest_get("name"), "UNKNOWN", 7)) {
		check(ret == -(HROCE_DROP_OPCODE + 1), "opcode is accepted");
		return;
	}
	if (!check(!ret, "parser refuses"))
		return;
	check_bth(&pkt);
	check_extended(&pkt);
	check_rebuilt(&l, &pkt);
	check_cut_headers(&l, hrp_opcode_hdr_len(pkt.info));
}

static void put_16(u8 *p, u32 value)
{
	p[0] = value >> 8;
	p[1] = value;
}

/* Packet @nth of a datagram, of @len bytes from @begin on, in its own frame. */
static void check_part(const struct frame *f, const struct layers *l, u32 nth,
		       u32 begin, u32 len)
{
	u32 hdr_len = l->bth - f->data;
	u32 udp_len = 8 + len;
	struct frame part = { .len = hdr_len + len };
	u8 *l3, *udp;

	part.data = malloc(part.len);
	memcpy(part.data, f->data, hdr_len);
	memcpy(part.data + hdr_len, l->bth + begin, len);
	l3 = part.data + (l->l3 - f->data);
	udp = part.data + (l->udp - f->data);
	put_16(udp + 4, udp_len);
	if (l->ipv6) {
		put_16(l3 + 4, udp_len);
	} else {
		put_16(l3 + 2, udp - l3 + udp_len);
		put_16(l3 + 4, get_16(l3 + 4) + nth);
	}
	check_packet(&part);
	free(part.data);
}

/* An ACK may have joined a request in its datagram. */
static void check_frame(const struct frame *f)
{
	struct layers l;
	u32 len;

	if (!find_layers(f, &l) || l.avail < l.udp_len ||
	    l.udp_len < 2 * HRP_JOINED_LEN || !hrp_bth_is_joined(l.bth)) {
		check_packet(f);
		return;
	}
	len = l.udp_len - HRP_JOINED_LEN;
	check_part(f, &l, 0, 0, len);
	if (check(manifest_next(), "the second packet is not in the manifest"))
		check_part(f, &l, 1, len, HRP_JOINED_LEN);
}

/* All frames of one file; returns how many. */
static int check_file(const char *dir, const char *name)
{
	struct frame f;
	int n = 0;

	where_file = name;
	where_frame = 0;
	if (!check(frames_open(dir, name), "cannot be read"))
		return 0;
	while (frames_next(&f)) {
		where_frame = ++n;
		if (check(manifest_find(name, n), "not in the manifest"))
			check_frame(&f);
		free(f.data);
	}
	frames_close();
	check(n == manifest_count(name), "frames are missing");
	return n;
}

int main(int argc, char **argv)
{
	const char *names[VECTORS_MAX_FILES];
	int nr_files, i, total = 0;
	struct stat st;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	if (stat(argv[1], &st) && errno == ENOENT) {
		tap_skip_all("no packet vectors in %s", argv[1]);
		return 4;
	}
	nr_files = manifest_load(argv[1], names);
	tap_plan(nr_files + 1);
	for (i = 0; i < nr_files; i++) {
		total += check_file(argv[1], names[i]);
		tap_end(names[i]);
	}
	printf("# %d frames\n", total);
	tap_ok(nr_files > 0);
	tap_end("manifest");
	return tap_exit();
}
