#!/bin/sh
# A build notices that an optional header or library appeared, changed or disappeared since the last build in the same folder.
# sanitizer: no, because it builds with flags of its own
. "$(dirname "$0")/../lib/tap.sh"
cd "$ROOT" || exit 1
unset MAKELEVEL MAKEFLAGS
real=${CC:-cc}
o=$WORK/o object=$WORK/o/obj/benchmarks/native/llmload/agent/api.o

# The compiler sees links to the system's headers, so that one of them can be hidden without touching the system.
flags=-nostdinc
n=0
$real -E -v -x c /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ //p' >"$WORK/dirs"
while read -r dir; do
    n=$((n + 1))
    mkdir "$WORK/include.$n"
    ln -s "$dir"/* "$WORK/include.$n/"
    flags="$flags -isystem $WORK/include.$n"
done <"$WORK/dirs"
printf '#!/bin/sh\nexec %s "$@" %s\n' "$real" "$flags" >"$WORK/cc"
chmod +x "$WORK/cc"
mkdir "$WORK/pc"
for dir in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    for f in "$dir"/*.pc; do [ ! -e "$f" ] || [ -e "$WORK/pc/${f##*/}" ] || ln -s "$f" "$WORK/pc/"; done
done
header=$(find "$WORK"/include.* -maxdepth 1 -name microhttpd.h | head -n 1)
[ -n "$header" ] || { skip "optional parts" "libmicrohttpd-dev is not installed"; done_testing; exit; }
file=$(readlink -f "$header")

build() { PKG_CONFIG_LIBDIR="$WORK/pc" make -s O="$o" CC="$WORK/cc" CFLAGS=-O0 "$object" 2>&1; }
targets() { PKG_CONFIG_LIBDIR="$WORK/pc" make -n O="$o" CC="$WORK/cc" CFLAGS=-O0 all tests 2>&1; }
agents() { if grep -qa 'this build has no agents' "$object"; then echo none; else echo some; fi; }
functions() { nm -g --defined-only "$object" | sed 's/.* //'; }
time_of() { stat -c %y "$1"; }

rm "$header"
is "without the header it builds" "$(build)" ""
is "  and has no agents" "$(agents)" none
without=$(functions)
ln -s "$file" "$header"
like "with the header it builds again, and says why" "$(build)" '^make: the last build in .* everything is compiled again; new is [^;]*header or library of the system$'
is "  and has agents" "$(agents)" some
is "  and what other files call is there both times" "$without" "$(functions)"
before=$(time_of "$object")
build
is "  once" "$(time_of "$object")" "$before"
rm "$header"
{ cat "$file"; echo "/* a newer one */"; } >"$header"
touch -d 2001-01-01 "$header"
build
ok "a header whose new version has an old time is compiled in" test "$before" != "$(time_of "$object")"
rm "$header"
build
is "without the header again: no agents" "$(agents)" none

# Parts that are targets of their own.
if [ -e "$WORK/pc/sentencepiece.pc" ] && targets | grep -q 'sentencepiece[.]cc'; then
    build
    before=$(time_of "$object")
    mkdir -p "$o/libexec/benchwrap"
    touch "$o/libexec/benchwrap/llmload-sentencepiece.so"
    rm "$WORK/pc/sentencepiece.pc"
    is "without SentencePiece its object is no target" "$(targets | grep -c 'sentencepiece[.]cc')" 0
    build
    ok "  everything else is compiled again" test "$before" != "$(time_of "$object")"
    PKG_CONFIG_LIBDIR="$WORK/pc" make -s O="$o" CC="$WORK/cc" CFLAGS=-O0 no-pieces
    ok "  the object of an earlier build is removed" test ! -e "$o/libexec/benchwrap/llmload-sentencepiece.so"
else
    skip "SentencePiece hidden" "libsentencepiece-dev or a C++ compiler is not installed"
fi

