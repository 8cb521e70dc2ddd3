# SPDX-License-Identifier: GPL-2.0
#
# Everything one does with hroce from the shell; "make help" lists it.
# The module itself is described in Kbuild, the provider in user/Makefile.

SHELL := /bin/bash

# Headers of the kernel to build for: the running one. None other is taken by itself, as its module would not load.
running := $(shell uname -r)
KDIR ?= /lib/modules/$(running)/build
KVER = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)

# Its one place is dkms.conf.
version := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"$$/\1/p' dkms.conf)

tree := $(CURDIR)
HROCE_BUILD ?= $(tree)/build
kbuild = $(HROCE_BUILD)/kernel-$(KVER)
jobs ?= $(shell nproc)
# A make with a jobserver shares it with the makes that it calls.
parallel = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(jobs))

# A user-mode Linux wants to be built for its own architecture.
arch = $(if $(shell grep -s CONFIG_UML=y $(KDIR)/include/config/auto.conf),ARCH=um)

# The directories of test groups that "make check" runs.
groups ?= selftests/groups

all: modules user

help:
	@echo 'make                    the module for $$(KDIR), and the provider'
	@echo 'make install            install both, and the man pages (DESTDIR is honoured)'
	@echo 'make install-dkms       install the sources that DKMS builds the module from'
	@echo 'make uninstall          take away what make install has installed, for whatever kernel'
	@echo 'make deb                packages for the Debian or Ubuntu that this runs on, in build/deb'
	@echo 'make rpm                packages for RHEL, Fedora and their kin, in build/rpm'
	@echo 'make dist               the sources as one archive, build/hroce-VERSION.tar.gz'
	@echo 'make modules-stock      the module for the stock kernels that the tests boot; tests build it themselves'
	@echo 'make prepare            install and fetch what building and testing needs'
	@echo 'make demo               two machines talk RDMA: builds everything, then shows it'
	@echo 'make quick              style, units, simulator, the core verbs: at most three minutes once all is built'
	@echo 'make check              all tests but those for releases and those on the debug kernel'
	@echo 'make kselftest          tests in a guest, run by the runner of the kernel'"'"'s self tests (tests="NAME...")'
	@echo 'make check-debug        the tests on a kernel with KASAN, lockdep and kmemleak'
	@echo 'make check-smp          the tests that races matter to, on kernels for two CPUs: KASAN, lockdep; KCSAN (an hour)'
	@echo 'make coverage           which lines of the module the tests execute (half an hour)'
	@echo 'make fuzz minutes=N     calls of uverbs, packets and rings at random (and seed=N, calls=N)'
	@echo 'make check-verbs        the verbs surface alone: verbs, pyverbs, utilities, users in the kernel'
	@echo 'make check-offload      the tests of links over hardware alone, with stand-ins for the hardware'
	@echo 'make check-switches     the tests that move data, with switches and offloads in other positions (30 minutes)'
	@echo 'make check-versions     what a release needs as well: tests that are too long for "make check" (two hours)'
	@echo 'make check-hw           the same on a real card: IFACE=... PEER=..., DRY_RUN=1 shows what it does'
	@echo 'make check-vectors      every packet in the directory HROCE_VECTORS'
	@echo 'make bench              measure, side by side with rdma_rxe, TCP, UDP and memcpy'
	@echo 'make fabric             simulate fabrics: tables and pictures, in build/fabric/report'
	@echo 'make fabric-large       the same with 1,024 and 2,048 nodes, and as published for others'
	@echo 'make style              the style checkers alone'
	@echo 'make docs               this documentation as HTML, in build/docs/html'
	@echo 'make vm                 a shell in a test machine'
	@echo 'make export DIR=...     hroce as a part of a kernel tree (DIR/linux) and of rdma-core (DIR/rdma-core)'
	@echo 'make clean              remove everything that was built in this tree'
	@echo 'Variables: KDIR (kernel headers), DESTDIR, jobs, group=PATTERN (for check), V=1 (show all output of tests)'
	@echo 'Variables of make bench: $(knobs); selftests/bench/run explains them'

# Kbuild leaves its output beside the sources. So that several kernels do not share it, each gets a directory of
# links to the sources.
kernel-sources = Kbuild dkms.conf $(shell find kernel include selftests/atomics selftests/connects selftests/drain selftests/exporter selftests/lib \
	selftests/fastreg selftests/frames selftests/freecq selftests/ondemand selftests/pfc -type f \
	\( -name '*.[chS]' -o -name 'Kbuild*' -o -name 'Makefile*' -o -name 'Kconfig*' -o -name '*.sh' \))

