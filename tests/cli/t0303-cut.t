#!/bin/sh
# A log whose middle is not kept gives no series that could be wrong: what it touches is missing, with the reason.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1

head='access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter'
cat >ior <<EOF
#!/bin/sh
printf 'IOR-4.1.0+dev: MPI Coordinated Test of Parallel I/O\nOptions: \nrepetitions         : 2\nResults: \n\n$head\n'
printf 'write     100.00     100.00     0.01    1024.00    256.00     0.1   0.2   0.1   0.3   0   \n'
[ "\$NOISE" = 0 ] || yes 'a line of another program, no row of a table' | head -c \$NOISE
printf '\nwrite     300.00     300.00     0.01    1024.00    256.00     0.1   0.2   0.1   0.3   1   \n'
EOF
chmod +x ior
metric() { "$BENCHWRAP" show last --json | python3 -c "
import json, sys
run = json.load(sys.stdin)
found = [m for m in run['metrics'] if m['key'] == sys.argv[1]]
print(float(found[0]['value']) if found else 'missing')" "$1"; }

NOISE=0 "$BENCHWRAP" -q --log-max 64K -- ./ior -w -i 2 >/dev/null
is "whole log: the best of two" "$(metric write.bw_MiB_per_s.max)" 300.0
NOISE=20000 "$BENCHWRAP" -q --log-max 64K -- ./ior -w -i 2 >/dev/null
is "noise that fits: the best of two" "$(metric write.bw_MiB_per_s.max)" 300.0
NOISE=400000 "$BENCHWRAP" -q --log-max 64K -- ./ior -w -i 2 >/dev/null
is "cut log: no statistic" "$(metric write.bw_MiB_per_s.max)" missing
is "cut log: no series" "$(metric write.bw_MiB_per_s)" missing
like "cut log: the verdict says why" "$(cat mlruns/*/"$("$BENCHWRAP" ls --last 1 --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["id"])')"/tags/benchwrap.reason)" 'not kept'
done_testing
