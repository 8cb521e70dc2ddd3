# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Parts of the command hroce(8)."""
