#!/bin/bash
# Energy for each result, with GPUs of a library for tests: whole run, measured window, shared node, too few samples; cost; older readers of the units.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
mkdir -p lib && ${CC:-cc} -shared -fPIC -o lib/libnvidia-ml.so.1 "$TESTLIB/fake/nvml.c" || exit 1
bw() { LD_LIBRARY_PATH=$WORK/lib FAKE_NVML='' "$BENCHWRAP" -q --sample 200ms "$@"; }
value() { "$BENCHWRAP" show --json last | jq -r --arg k "$1" '.metrics[] | select(.key == $k) | .value'; }
tag() { "$BENCHWRAP" show --json last | jq -r --arg k "$1" '.tags[$k] // (.tags[]? | select(.key? == $k) | .value)'; }
why() { "$BENCHWRAP" show --json last | jq -r '.missing[] | select(.key == "energy.valid") | .reason'; }
cat >rules.yaml <<'R'
name: served
version: "1"
readers:
  - name: results
    regex: '^tokens/s (?<t>[0-9.]+) ops/s (?<o>[0-9.]+) GB/s (?<b>[0-9.]+)'
    metrics:
      - {name: output.speed, cell: t, unit: token_per_s, from: token/s, better: higher}
      - {name: requests, cell: o, unit: op_per_s, from: op/s, better: higher}
      - {name: write.bw, cell: b, unit: MB_per_s, from: GB/s, better: higher}
  - name: window
    regex: '^window (?<from>[0-9.]+) (?<to>[0-9.]+)'
    metrics:
      - {name: measured.from, cell: from, unit: s, from: s, better: none}
      - {name: measured.to, cell: to, unit: s, from: s, better: none}
R
bw -r rules.yaml --node-hour-price '7.20 EUR' -- sh -c 'sleep 7.3; echo "tokens/s 50 ops/s 2 GB/s 4"'
power=$(value energy.mean_W)
ok "the mean power is that of both GPUs" python3 -c "assert 100 < $power < 2000"
is "energy for each token, operation and gigabyte" "$(python3 -c "print(*[abs(a / b - 1) < 1e-9 for a, b in (($(value output.speed.energy_J_per_token), $power / 50), ($(value requests.energy_J_per_op), $power / 2), ($(value write.bw.energy_J_per_gigabyte), $power / 4))])")" "True True True"
is "the record says what it is of" "$(value energy.valid) $("$BENCHWRAP" show last --json | jq -c '[.. | strings | select(. == "gpu_0 gpu_1" or . == "run")] | unique')" '1 ["gpu_0 gpu_1","run"]'
is "the window is the program's time" "$(python3 -c "print(abs($(value energy.window_s) - $(value run.wall_s)) < 0.02, abs($(value energy.used_J) / $(value energy.window_s) / $power - 1) < 1e-9)")" "True True"
is "the cost" "$(python3 -c "print(abs($(value cost.run) / (7.2 * $(value run.wall_s) / 3600) - 1) < 1e-9, $(value output.speed.cost_per_million_tokens))")" "True 40"
is "check accepts the run" "$("$BENCHWRAP" check --tree mlruns 2>&1 | grep -ciE 'energy|cost')" 0
like "compare shows a smaller energy as better" "$("$BENCHWRAP" compare last last --json 2>/dev/null | jq -c '[.. | objects | select(.key? == "output.speed.energy_J_per_token" or .metric? == "output.speed.energy_J_per_token")] | length')" '^[1-9]'
mkdir amd && ${CC:-cc} -shared -fPIC -o amd/libamd_smi.so "$TESTLIB/fake/amd_smi.c" || exit 1
amd() { FAKE_AMD_SMI=$1 LD_LIBRARY_PATH=$WORK/amd "$BENCHWRAP" -q --sample 200ms -r rules.yaml -- sh -c 'sleep 6.3; echo "tokens/s 50 ops/s 2 GB/s 4"'; }
amd ''; is "AMD: the power is that of AMD SMI's counters, of each GPU once" "$(python3 -c "print(680 < $(value energy.mean_W) < 920, 0.85 < $(value energy.gpu_watched_J) / ($(value energy.gpu_watched_s) * 800) < 1.15)") $(tag energy.parts)" "True True gpu_0 gpu_1"
amd still; is "… counters that stand still count nothing" "$(value energy.mean_W)$(value energy.gpu_watched_J)$(why)" ""
amd fault; is "… nor does a library that fails" "$(value energy.mean_W)$(value energy.gpu_watched_J)$(why)" ""
bw -r rules.yaml -- sh -c 'sleep 1; s=$(date +%s.%N); sleep 5; e=$(date +%s.%N); sleep 1; echo "$e - $s" >window; echo "window $s $e"; echo "tokens/s 50 ops/s 2 GB/s 4"'
is "the window that a program reports" "$(python3 -c "print(abs($(value energy.window_s) - ($(cat window))) < 0.001)") $("$BENCHWRAP" show last --json | jq -c '[.. | strings | select(. == "measured")] | unique')" 'True ["measured"]'
bw -r rules.yaml -- sh -c 'sleep 2; echo "tokens/s 50 ops/s 2 GB/s 4"'
like "too few samples: missing with the reason" "$(value energy.valid)$(value output.speed.energy_J_per_token)$(why)" '^(the power of gpu_0 was sampled|the power)'
cat >>rules.yaml <<'R'
  - name: place
    regex: '^elsewhere (?<e>[01])'
    metrics: [{name: measured.elsewhere, cell: e, better: none}]
  - name: amount
    regex: '^moved (?<m>[0-9.]+) GB'
    metrics: [{name: moved, cell: m, unit: GB, better: higher}]
  - name: counted
    regex: '^energy (?<j>[0-9.]+)'
    metrics: [{name: measured.energy, cell: j, unit: J, from: J, better: none}]
