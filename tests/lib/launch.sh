# launch.sh: a launcher with the fake recorder beside it, for tests of the launcher alone. Sourced after tap.sh; gives $LAUNCH (relocated launcher with
# the fake recorder), $BARE (the launcher without any core: unrecorded), $FAKE_DIR (what the fake recorder has seen), and compile NAME: tests/lib/NAME.c -> $WORK/NAME.

CC=${CC:-cc}
compile() # NAME [OPTIONS…]
{
    compile_name=$1
    shift
    $CC -std=gnu11 -D_GNU_SOURCE -O1 -I"$ROOT/wrapper" -o "$WORK/$compile_name" "$TESTLIB/$compile_name.c" "$@" || tap_stop "$compile_name.c compiles"
}
compile fake-recorder
mkdir -p "$WORK/with/bin" "$WORK/with/libexec/benchwrap" "$WORK/bare/bin" "$WORK/fake"
cp "$BENCHWRAP" "$WORK/with/bin/benchwrap"
cp "$BENCHWRAP" "$WORK/bare/bin/benchwrap"
mv "$WORK/fake-recorder" "$WORK/with/libexec/benchwrap/benchwrap-core"
LAUNCH=$WORK/with/bin/benchwrap
BARE=$WORK/bare/bin/benchwrap
FAKE_DIR=$WORK/fake
export FAKE_DIR LAUNCH BARE