mirror:
	@test -n "$(KVER)" || { echo "no kernel headers in $(KDIR): 'apt install linux-headers-$(running)' or" \
		"'dnf install kernel-devel-$(running)', or name those of another kernel by KDIR=DIRECTORY" >&2; exit 1; }
	@mkdir -p $(kbuild) && cd $(kbuild) && \
	find . -xtype l -delete && \
	for file in $(kernel-sources); do \
		[ -e $$file ] || { mkdir -p $$(dirname $$file) && ln -s $(tree)/$$file $$file; } || exit 1; \
	done

# .built says for which kernel all modules, those of tests too, were built, and since when; selftests/lib/need reads it.
# .kdir says what the objects were built against: another kernel may have the same release.
modules: mirror
	+@exec 9>$(kbuild)/.lock && flock 9 && \
	{ echo $(realpath $(KDIR)) | cmp -s - $(kbuild)/.kdir || \
	{ find $(kbuild) -name '*.o' -delete && rm -f $(kbuild)/kernel/compat/config.h && \
	echo $(realpath $(KDIR)) >$(kbuild)/.kdir; }; } && \
	$(if $(HROCE_SELFTESTS),echo $(KDIR) >$(kbuild)/.start &&) \
	$(MAKE) -C $(KDIR) M=$(kbuild) $(arch) $(parallel) modules \
	$(if $(HROCE_SELFTESTS),&& mv $(kbuild)/.start $(kbuild)/.built)

user:
	+@flock user $(MAKE) -C user BUILD=$(HROCE_BUILD)/user $(parallel)

# For the stock kernels that the tests boot; those of another suite are built with its compiler. With other options than
# those of selftests/style/build, it would build everything once more.
stock = 6.12 6.1 7.3 7.2
modules-6.12: warnings = W=1
$(stock:%=modules-%): modules-%:
	@selftests/vm/prepare $*
	+@dir=$${HROCE_CACHE:-$$HOME/.cache/hroce}/kernel-$* && release=$$(cat $$dir/release) && \
	suite=$$(cat $$dir/suite 2>/dev/null || true) && $${suite:+selftests/vm/in-root -l $$dir $$suite} \
	$(MAKE) modules KDIR=/lib/modules/$$release/build HROCE_SELFTESTS=m $(or $(warnings),KCFLAGS=-Werror)

modules-stock: $(stock:%=modules-%)

# Only a kernel that can count the lines that are executed heeds GCOV_PROFILE.
modules-uml modules-debug modules-gcov modules-smp-debug modules-kcsan: modules-%: prepare
	+@dir=$$(selftests/vm/build-kernel $*) && $(MAKE) modules KDIR=$$dir/build HROCE_SELFTESTS=m KCFLAGS=-Werror GCOV_PROFILE=y

module-dir = $(DESTDIR)/lib/modules/$(KVER)/updates

install: all
	install -D -m 644 $(kbuild)/hroce.ko $(module-dir)/hroce.ko
	$(if $(DESTDIR),,depmod -a $(KVER))
	+$(MAKE) -C user BUILD=$(HROCE_BUILD)/user DESTDIR=$(DESTDIR) install

