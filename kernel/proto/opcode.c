// SPDX-License-Identifier: GPL-2.0
/* What each opcode means and which headers it brings (IBTA table 38). */
#include <linux/types.h>
#include "opcode.h"
#include "wire.h"

#define OI_FIRST	(HRP_OI_VALID | HRP_OI_FIRST)
#define OI_MIDDLE	(HRP_OI_VALID)
#define OI_LAST		(HRP_OI_VALID | HRP_OI_LAST)
#define OI_ONLY		(HRP_OI_VALID | HRP_OI_FIRST | HRP_OI_LAST)
#define OI_SEND		(HRP_OI_SEND | HRP_OI_PAYLOAD)
#define OI_WRITE	(HRP_OI_WRITE | HRP_OI_PAYLOAD)
#define OI_READ_RESP	(HRP_OI_READ | HRP_OI_RESPONSE | HRP_OI_PAYLOAD)
#define OI_ATOMIC_REQ	(HRP_OI_ATOMIC | HRP_OI_ATOMICETH)

/* What RC and UC have in common. */
#define OPS_CONNECTED(svc) \
	[(svc) | HRP_OP_SEND_FIRST] = OI_FIRST | OI_SEND, \
	[(svc) | HRP_OP_SEND_MIDDLE] = OI_MIDDLE | OI_SEND, \
	[(svc) | HRP_OP_SEND_LAST] = OI_LAST | OI_SEND, \
	[(svc) | HRP_OP_SEND_LAST_IMM] = OI_LAST | OI_SEND | HRP_OI_IMM, \
	[(svc) | HRP_OP_SEND_ONLY] = OI_ONLY | OI_SEND, \
	[(svc) | HRP_OP_SEND_ONLY_IMM] = OI_ONLY | OI_SEND | HRP_OI_IMM, \
	[(svc) | HRP_OP_WRITE_FIRST] = OI_FIRST | OI_WRITE | HRP_OI_RETH, \
	[(svc) | HRP_OP_WRITE_MIDDLE] = OI_MIDDLE | OI_WRITE, \
	[(svc) | HRP_OP_WRITE_LAST] = OI_LAST | OI_WRITE, \
	[(svc) | HRP_OP_WRITE_LAST_IMM] = OI_LAST | OI_WRITE | HRP_OI_IMM, \
	[(svc) | HRP_OP_WRITE_ONLY] = OI_ONLY | OI_WRITE | HRP_OI_RETH, \
	[(svc) | HRP_OP_WRITE_ONLY_IMM] = OI_ONLY | OI_WRITE | HRP_OI_RETH | \
					  HRP_OI_IMM

static const u32 opcode_infos[256] = {
	OPS_CONNECTED(HRP_SVC_RC),
	[HRP_SVC_RC | HRP_OP_READ_REQ] = OI_ONLY | HRP_OI_READ | HRP_OI_RETH,
	[HRP_SVC_RC | HRP_OP_READ_RESP_FIRST] = OI_FIRST | OI_READ_RESP |
						HRP_OI_AETH,
	[HRP_SVC_RC | HRP_OP_READ_RESP_MIDDLE] = OI_MIDDLE | OI_READ_RESP,
	[HRP_SVC_RC | HRP_OP_READ_RESP_LAST] = OI_LAST | OI_READ_RESP |
					       HRP_OI_AETH,
	[HRP_SVC_RC | HRP_OP_READ_RESP_ONLY] = OI_ONLY | OI_READ_RESP |
					       HRP_OI_AETH,
	[HRP_SVC_RC | HRP_OP_ACK] = OI_ONLY | HRP_OI_RESPONSE | HRP_OI_AETH,
	[HRP_SVC_RC | HRP_OP_ATOMIC_ACK] = OI_ONLY | HRP_OI_RESPONSE |
					   HRP_OI_ATOMIC | HRP_OI_AETH |
					   HRP_OI_ATOMICACKETH,
	[HRP_SVC_RC | HRP_OP_CMP_SWAP] = OI_ONLY | OI_ATOMIC_REQ,
	[HRP_SVC_RC | HRP_OP_FETCH_ADD] = OI_ONLY | OI_ATOMIC_REQ,
	[HRP_SVC_RC | HRP_OP_SEND_LAST_INV] = OI_LAST | OI_SEND | HRP_OI_INV,
	[HRP_SVC_RC | HRP_OP_SEND_ONLY_INV] = OI_ONLY | OI_SEND | HRP_OI_INV,

	OPS_CONNECTED(HRP_SVC_UC),

	[HRP_SVC_UD | HRP_OP_SEND_ONLY] = OI_ONLY | OI_SEND | HRP_OI_DETH,
	[HRP_SVC_UD | HRP_OP_SEND_ONLY_IMM] = OI_ONLY | OI_SEND | HRP_OI_DETH |
					      HRP_OI_IMM,

	/* Its 16 reserved bytes pass as payload. */
	[HRP_OPCODE_CNP] = OI_ONLY | HRP_OI_PAYLOAD | HRP_OI_CNP,
};

u32 hrp_opcode_info(u8 opcode)
{
	return opcode_infos[opcode];
}

u32 hrp_opcode_hdr_len(u32 info)
{
	u32 len = sizeof(struct hrw_bth);

	if (info & HRP_OI_DETH)
		len += sizeof(struct hrw_deth);
	if (info & HRP_OI_RETH)
		len += sizeof(struct hrw_reth);
	if (info & HRP_OI_ATOMICETH)
		len += sizeof(struct hrw_atomiceth);
	if (info & HRP_OI_AETH)
		len += sizeof(struct hrw_aeth);
	if (info & HRP_OI_ATOMICACKETH)
		len += sizeof(struct hrw_atomicacketh);
	if (info & (HRP_OI_IMM | HRP_OI_INV))
		len += sizeof(__be32);
	return len;
}
