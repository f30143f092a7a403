# benchwrap: the complete build. `make help` lists the targets and variables.

O        ?= build
PREFIX   ?= /usr/local
CC       ?= cc
CFLAGS   ?= -O2 -g
CXX      ?= c++
INSTALL  ?= install
VERSION  := $(shell cat VERSION)
BW_PKGS  := hwloc libcjson yaml-0.1 libpcre2-8 uuid
BW_LATE  := libcurl libgit2# loaded when they are needed: headers alone
BW_MORE  := zlib# of the programs of our own to be measured
BW_OPTION := libmicrohttpd sentencepiece# compiled in where they are installed

# A sentence reports what is missing before anything is compiled.
ifneq ($(filter-out help clean lint dist uninstall,$(or $(MAKECMDGOALS),all)),)
missing := $(shell CC='$(CC)' sh scripts/check-packages $(BW_PKGS) $(BW_LATE) $(BW_MORE) >&2 || echo yes)
ifeq ($(missing),yes)
$(error packages are missing, see above. With root or sudo: scripts/install-needs build. Without: see README.md, Install)
endif
endif

ifeq ($(V),1)
say :=
else
say = @printf '  %-7s %s\n' '$(1)' '$(2)';
ifneq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say = @
endif
endif

BW_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Iwrapper -I. -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
             -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wno-missing-field-initializers -fno-common -fvisibility=hidden $(if $(filter-out 0,$(WERROR)),-Werror)
