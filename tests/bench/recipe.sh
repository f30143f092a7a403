# shellcheck shell=bash
# recipe.sh: part of run: what a campaign costs besides services and load, next to JUBE and Ramble; a plan; tear-down. Sourced; uses its functions
# and variables. Peers are `jube` and `ramble` of PATH, such as those of their git repositories.
if wanted recipe; then
    mkdir recipe && cd recipe || exit 1
    printf 'version: 1\nsweep: {grid: {a: 1..1000}}\nroles: {s: {service: dummy}, c: {command: "x {a}"}}\n' >many.yaml
    printf '#!/bin/sh\nexec "%s" recipe plan many.yaml --json >/dev/null\n' "$BW" >plan.sh && chmod +x plan.sh
    t=$("$M" time -n "$(rounds 15)" -w 1 -- ./plan.sh) && row recipe "a plan of 1,000 points" "$(first "$t")" ms '<=200' "-"
    WORK=$work
    tap_exit() { rm -rf "$work"; }
    . "$top/tests/lib/slurm.sh"
    points=8
    list=$(seq -s, $points)
    seconds() { local begin; begin=$(date +%s%N); "$@" >>peer.log 2>&1 || echo "failed: $*" >>peer.log; calc "($(date +%s%N)-$begin)/1e9"; }
    in_job() { salloc -Q -N4 bash -c "$1" bash "${@:2}" </dev/null; }
    if slurm_start 4; then
        cat >empty.yaml <<Y
version: 1
name: empty
sweep: {grid: {n: [$list]}}
roles:
  server: {service: http}
  client: {nodes: 3, tasks: 3, command: [sh, -c, "test \$SLURM_PROCID != 0 || echo rate {n} op/s"]}
Y
        # The whole campaign less the start of its service and the measured steps; the peers less so many bare steps.
        in_job 'b=$(date +%s%N); "$1" recipe run empty.yaml >own.log 2>&1 || cat own.log >&2; echo $((($(date +%s%N)-b)/1000)) >own.us' "$BW"
        in_job 'b=$(date +%s%N); for i in $(seq '$points'); do srun -N3 -n3 sh -c true; done; echo $((($(date +%s%N)-b)/1000)) >bare.us'
        events=.benchwrap/campaigns/empty/points.jsonl
        starts=$(jq -s '[.[] | select(.event == "point") | .phases.deploy + .phases.ready] | add' "$events")
        parent=$(jq -r .parent .benchwrap/campaigns/empty/campaign.json)
        steps=$(for run in mlruns/*/*/; do [ "$(basename "$run")" = "$parent" ] || cut -d' ' -f2 "$run/metrics/run.wall_s" 2>/dev/null; done | paste -sd+ | bc)
        ours=$(calc "($(cat own.us)/1e6-$starts-$steps)/$points")
        bare=$(calc "$(cat bare.us)/1e6")
        peers="a bare srun $(calc "$bare/$points") s"
        if has jube; then
            printf 'name: empty\noutpath: jube-run\nparameterset: {name: p, parameter: {name: n, type: int, _: "%s"}}\nstep: {name: s, use: [p], do: "srun -N3 -n3 sh -c true"}\n' "$list" >jube.yaml
            export -f seconds calc
            in_job 'seconds jube run jube.yaml >jube.s'
            peers="$peers, JUBE $(calc "($(cat jube.s)-$bare)/$points") s"
        else
            peers="$peers, JUBE is not installed"
        fi
        if has ramble; then
            cat >ramble.yaml <<Y
ramble:
  variables: {mpi_command: srun -N 3 -n 3, batch_submit: '{execute_experiment}', processes_per_node: 1}
  applications:
    hostname: {workloads: {parallel: {experiments: {'test_{n}': {variables: {n: [$list], n_ranks: 3}}}}}}
  software: {packages: {}, environments: {}}
Y
            ramble workspace create -d "$PWD/ramble-run" -c ramble.yaml >>peer.log 2>&1
            export -f seconds calc
            in_job 'seconds sh -c "ramble -D $PWD/ramble-run workspace setup && ramble -D $PWD/ramble-run on && ramble -D $PWD/ramble-run workspace analyze" >ramble.s'
            peers="$peers, Ramble $(calc "($(cat ramble.s)-$bare)/$points") s"
        else
            peers="$peers, Ramble is not installed"
        fi
        grep -q '^failed' peer.log 2>/dev/null && peers="$peers; $(grep -m1 '^failed' peer.log)"
        row recipe "a campaign on 4 nodes: each point, besides service and load" "$ours" s '<=1' "$peers"
        cat >down.yaml <<'Y'
version: 1
name: down
roles:
  server: {nodes: 3, command: [sh, -c, "trap '' TERM; exec python3 -m http.server {port} --bind {host}", bench-down], ports: {http: 0}, ready: {http: /}}
  client: {command: [sleep, 60, "0.987"]}
Y
        in_job '"$1" recipe run down.yaml >down.log 2>&1 & for _ in $(seq 200); do grep -q begin .benchwrap/campaigns/down/points.jsonl 2>/dev/null && break; sleep 0.05; done
            b=$(date +%s%N); kill -TERM $!; wait $!; echo $((($(date +%s%N)-b)/1000)) >down.us; echo "$(squeue -h -s -o %j | grep -c bw-) $(pgrep -fc "[b]ench-down")" >down.left' "$BW"
        row recipe "its tear-down after SIGTERM, with a service that ignores it" "$(calc "$(cat down.us)/1e6")" s '<=5' "steps and processes left: $(cat down.left)"
        slurm_stop
    else
        missing recipe "a campaign on 4 nodes: each point, besides service and load" "$slurm_why"
    fi
    cd "$work" || exit 2
fi
