// SPDX-License-Identifier: GPL-2.0
/* Meaning and headers of each opcode (IBTA table 38, A19). */
#include <linux/types.h>
#include "opcode.h"
#include "wire.h"

/* Bytes of the headers that come with these properties. */
#define HDR(oi, which, hdr)	((oi) & (which) ? sizeof(hdr) : 0)
#define HDR_LEN(oi) \
	(sizeof(struct hrw_bth) + \
	 HDR(oi, HRP_OI_DETH, struct hrw_deth) + \
	 HDR(oi, HRP_OI_XRCETH, struct hrw_xrceth) + \
	 HDR(oi, HRP_OI_FLUSH, struct hrw_feth) + \
	 HDR(oi, HRP_OI_RETH, struct hrw_reth) + \
	 HDR(oi, HRP_OI_ATOMICETH, struct hrw_atomiceth) + \
	 HDR(oi, HRP_OI_AETH, struct hrw_aeth) + \
	 HDR(oi, HRP_OI_ATOMICACKETH, struct hrw_atomicacketh) + \
	 HDR(oi, HRP_OI_IMM | HRP_OI_INV, __be32))

#define OI(oi) \
	(HRP_OI_VALID | (oi) | (u32)HDR_LEN(oi) << HRP_OI_HDR_LEN_SHIFT)
#define FIRST(oi)	OI(HRP_OI_FIRST | (oi))
#define MIDDLE(oi)	OI(oi)
#define LAST(oi)	OI(HRP_OI_LAST | (oi))
#define ONLY(oi)	OI(HRP_OI_FIRST | HRP_OI_LAST | (oi))

#define OI_SEND		(HRP_OI_SEND | HRP_OI_PAYLOAD)
#define OI_WRITE	(HRP_OI_WRITE | HRP_OI_PAYLOAD)
#define OI_READ_RESP	(HRP_OI_READ | HRP_OI_RESPONSE | HRP_OI_PAYLOAD)
#define OI_ATOMIC_REQ	(HRP_OI_ATOMIC | HRP_OI_ATOMICETH)
#define OI_ACK		(HRP_OI_RESPONSE | HRP_OI_AETH)

/* Opcodes common to RC, UC and XRC; all requests have @oi. */
#define OPS_CONNECTED(svc, oi) \
	[(svc) | HRP_OP_SEND_FIRST] = FIRST(OI_SEND | (oi)), \
	[(svc) | HRP_OP_SEND_MIDDLE] = MIDDLE(OI_SEND | (oi)), \
	[(svc) | HRP_OP_SEND_LAST] = LAST(OI_SEND | (oi)), \
	[(svc) | HRP_OP_SEND_LAST_IMM] = LAST(OI_SEND | HRP_OI_IMM | (oi)), \
	[(svc) | HRP_OP_SEND_ONLY] = ONLY(OI_SEND | (oi)), \
	[(svc) | HRP_OP_SEND_ONLY_IMM] = ONLY(OI_SEND | HRP_OI_IMM | (oi)), \
	[(svc) | HRP_OP_WRITE_FIRST] = FIRST(OI_WRITE | HRP_OI_RETH | (oi)), \
	[(svc) | HRP_OP_WRITE_MIDDLE] = MIDDLE(OI_WRITE | (oi)), \
	[(svc) | HRP_OP_WRITE_LAST] = LAST(OI_WRITE | (oi)), \
	[(svc) | HRP_OP_WRITE_LAST_IMM] = LAST(OI_WRITE | HRP_OI_IMM | (oi)), \
	[(svc) | HRP_OP_WRITE_ONLY] = ONLY(OI_WRITE | HRP_OI_RETH | (oi)), \
	[(svc) | HRP_OP_WRITE_ONLY_IMM] = ONLY(OI_WRITE | HRP_OI_RETH | \
					       HRP_OI_IMM | (oi))

/* Opcodes common to RC and XRC; responses do not have @oi. */
#define OPS_RELIABLE(svc, oi) \
	OPS_CONNECTED(svc, oi), \
	[(svc) | HRP_OP_READ_REQ] = ONLY(HRP_OI_READ | HRP_OI_RETH | (oi)), \
	[(svc) | HRP_OP_READ_RESP_FIRST] = FIRST(OI_READ_RESP | HRP_OI_AETH), \
	[(svc) | HRP_OP_READ_RESP_MIDDLE] = MIDDLE(OI_READ_RESP), \
	[(svc) | HRP_OP_READ_RESP_LAST] = LAST(OI_READ_RESP | HRP_OI_AETH), \
	[(svc) | HRP_OP_READ_RESP_ONLY] = ONLY(OI_READ_RESP | HRP_OI_AETH), \
	[(svc) | HRP_OP_ACK] = ONLY(OI_ACK), \
	[(svc) | HRP_OP_ATOMIC_ACK] = ONLY(OI_ACK | HRP_OI_ATOMIC | \
					   HRP_OI_ATOMICACKETH), \
	[(svc) | HRP_OP_CMP_SWAP] = ONLY(OI_ATOMIC_REQ | (oi)), \
	[(svc) | HRP_OP_FETCH_ADD] = ONLY(OI_ATOMIC_REQ | (oi)), \
	[(svc) | HRP_OP_SEND_LAST_INV] = LAST(OI_SEND | HRP_OI_INV | (oi)), \
	[(svc) | HRP_OP_SEND_ONLY_INV] = ONLY(OI_SEND | HRP_OI_INV | (oi))

const u32 hrp_opcode_infos[256] = {
	OPS_RELIABLE(HRP_SVC_RC, 0),
	[HRP_SVC_RC | HRP_OP_FLUSH] = ONLY(HRP_OI_FLUSH | HRP_OI_RETH),
	[HRP_SVC_RC | HRP_OP_ATOMIC_WRITE] =
		ONLY(HRP_OI_ATOMIC_WRITE | HRP_OI_RETH | HRP_OI_PAYLOAD),

	OPS_CONNECTED(HRP_SVC_UC, 0),

	[HRP_SVC_UD | HRP_OP_SEND_ONLY] = ONLY(OI_SEND | HRP_OI_DETH),
	[HRP_SVC_UD | HRP_OP_SEND_ONLY_IMM] = ONLY(OI_SEND | HRP_OI_DETH |
						   HRP_OI_IMM),

	OPS_RELIABLE(HRP_SVC_XRC, HRP_OI_XRCETH),

	/* Its 16 reserved bytes count as payload. */
	[HRP_OPCODE_CNP] = ONLY(HRP_OI_PAYLOAD | HRP_OI_CNP),

	[HRP_OPCODE_SACK_ASK] = ONLY(HRP_OI_PAYLOAD | HRP_OI_EXT),
	[HRP_OPCODE_SACK] = ONLY(OI_ACK | HRP_OI_PAYLOAD | HRP_OI_EXT),
	[HRP_OPCODE_MTU_ASK] = ONLY(HRP_OI_PAYLOAD | HRP_OI_EXT),
	[HRP_OPCODE_MTU] = ONLY(HRP_OI_RESPONSE | HRP_OI_PAYLOAD | HRP_OI_EXT),
	[HRP_OPCODE_SECOND_ASK] = ONLY(HRP_OI_PAYLOAD | HRP_OI_EXT),
	[HRP_OPCODE_SECOND] = ONLY(HRP_OI_RESPONSE | HRP_OI_PAYLOAD |
				   HRP_OI_EXT),
};
