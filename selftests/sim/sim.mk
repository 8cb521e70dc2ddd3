# SPDX-License-Identifier: GPL-2.0
# The simulator.

SIM_OBJS := $(patsubst $(SIM)/%.c,$(OUT)/%.o,$(wildcard $(SIM)/sim*.c))

$(OUT)/sim: $(SIM_OBJS) $(ENGINE)
	@$(CC) $(CFLAGS) -o $@ $(SIM_OBJS) $(ENGINE)

all: $(OUT)/sim
