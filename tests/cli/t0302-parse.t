#!/bin/sh
# t0302: `benchwrap parse` and what it says to wrong rule files.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
printf 'speed: 12.5 MB/s\nspeed: 13 MB/s\n' >out

rules() # FILE: a rule file around the readers on standard input
{
    { printf 'name: x\nversion: "1"\nreaders:\n'; cat; } >"$1"
}
refuses() # NAME PATTERN: rules on standard input
{
    rules bad.yaml
    text=$("$BENCHWRAP" parse --rules ./bad.yaml out 2>&1)
    is "$1: refused" $? 1
    like "$1: says where and why" "$text" "$2"
}

rules good.yaml <<'END'
  - {name: speed, regex: '^speed: (?<v>\S+) (?<u>\S+)', metrics: [{name: speed, cell: v, unit_cell: u, unit: MB_per_s, better: higher, headline: max}]}
END
text=$("$BENCHWRAP" parse --rules ./good.yaml --json out | tr -d ' \n')
like "a series has its headline statistic" "$text" '"key":"speed_MB_per_s.max","value":13,"unit":"MB_per_s"'
like "and its steps" "$text" '"value":12.5,"unit":"MB_per_s","step":0,"direction":"higher"'
like "no failure is a pass" "$text" '"verdict":"pass"'
like "standard input is read" "$("$BENCHWRAP" parse --rules ./good.yaml - <out)" 'speed_MB_per_s.max +13 MB_per_s'
like "an exit status fails the run" "$("$BENCHWRAP" parse --rules ./good.yaml --exit-status 3 out)" 'fail: exit status 3'

refuses "unknown key" 'bad.yaml:4:[0-9]+: "regexp" is not known here; allowed are .*regex' <<'END'
  - {name: a, regexp: 'x'}
END
refuses "pattern that is none" 'bad.yaml:4:[0-9]+: the pattern is wrong at character' <<'END'
  - {name: a, regex: 'x(', metrics: []}
END
refuses "group that is not there" 'no group .*<speed>.*never be found' <<'END'
  - {name: a, regex: '(?<v>\d+)', metrics: [{name: a, cell: speed, better: higher}]}
END
refuses "column the table has not" 'bad.yaml:4:[0-9]+: the table of reader "a" has no column "bandwith"' <<'END'
  - {name: a, table: {header: [op, bandwidth]}, metrics: [{name: a, cell: bandwith, better: higher}]}
END
refuses "unit a key cannot have" '"MiB/s" is no unit a key can have' <<'END'
  - {name: a, regex: '(?<v>\d+)', metrics: [{name: a, cell: v, unit: MiB/s, better: higher}]}
END
refuses "units of two dimensions" 'cannot become' <<'END'
  - {name: a, regex: '(?<v>\d+)', metrics: [{name: a, cell: v, unit: s, from: MiB/s, better: higher}]}
END
refuses "direction that is missing" 'better is missing' <<'END'
  - {name: a, regex: '(?<v>\d+)', metrics: [{name: a, cell: v}]}
END
refuses "two readers of one name" 'a reader of this name stands in line 4' <<'END'
  - {name: a, regex: 'x'}
  - {name: a, regex: 'y'}
END
refuses "expression that is none" 'bad.yaml:6:[0-9]+: a value is expected at character 5' <<'END'
  - {name: a, regex: 'x'}
checks:
  - {expect: "1 + ", reason: r}
END
refuses "alias" 'anchors .* are not allowed' <<'END'
  - &a {name: a, regex: 'x'}
END
refuses "key that stands twice" 'occurs twice' <<'END'
  - {name: a, regex: 'x', name: b}
END
text=$("$BENCHWRAP" parse --rules nosuch out 2>&1)
is "unknown benchmark is a mistake of the user" $? 125
like "and says what to do" "$text" '"nosuch" is neither an entry of the catalogue .* nor a file'
text=$("$BENCHWRAP" parse --rules ./good.yaml nosuch.out 2>&1)
like "a file that is not there is named" "$text" 'nosuch.out: No such file'

# Hostile output: ends soon, says what it left out.
rules slow.yaml <<'END'
  - {name: a, regex: '^(a+)+$'}
END
{ head -c 100000 /dev/zero | tr '\0' a; echo b; } >hostile
ok "a catastrophic match ends" timeout 120 "$BENCHWRAP" parse --rules ./slow.yaml hostile
like "and is told" "$("$BENCHWRAP" parse --rules ./slow.yaml hostile)" 'too hard to match'
same "the interpreter without JIT says the same" "$(BENCHWRAP_PCRE_JIT=0 "$BENCHWRAP" parse --rules ./good.yaml --json out)" "$("$BENCHWRAP" parse --rules ./good.yaml --json out)"
{ echo 'speed: 1 MB/s'; head -c 3000000 /dev/zero | tr '\0' '\1'; echo; printf 'a\0b\nspeed: 2 MB/s\nspeed: \377\376 MB/s\n'; } >binary
like "NUL bytes and a long line do not stop the reading" "$("$BENCHWRAP" parse --rules ./good.yaml binary)" 'speed_MB_per_s.max +2 MB_per_s'
like "the long line is counted" "$("$BENCHWRAP" parse --rules ./good.yaml binary)" 'not read: 1 line of more than'
printf 'speed: 1 MB/s\nspeed: 20' >torn
like "a number that may be cut is not taken" "$("$BENCHWRAP" parse --rules ./good.yaml torn)" 'speed_MB_per_s.max +1 MB_per_s'
done_testing