BW_CFLAGS += -DBW_VERSION='"$(VERSION)"'
comma := ,
BW_LDFLAGS := -Wl,--as-needed
# Where libraries of a portable archive are found. Not for static programs: the start code of glibc 2.36 ends one with an rpath by SIGSEGV.
link_rpath := $(if $(RPATH),-Wl$(comma)--disable-new-dtags '-Wl$(comma)-rpath$(comma)$(RPATH)')
ifneq ($(SAN),)
BW_CFLAGS  += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
BW_LDFLAGS += -fsanitize=$(SAN)
else
# Hardening: what compiler, C library and processor offer; tests/cli/t0903-binaries.t reads the result. Compiled paths start at the source tree, so that
# builds in two directories yield equal bytes.
cc_takes    = $(shell printf '\043include <stdio.h>\n' | $(CC) -O2 -Werror $(1) -fsyntax-only -x c - 2>/dev/null && echo '$(1)')
fortify    := $(or $(call cc_takes,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
BW_HARD    := -fPIE -fstack-protector-strong $(call cc_takes,-fstack-clash-protection) $(call cc_takes,-fcf-protection)
BW_HARD    += $(call cc_takes,-ffile-prefix-map=$(CURDIR)=.)
BW_CFLAGS  += $(if $(findstring -O,$(filter-out -O0,$(CFLAGS))),$(fortify)) $(BW_HARD)
BW_HARD_LD := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
BW_LDFLAGS += $(BW_HARD_LD)
link_pie   := -pie $(link_rpath)
# The launcher is linked statically where the system has libc.a: it starts in half the time, and a missing library cannot stop it. STATIC=0: not.
# Where libc has the start code for it, its address is random all the same.
ifneq ($(STATIC),0)
cc_has      = $(findstring /,$(shell $(CC) -print-file-name=$(1) 2>/dev/null))
launch_static := $(if $(call cc_has,libc.a),$(if $(call cc_has,rcrt1.o),-static-pie,-static))
endif
endif
link_fixed  = $(or $(launch_static),$(link_pie))# how the launcher is linked
# On the command line too: caches of compilers do not notice that a header of __has_include appeared.
state      := $(shell CC='$(CC)' CXX='$(CXX)' CPPFLAGS='$(CPPFLAGS)' scripts/build-state $(BW_PKGS) $(BW_LATE) $(BW_MORE) $(BW_OPTION))
BW_CFLAGS  += -DBW_STATE=$(firstword $(state))u
PKG_CFLAGS := $(shell pkg-config --cflags $(BW_PKGS) $(BW_LATE) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(BW_PKGS) 2>/dev/null) -lm

lib_src    := $(filter-out wrapper/launch/main.c,$(wildcard wrapper/*/*.c mlruns-format/*.c probes/*.c benchmarks/*.c benchmarks/readers/*.c))
# What the format needs of base/, and nothing more: tests/cli/t0402-libmlruns.t links all of it, and finds a file too many.
mlruns_src := $(wildcard mlruns-format/*.c) $(patsubst %,wrapper/base/%.c,arena array buf err folder fs fs_list json json_out place sha256 show site stats str yaml)
obj         = $(patsubst %.c,$(O)/obj/%.o,$(1))
LIB        := $(O)/lib/libwrap.a
MLRUNS     := $(O)/lib/libmlruns.a
BIN        := $(O)/bin/benchwrap
CORE       := $(O)/libexec/benchwrap/benchwrap-core
SHIPPED    := $(wildcard benchmarks/catalogue/*/rules.yaml)
RECIPES    := $(wildcard benchmarks/recipes/*.yaml benchmarks/services/*.yaml)
NATIVE     := $(patsubst benchmarks/native/%/,$(O)/bin/%,$(sort $(dir $(wildcard benchmarks/native/*/main.c))))
NATIVE_LIB := $(patsubst benchmarks/native/%/,$(O)/lib/lib%.a,$(filter-out benchmarks/native/taskrate-stub/,$(sort $(wildcard benchmarks/native/*/))))
STUB       := $(O)/libexec/benchwrap/taskrate-stub
NATIVE_OWN := $(filter-out $(patsubst $(O)/bin/%,$(O)/lib/lib%.a,$(NATIVE)),$(NATIVE_LIB))# folders without a main.c are what those programs share
compile     = $(CC) $(CPPFLAGS) $(CFLAGS) $(BW_CFLAGS) $(PKG_CFLAGS)

.DEFAULT_GOAL := all
.PHONY: all tests units syntax quick check check-long check-sanitized bench fuzz lint install uninstall dist dist-portable clean help FORCE
.DELETE_ON_ERROR:
all: $(BIN) $(CORE) $(MLRUNS) $(NATIVE) $(STUB)   ## build everything into O=build

# A program is replaced in one step: tests that run make must not remove it while other tests run.
# The launcher links what it needs from the archive. That this is libc alone is visible in its link line, which names no library.
$(BIN): $(call obj,wrapper/launch/main.c) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(BW_LDFLAGS) $(link_fixed) $(LDFLAGS) -o $@.new $^ && mv -f $@.new $@
$(CORE): $(call obj,wrapper/main.c) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(BW_LDFLAGS) $(link_pie) $(LDFLAGS) -o $@.new $^ $(PKG_LIBS) && mv -f $@.new $@
$(LIB): $(call obj,$(lib_src)) $(O)/obj/shipped.o $(O)/obj/shipped-recipes.o
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) rcsD $@ $^
$(MLRUNS): $(call obj,$(mlruns_src))
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) rcsD $@ $^
$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(compile) -MMD -MP -c -o $@ $<
$(O)/obj/mlruns-format/schema.o: $(wildcard mlruns-format/*.schema.json) # built in
# The catalogue is compiled in: a changed, new or removed rule file (detected by the folders' times) makes it again.
$(O)/obj/shipped.c: scripts/make-shipped $(SHIPPED) $(wildcard benchmarks/catalogue/. benchmarks/catalogue/*/. benchmarks/catalogue/*/samples/.)
	@mkdir -p $(@D)
	$(call say,MAKE,$@)scripts/make-shipped $(SHIPPED) >$@
$(O)/obj/shipped.o: $(O)/obj/shipped.c $(O)/flags
	$(call say,CC,$<)$(compile) -MMD -MP -c -o $@ $<

$(O)/obj/shipped-recipes.c: scripts/make-shipped-recipes $(RECIPES) $(wildcard benchmarks/recipes/. benchmarks/services/.)
	@mkdir -p $(@D)
	$(call say,MAKE,$@)scripts/make-shipped-recipes $(RECIPES) >$@
$(O)/obj/shipped-recipes.o: $(O)/obj/shipped-recipes.c $(O)/flags
	$(call say,CC,$<)$(compile) -MMD -MP -c -o $@ $<

# Ordinary programs to be measured: all sources of benchmarks/native/NAME and what they use of base/; `/* link: PACKAGE … */` in main.c names
# their libraries (pkg-config), `/* static */` requests static linking where the system can.
native_src = $(wildcard benchmarks/native/$(1)/*.c benchmarks/native/$(1)/*/*.c)
.SECONDEXPANSION:
$(NATIVE): $(O)/bin/%: $$(call obj,$$(call native_src,$$*)) $(NATIVE_OWN) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)libs=$$(sed -n 's,.*/\* link: \(.*\) \*/.*,\1,p' benchmarks/native/$*/main.c); [ -z "$$libs" ] || libs=$$(pkg-config --libs $$libs) || exit 1; \
	$(CC) $(CFLAGS) $(BW_LDFLAGS) $(if $(shell grep -l '/\* static \*/' benchmarks/native/$*/main.c),$(link_fixed),$(link_pie)) $(LDFLAGS) -o $@.new $^ $$libs -lm -lpthread && mv -f $@.new $@

# The same without main.c, for the tests.
$(NATIVE_LIB): $(O)/lib/lib%.a: $$(filter-out $(O)/obj/benchmarks/native/$$*/main.o,$$(call obj,$$(call native_src,$$*)))
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) rcsD $@ $^
# SentencePiece models are C++'s: an object of its own, where that library and a compiler are; llmload loads it when a model is named.
ifneq ($(shell pkg-config --exists sentencepiece 2>/dev/null && echo '\#include <sentencepiece_processor.h>' | $(CXX) $$(pkg-config --cflags sentencepiece) -E -x c++ - 2>/dev/null | head -c 1),)# newer ones need Abseil's headers, too
PIECES := $(O)/libexec/benchwrap/llmload-sentencepiece.so
$(PIECES): benchmarks/native/llmload/tokens/sentencepiece.cc benchmarks/native/llmload/tokens/sentencepiece_calls.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -std=c++17 -O2 -Wall -Wextra $(filter-out -fPIE,$(BW_HARD)) -fPIC -fvisibility=hidden -shared $(BW_HARD_LD) $(LDFLAGS) -o $@ $< \
		$$(pkg-config --cflags --libs sentencepiece)
all: $(PIECES)
else
.PHONY: no-pieces
no-pieces: # an object of an earlier build
	@rm -f '$(O)/libexec/benchwrap/llmload-sentencepiece.so'
all: no-pieces
endif
# taskrate's task: a static program without the C library where stub.c knows the processor, since starting glibc costs more than the rest of it.
bare := $(if $(filter x86_64-% aarch64-% riscv64-%,$(shell $(CC) -dumpmachine 2>/dev/null)),-ffreestanding -nostdlib -nostartfiles)
$(STUB): benchmarks/native/taskrate-stub/stub.c benchmarks/native/taskrate/wire.h $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) -std=gnu11 -O2 -I. -Wall -Wextra -Wshadow $(if $(filter-out 0,$(WERROR)),-Werror) -fno-stack-protector -fno-pie -fno-asynchronous-unwind-tables -static \
		$(bare) -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,noexecstack -o $@ $<

# Other flags, another compiler, or a library or header that appeared, disappeared or changed since the last build in this O rebuild everything.
flags_now := $(shell $(CC) --version 2>/dev/null | head -n 1) $(compile) $(BW_LDFLAGS) $(link_fixed) $(link_pie) $(LDFLAGS) $(PKG_LIBS) $(state)
$(O)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(flags_now))' | cmp -s - $@ && exit; \
	[ ! -e $@ ] || printf '%s\n' '$(subst ','\'',$(flags_now))' | \
		awk '/^./ {for (i = 1; i <= NF; i++) if (FILENAME != "-") old[$$i]; else if (!($$i in old) && $$i !~ /^(-DBW_STATE=)?[0-9]+u?$$/) new = new " " $$i} \
		END {print "make: the last build in $(O) had other flags or libraries, everything is compiled again; new is" (new ? new : " a header or library of the system")}' $@ - >&2; \
	printf '%s\n' '$(subst ','\'',$(flags_now))' >$@

# Unit tests: one program per tests/unit/<layer>/<file>.c, cmocka, TAP.
unit_src := $(wildcard tests/unit/*/*.c)
unit_bin := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(unit_src))
$(O)/tests/unit/%: tests/unit/%.c $(NATIVE_LIB) $(LIB) $(O)/flags
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(compile) -Itests/lib -MMD -MP -MF $@.d $(BW_LDFLAGS) $(LDFLAGS) -o $@ $< \
		$(filter $(O)/lib/lib$(firstword $(subst /, ,$*)).a,$(NATIVE_LIB)) $(NATIVE_OWN) $(LIB) $(PKG_LIBS) -lcmocka
# Helper programs of tests and measurements: plain C, libc and libm only, tests/lib/<name>.c and tests/bench/<name>.c; those that need more name it in
# a line `/* link: core */` (libwrap.a and its libraries) or `/* link: PACKAGE */` (pkg-config).
help_bin := $(patsubst %.c,$(O)/%,$(wildcard tests/lib/*.c tests/bench/*.c))
$(help_bin): $(O)/%: %.c $(LIB) $(O)/flags
	@mkdir -p $(@D)
	$(call say,TEST,$@)link=$$(sed -n 's,.*/\* link: \([^ ]*\).*,\1,p' $<); \
	case $$link in '') libs= ;; core) libs='$(LIB) $(PKG_LIBS)' ;; *) libs=$$(pkg-config --cflags --libs $$link) || exit 1 ;; esac; \
	$(compile) -MMD -MP -MF $@.d $(BW_LDFLAGS) $(LDFLAGS) -o $@ $< $$libs -lm
# A server that misbehaves, of the tests of what talks to servers; without its library those are skipped.
ifeq ($(shell pkg-config --exists libmicrohttpd zlib 2>/dev/null && echo yes),yes)
fault_bin := $(O)/tests/server/fault-server
endif
$(O)/tests/server/fault-server: $(wildcard tests/server/*.[ch]) $(LIB) $(O)/flags
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(compile) -Itests $(BW_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIB) $(PKG_LIBS) \
		$$(pkg-config --cflags --libs libmicrohttpd zlib) -lpthread
# What another compiler warns of does not depend on code: it writes none.
syntax_src := $(sort $(lib_src) wrapper/launch/main.c wrapper/main.c $(filter-out benchmarks/native/taskrate-stub/%,$(wildcard benchmarks/native/*/*.c benchmarks/native/*/*/*.c)))
syntax:   ## let CC read all sources, without writing code
	@printf '%s\n' $(syntax_src) | xargs -P $$(getconf _NPROCESSORS_ONLN) -n 20 $(compile) -fsyntax-only
tests: all $(unit_bin) $(fault_bin) $(help_bin)   ## build the unit tests, what the others call, and the programs that measure

quick:   ## build without optimisation into O/quick and run the quick unit tests
	@$(MAKE) -s O='$(O)/quick' CFLAGS=-O0 STATIC=0 units && O='$(O)/quick' scripts/run-tests --quick
units: $(BIN) $(CORE) $(unit_bin) $(fault_bin)
check: tests   ## run all tests with what is installed (scripts/test installs the rest)
	@O='$(O)' scripts/run-tests $(TESTS)
check-long: tests dist-portable   ## the slow tiers too: MLflow 2.x, bare Debian roots, valgrind, sanitizers, whole campaigns
	@scripts/install-needs build run test long
	@failed=; BENCHWRAP_SANITIZE_ALL=1 TEST_TIMEOUT=3600 $(MAKE) check-sanitized || failed=yes; \
	O='$(O)' BENCHWRAP_LONG=1 scripts/run-tests $(TESTS) && [ -z "$$failed" ]
check-sanitized:   ## the tests that suit it, with the address and undefined behaviour sanitizers
	@$(MAKE) O='$(O)/sanitized' SAN=address,undefined tests
	@O='$(O)/sanitized' scripts/run-tests --sanitized $(TESTS)
bench: all $(filter $(O)/tests/bench/%,$(help_bin))   ## measure, side by side with the peers found on this machine
	@O='$(O)' tests/bench/run $(BENCH)
fuzz:   ## run the fuzzers FUZZ_TIME=60 seconds each (clang)
	@O='$(O)/fuzz' FUZZ_TIME='$(or $(FUZZ_TIME),60)' MAKE='$(MAKE)' scripts/fuzz $(FUZZ)
lint:   ## formatting, static analysis, spelling, layers, manual pages
	@O='$(O)' scripts/lint

ddir = $(DESTDIR)$(PREFIX)
install: all   ## install below DESTDIR= PREFIX=/usr/local (no root needed for a folder of your own)
	$(INSTALL) -d '$(ddir)/bin' '$(ddir)/libexec/benchwrap' '$(ddir)/lib/pkgconfig' '$(ddir)/share/man/man1' '$(ddir)/share/doc/benchwrap'
	$(INSTALL) -m 755 $(BIN) $(NATIVE) '$(ddir)/bin/'
	$(INSTALL) -m 755 $(CORE) $(PIECES) $(STUB) '$(ddir)/libexec/benchwrap/'
	$(INSTALL) -m 644 $(MLRUNS) '$(ddir)/lib/'
	for f in $$(scripts/public-headers); do d='$(ddir)'/include/benchwrap/$$(dirname "$${f#wrapper/}"); \
		$(INSTALL) -d "$$d" && $(INSTALL) -m 644 "$$f" "$$d/" || exit 1; done
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scripts/packaging/mlruns.pc.in >'$(ddir)/lib/pkgconfig/mlruns.pc'
	O='$(O)' scripts/make-docs '$(ddir)/share'
	$(INSTALL) -m 644 LICENSE NEWS README.md SECURITY.md '$(ddir)/share/doc/benchwrap/'
	for f in docs/*.md mlruns-format/README.md scripts/packaging/needs.txt scripts/packaging/benchwrap-ship-logs.service; do \
		$(INSTALL) -D -m 644 "$$f" '$(ddir)/share/doc/benchwrap/'"$$f" || exit 1; done
uninstall:   ## remove what install has put there
	rm -rf '$(ddir)/libexec/benchwrap' '$(ddir)/include/benchwrap' '$(ddir)/share/doc/benchwrap'
	rm -f '$(ddir)/bin/benchwrap' $(patsubst $(O)/bin/%,'$(ddir)/bin/%',$(NATIVE)) $(patsubst $(O)/bin/%,'$(ddir)/share/man/man1/%.1',$(NATIVE)) '$(ddir)/lib/libmlruns.a' '$(ddir)/lib/pkgconfig/mlruns.pc' '$(ddir)'/share/man/man1/benchwrap*.1 \
		'$(ddir)/share/bash-completion/completions/benchwrap' '$(ddir)/share/zsh/site-functions/_benchwrap' \
		'$(ddir)/share/fish/vendor_completions.d/benchwrap.fish'
dist:   ## source archive of the last commit
	@mkdir -p $(O)
	git archive --format=tar.gz --prefix=benchwrap-$(VERSION)/ -o $(O)/benchwrap-$(VERSION).tar.gz HEAD
	@echo $(O)/benchwrap-$(VERSION).tar.gz
dist-portable:   ## a relocatable folder with its libraries, as one archive
	@O='$(O)' MAKE='$(MAKE)' VERSION='$(VERSION)' scripts/dist-portable

clean:   ## remove O
	rm -rf $(O)
help:    ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 16
	@echo 'variables: O=dir CC=clang CFLAGS= PREFIX= DESTDIR= SAN=address,undefined|thread WERROR=1 V=1 STATIC=0 TESTS="…" BENCH="…" FUZZ_TIME=60'

# Not those of builds below O, which another make may be writing.
-include $(shell find $(O)/obj $(O)/tests -name '*.d' -type f 2>/dev/null)
