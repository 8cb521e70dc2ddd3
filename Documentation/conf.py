# SPDX-License-Identifier: GPL-2.0
"""How Sphinx builds the documentation, for "make docs" (selftests/docs/build).

kernel-doc and its Sphinx extension are those of the kernel tree, in the
directory HROCE_KERNEL_SCRIPTS.
"""

import os
import pathlib
import sys

from docutils.parsers.rst import Directive

TREE = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = os.environ["HROCE_KERNEL_SCRIPTS"]
sys.path.insert(0, SCRIPTS)

project = "hroce"
extensions = ["automarkup", "kerneldoc"]
kerneldoc_bin = os.path.join(SCRIPTS, "kernel-doc")
kerneldoc_srctree = str(TREE)
c_id_attributes = ["__percpu", "__rcu", "__must_check", "__user"]

html_theme_options = {"page_width": "75em"}
html_show_copyright = False


class KernelDocs(Directive):
    """kernel-docs:: DIRECTORY, a section with kernel-doc for each of its files.

    A new file needs no entry anywhere.
    """

    required_arguments = 1

    def run(self):
        lines = []
        for path in sorted((TREE / self.arguments[0]).glob("*.[ch]")):
            if "/**\n" in path.read_text(encoding="utf-8"):
                name = str(path.relative_to(TREE))
                lines += [name, "-" * len(name), "", f".. kernel-doc:: {name}", ""]
        self.state_machine.insert_input(lines, self.state.document["source"])
        return []


def setup(app):
    app.add_directive("kernel-docs", KernelDocs)
