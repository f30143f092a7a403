# benchwrap: the whole build. `make help` lists the targets.

O        ?= build
PREFIX   ?= /usr/local
CC       ?= cc
CFLAGS   ?= -O2 -g
PYTHON   ?= python3
VERSION  := $(shell cat VERSION)
BW_PKGS  := hwloc libcjson yaml-0.1 libpcre2-8 uuid

ifneq ($(filter-out help clean lint dist,$(or $(MAKECMDGOALS),all)),)
missing := $(shell sh scripts/check-packages $(BW_PKGS) >&2 || echo yes)
ifeq ($(missing),yes)
$(error libraries are missing, see above; `scripts/quickstart` installs them)
endif
endif

ifeq ($(V),1)
say :=
else
say = @printf '  %-7s %s\n' '$(1)' '$(2)';
.SILENT:
endif

BW_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Iwrapper -I. -I$(O)/gen -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
             -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -fno-common -fvisibility=hidden $(if $(WERROR),-Werror)
BW_CFLAGS += -DBW_VERSION='"$(VERSION)"'
BW_LDFLAGS :=
ifneq ($(SAN),)
BW_CFLAGS  += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
BW_LDFLAGS += -fsanitize=$(SAN)
else
BW_CFLAGS  += -D_FORTIFY_SOURCE=2 -fstack-protector-strong
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(BW_PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(BW_PKGS) 2>/dev/null) -lm

# The launcher is libc only: its own folder and four files of base.
launch_src := $(wildcard wrapper/launch/*.c) $(addprefix wrapper/base/,err.c buf.c str.c opt.c)
lib_src    := $(filter-out wrapper/launch/main.c,$(wildcard wrapper/launch/*.c)) wrapper/plan.c wrapper/run.c $(wildcard wrapper/run_*.c) \
              $(wildcard wrapper/base/*.c wrapper/cmd/*.c wrapper/sinks/*.c mlruns-format/*.c probes/*.c benchmarks/*.c benchmarks/readers/*.c)
lib_src    := $(wildcard $(lib_src))
obj         = $(patsubst %.c,$(O)/obj/%.o,$(1))
LIB        := $(O)/lib/libwrap.a
MLRUNS     := $(O)/lib/libmlruns.a
BIN        := $(O)/bin/benchwrap
CORE       := $(O)/libexec/benchwrap/benchwrap-core
CATALOGUE  := $(patsubst benchmarks/catalogue/%,$(O)/share/benchwrap/catalogue/%,$(wildcard benchmarks/catalogue/*/rules.yaml))

.PHONY: all help check check-long bench lint install uninstall clean dist dist-portable tests
all: $(BIN) $(CORE) $(MLRUNS) $(CATALOGUE)   ## build everything into O=build

$(BIN): $(call obj,$(launch_src))
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(BW_LDFLAGS) $(LDFLAGS) -o $@ $^
$(CORE): $(call obj,wrapper/main.c) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(BW_LDFLAGS) $(LDFLAGS) -Wl,-z,now -o $@ $^ $(PKG_LIBS)
$(LIB): $(call obj,$(lib_src))
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^
$(MLRUNS): $(call obj,$(wildcard mlruns-format/*.c) $(addprefix wrapper/base/,err.c arena.c buf.c str.c fs.c json.c units.c yaml.c))
	@mkdir -p $(@D); rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^
$(O)/obj/%.o: %.c Makefile VERSION
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(BW_CFLAGS) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/share/benchwrap/catalogue/%: benchmarks/catalogue/%
	@mkdir -p $(@D)
	$(call say,COPY,$@)cp $< $@

# Unit tests: one program per tests/unit/<layer>/<file>.c, cmocka, TAP.
unit_src := $(wildcard tests/unit/*/*.c)
unit_bin := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(unit_src))
$(O)/tests/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(CPPFLAGS) $(CFLAGS) $(BW_CFLAGS) $(PKG_CFLAGS) -MMD -MP -MF $@.d $(BW_LDFLAGS) -o $@ $< $(LIB) $(PKG_LIBS) -lcmocka
tests: all $(unit_bin)   ## build the unit tests

clean:   ## remove O
	rm -rf $(O)
help:    ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 16

-include $(shell find $(O) -name '*.d' 2>/dev/null)