# What the Makefile queries by pkg-config is part of the state that it compares.
state=$(sed -n 's/^BW_[A-Z]* *:= *\([a-z].*\)/\1/p' Makefile | sed 's/#.*//' | tr '\n' ' ')
for p in $(sed -n 's/.*pkg-config --exists \([a-z0-9. _-]*\) 2>.*/\1/p' Makefile) \
    $(sed -n 's,.*/\* link: \(.*\) \*/.*,\1,p' benchmarks/native/*/main.c); do
    like "the state of a build includes $p" " $state " " $p "
done

# What is loaded when it is needed: doctor and the command that needs it name what is missing and the step that adds it; once it is there, both work.
cat >"$WORK/hide.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    const char *hidden = getenv("HIDE");
    if (name && hidden && strstr(name, hidden))
        return NULL;
    return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(name, flags);
}
C
cd "$WORK" || exit 1
without() { HIDE=$1 LD_PRELOAD=$WORK/hide.so "$BENCHWRAP" $2 2>&1; }
if $real -shared -fPIC -o "$WORK/hide.so" "$WORK/hide.c" -ldl; then
    while IFS='|' read -r file name purpose package command; do
        like "without $name doctor names it" "$(without "$file" doctor)" "^  library +$name: not installed: cannot $purpose\$"
        like "... and the step" "$(without "$file" doctor)" "^ +install the package $package"
        [ -z "$command" ] || like "... so does ${command%% *}" "$(without "$file" "$command")" "cannot $purpose: $name is not installed; install the package $package"
        [ "$("$BENCHWRAP" doctor | grep -c "$name: not")" = 0 ] || skip_here "$name" "it is not installed here"
    done <<'T'
libcurl|libcurl|send requests to servers|libcurl4|sync --to http://127.0.0.1:1
libgit2|libgit2|work with git repositories|libgit2|init x
libz.|zlib|read compressed answers of servers|zlib1g|
libmicrohttpd|libmicrohttpd|start an agent of llmload|libmicrohttpd12|
libutf8proc|utf8proc|normalize text for tokenizers|libutf8proc2|
libsqlite3|SQLite|read and write SQLite files|libsqlite3-0|
T
    is "the table has every library but those of GPUs" "$(grep -cE '^LIBRARY\(LIBRARY_(CURL|GIT2|ZLIB|MICROHTTPD|UTF8PROC|SQLITE|NVML|AMD_SMI|ROCM),' "$ROOT/wrapper/base/library.def") $(grep -c '^LIBRARY(' "$ROOT/wrapper/base/library.def")" "9 9"
    HIDE=libcurl LD_PRELOAD=$WORK/hide.so "$BENCHWRAP" -q --to http://127.0.0.1:1 -- true 2>err
    like "a run without it is complete, and says what it lacks" "$(tr '\n' ' ' <err)" 'not sent to .*libcurl is not installed; install .*the run is complete'
else
    skip_here "hidden libraries" "no shared object can be made"
fi

# Programs and parts of the build.
mkdir -p "$WORK/empty" "$WORK/lone/bin" "$WORK/lone/libexec/benchwrap"
cp "$BUILD/bin/benchwrap" "$WORK/lone/bin/"
cp "$BUILD/libexec/benchwrap/benchwrap-core" "$WORK/lone/libexec/benchwrap/"
HOME=$WORK/home XDG_DATA_HOME=$WORK/data PATH=$WORK/empty "$BENCHWRAP" doctor >found
like "without git doctor names the step" "$(tr -s '\n ' ' ' <found)" 'git none to keep and share runs in a repository: install git'
like "... and once it is installed its place" "$("$BENCHWRAP" doctor --all)" "^git +git +ok +$(command -v git)\$"
like "without MLflow too" "$(tr -s '\n ' ' ' <found)" 'viewer none to see runs in a browser: benchwrap ui --install'
mkdir -p "$WORK/data/benchwrap/mlflow/bin"
printf '#!/bin/sh\n' >"$WORK/data/benchwrap/mlflow/bin/mlflow" && chmod +x "$WORK/data/benchwrap/mlflow/bin/mlflow"
like "... and with that of ui --install its place" "$(HOME=$WORK/home XDG_DATA_HOME=$WORK/data PATH=$WORK/empty "$BENCHWRAP" doctor)" "^  viewer +$WORK/data/benchwrap/mlflow/bin/mlflow"
like "a build without SentencePiece: doctor names the step" "$("$WORK/lone/bin/benchwrap" doctor | tr -s '\n ' ' ')" \
    'build SentencePiece models: not in this build install libsentencepiece-dev'
touch "$WORK/lone/libexec/benchwrap/llmload-sentencepiece.so"
is "... and with it has no finding" "$("$WORK/lone/bin/benchwrap" doctor | grep -c 'SentencePiece')" 0
like "without the program there is no run" "$(PATH=$WORK/empty "$BENCHWRAP" -- fio 2>&1)" 'fio: command not found\. Load the module that has it, or name its path'
printf '#!/bin/sh
echo "rate: 10 op/s"
' >"$WORK/empty/fio" && chmod +x "$WORK/empty/fio"
like "... and once it is installed there is one" "$(PATH=$WORK/empty "$BENCHWRAP" -t "$WORK/runs" -- fio 2>&1)" '^benchwrap: fio .* exit status 0'
done_testing
