# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The checks of `hroce doctor`, one kind of finding a file."""
