# SPDX-License-Identifier: GPL-2.0
# The simulator, and the tests of the responder.

SIM_OBJS := $(patsubst $(SIM)/%.c,$(OUT)/%.o,$(wildcard $(SIM)/sim*.c))

$(OUT)/sim: $(SIM_OBJS) $(ENGINE)
	@$(CC) $(CFLAGS) -o $@ $(SIM_OBJS) $(ENGINE)

all: $(OUT)/sim

$(OUT)/unit_resp $(OUT)/unit_rdres $(OUT)/unit_dgram $(OUT)/unit_xrc \
	$(OUT)/unit_hold $(OUT)/unit_keep $(OUT)/unit_mtu_resp $(OUT)/unit_e2e_resp \
	$(OUT)/unit_resp_pace $(OUT)/unit_nak: \
	$(OUT)/resp_rig.o