# Of all kernels: it works without the headers of any.
installed = $(wildcard $(DESTDIR)/lib/modules/*/updates/hroce.ko*)

uninstall:
	rm -f $(installed)
	$(if $(DESTDIR),,$(foreach dir,$(sort $(dir $(installed))),depmod -a $(notdir $(dir:%/updates/=%));))
	+$(MAKE) -C user BUILD=$(HROCE_BUILD)/user DESTDIR=$(DESTDIR) uninstall

# The sources that DKMS builds the module from. It is then told: dkms install hroce/VERSION.
dkms-sources = $(filter-out selftests/%,$(kernel-sources)) COPYING
dkms-dir = $(DESTDIR)/usr/src/hroce-$(version)

install-dkms:
	for file in $(dkms-sources); do install -D -m 644 $$file $(dkms-dir)/$$file || exit 1; done

# The sources as one archive, as a release has it: the files that git knows, or all where this was one already. Version and
# changelog of the spec file are made here.
dist-dir = $(HROCE_BUILD)/hroce-$(version)
archive = $(dist-dir).tar.gz
source-date = $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y Documentation/changelog.rst)

dist:
	rm -rf $(dist-dir) && mkdir -p $(dist-dir)
	{ if [ -e .git ]; then git ls-files -co --exclude-standard; else find * -path build -prune -o -type f -print; fi; } | \
	while IFS= read -r file; do [ ! -e "$$file" ] || echo "$$file"; done | tar -c -T - | tar -x -C $(dist-dir)
	sed -i -e 's/^Version:.*/Version: $(version)/' -e '/^%changelog/q' $(dist-dir)/hroce.spec
	SOURCE_DATE_EPOCH=$(source-date) Documentation/changelog-as rpm >>$(dist-dir)/hroce.spec
	tar -C $(HROCE_BUILD) -c $(notdir $(dist-dir)) --sort=name --mtime=@$(source-date) --owner=0 --group=0 --numeric-owner \
		--mode=go=rX,u+rw | gzip -n >$(archive)
	rm -rf $(dist-dir)

# Packages for different releases of a distribution have different versions, as libhroce is for one libibverbs.
deb-version = $(version)$(shell . /etc/os-release && echo "+$$ID$${VERSION_ID:-$$VERSION_CODENAME}")
deb-dir = $(HROCE_BUILD)/deb

deb: dist
	rm -rf $(deb-dir) && mkdir $(deb-dir) && tar -C $(deb-dir) -xf $(archive)
	cd $(deb-dir)/hroce-$(version) && \
	SOURCE_DATE_EPOCH=$(source-date) Documentation/changelog-as deb $(deb-version) >debian/changelog && \
	env -u HROCE_BUILD -u KDIR -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES dpkg-buildpackage -us -uc -j$(jobs)
	rm -rf $(deb-dir)/hroce-$(version)

# Debian's gcc and libibverbs are not in the database of rpm, so there it cannot check what the build requires.
rpm-dir = $(HROCE_BUILD)/rpm
rpm-flags = $(if $(wildcard /etc/debian_version),--nodeps)

rpm: dist
	rm -rf $(rpm-dir)
	env -u HROCE_BUILD -u KDIR -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
		rpmbuild $(rpm-flags) -D '_topdir $(rpm-dir)' -D '_smp_build_ncpus $(jobs)' -ta $(archive)
	mv $(rpm-dir)/*RPMS/*.rpm $(rpm-dir)/RPMS/*/*.rpm $(rpm-dir)
	rm -rf $(rpm-dir)/{BUILD,BUILDROOT,RPMS,SOURCES,SPECS,SRPMS}

export:
	kernel/export "$(or $(DIR),$(error say where to: make export DIR=DIRECTORY))/linux"
	user/export "$(DIR)/rdma-core"

prepare:
	@selftests/vm/prepare

check: prepare
	@selftests/lib/check $(if $(group),-g '$(group)') $(groups)

quick: prepare
	@selftests/lib/check selftests/groups-quick

kselftest: prepare
	@selftests/lib/kselftest $(tests)

check-debug: prepare
	@selftests/lib/check $(if $(group),-g '$(group)') selftests/groups-debug selftests/groups-debug-long

check-smp: prepare
	@selftests/lib/check $(if $(group),-g '$(group)') selftests/groups-smp selftests/groups-kcsan

fuzz: prepare
	@selftests/fuzz/run $(or $(minutes),10) $(or $(seed),1) $(or $(calls),20000)

coverage: prepare
	@selftests/coverage/run $(if $(group),'$(group)')

check-vectors: prepare
	@selftests/lib/check -g '*vectors*' $(groups)

check-verbs: prepare
	@selftests/lib/check -g '[57]?-[pvu]*' $(groups)

check-offload: prepare
	@selftests/lib/check -g '*offload*' $(groups)

check-switches: prepare
	@selftests/lib/check $(if $(group),-g '$(group)') selftests/groups-switches

check-versions: prepare
	@selftests/lib/check $(if $(group),-g '$(group)',-l selftests/groups -l selftests/groups-debug) \
		selftests/groups-versions selftests/groups-debug-long

check-hw:
	@selftests/offload/hw.sh $(IFACE) $(PEER)

style: prepare
	@selftests/style/run

docs: prepare
	@selftests/docs/build
	@echo $(tree)/build/docs/html/index.html

demo: prepare
	@selftests/vm/demo

# What "make bench" hands on; selftests/bench/run explains it.
knobs = settings topologies workloads systems sizes runs seconds full
bench-uml = $(if $(settings),$(findstring uml,$(settings)),uml)

bench: prepare modules-6.12 modules-6.1 $(bench-uml:%=modules-%) user
	@selftests/bench/run $(foreach knob,$(knobs),$(if $($(knob)),$(knob)=$($(knob))))

fabric: prepare
	@$(MAKE) -s -C selftests/fabric report

fabric-large: prepare
	@$(MAKE) -s -C selftests/fabric check-large

vm: prepare
	@selftests/vm/run -i -- bash -i

clean:
	rm -rf $(HROCE_BUILD)

.PHONY: all help export mirror modules user modules-stock $(stock:%=modules-%) modules-uml modules-debug modules-gcov \
	modules-smp-debug modules-kcsan install install-dkms uninstall dist deb rpm prepare check quick kselftest check-debug \
	check-smp fuzz check-vectors check-verbs check-offload check-switches check-versions \
	check-hw style docs demo bench fabric fabric-large vm clean