R
bw -r rules.yaml -- sh -c 'sleep 2; echo "elsewhere 1"; echo "tokens/s 50 ops/s 2 GB/s 4"'
is "work of another machine: this one's power says nothing of it" "$(value output.speed.energy_J_per_token)$(why)" "the work was done on another machine, whose power is not known"
"$BENCHWRAP" -q -r rules.yaml -- sh -c 's=$(date +%s.%N); sleep 0.3; e=$(date +%s.%N); echo "window $s $e"; echo "elsewhere 1"; echo "energy 30"; echo "moved 15 GB"; echo "tokens/s 50 ops/s 2 GB/s 4"'
is "... and for each gigabyte of an amount" "$(python3 -c "print(abs($(value moved.energy_J_per_gigabyte) - 2) < 1e-9)")" True
is "... unless the service counts its energy" "$(python3 -c "print(abs($(value energy.used_J) - 30) < 1e-9, abs($(value output.speed.energy_J_per_token) * 50 * $(value energy.window_s) / 30 - 1) < 1e-9)") $(tag energy.parts)" "True True service"
"$BENCHWRAP" -q -r rules.yaml -- sh -c 'echo "tokens/s 50 ops/s 2 GB/s 4"'
is "no power is known: nothing is said of results" "$("$BENCHWRAP" show --json last | jq -r '(.metrics[].key, .missing[].key)' | grep -c 'energy\.valid\|energy_J_per')" 0
printf '#!/bin/sh\necho "Instantaneous power reading:   28${1}.5 Watts"\n' >meter && chmod +x meter
"$BENCHWRAP" -q --sample 200ms --power-command "$WORK/meter 0" -r rules.yaml -- sh -c 'sleep 17; echo "tokens/s 50 ops/s 2 GB/s 4"' >/dev/null
is "a command reports the power of the node" "$(value energy.mean_W) $("$BENCHWRAP" show last --json | jq -c '[.. | strings | select(. == "node")] | unique')" '280.5 ["node"]'
"$BENCHWRAP" -q --sample 200ms --power-command "$WORK/none" -- sleep 1
is "a command that fails" "$("$BENCHWRAP" show --json last | jq -r '.missing[] | select(.key == "system/power_node_watts") | .reason')" "the command of --power-command failed, or printed no number"
is "wrong prices" "$(for p in x -1 'nan EUR'; do "$BENCHWRAP" -q --node-hour-price "$p" -- true 2>/dev/null; echo $?; done | xargs)" "125 125 125"
done_testing
