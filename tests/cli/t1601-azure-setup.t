#!/bin/bash
# exporter azure-setup: scripts, template and queries agree with each other, run, and take the variables of an existing set-up.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
mkdir -p "$WORK/bin" "$WORK/d" && cd "$WORK/d" || exit 1
setup() { "$BENCHWRAP" exporter azure-setup "$@"; }
unset RESOURCE_GROUP WORKSPACE_NAME REGION SUBSCRIPTION_ID PRINCIPAL_ID VM_ID VMSS_ID
# An az that notes its arguments, keeps each rule's file, and prints an id where one is asked for.
cat >"$WORK/bin/az" <<'A'
#!/bin/bash
echo "az $*" >>az.log
all="$* "
name=${all#*--name }; name=${name%% *} file=${all#*--rule-file }; file=${file%% *}
case "$*" in *--rule-file*) cp "$file" "rule-$name.json" ;; esac
case "$*" in
    *"account show"*) echo sub-of-account ;;
    *"workspace show"*"--query id"*) echo /subscriptions/s/workspace ;;
    *"--query id"*) echo "/subscriptions/s/$name" ;;
    *customerId*) echo 11111111-2222-3333-4444-555555555555 ;;
    *logsIngestion.endpoint*) echo https://benchwrap-x1y2.westeurope-1.ingest.monitor.azure.com ;;
    *immutableId*) echo "dcr-$name" ;;
esac
A
chmod +x "$WORK/bin/az"; PATH=$WORK/bin:$PATH

setup az >az.sh; setup agent >agent.sh; setup bicep >b.bicep; setup kql >q.kql
sh az.sh >az.out; is "the script runs" $? 0
is "it makes the tables of runs and of Slurm's metrics, ten raw tables and six of parsed lines" "$(grep -c 'table create' az.log) $(grep -c '[a-z]_raw_CL --columns TimeGenerated=datetime RawData=string Computer=string FilePath=string ' az.log) $(grep -o 'name [a-z]*_CL --columns TimeGenerated=datetime [LPM]' az.log | wc -l)" "18 10 6"
is "names of the existing set-up" "$(grep -o 'table create.*--name [a-z]*_raw_CL' az.log | sed 's/.*--name //' | sort | paste -sd' ')" "dmesg_raw_CL healthagent_raw_CL jetpack_raw_CL jetpackd_raw_CL slurmctld_raw_CL slurmd_raw_CL slurmdb_raw_CL slurmjobs_raw_CL slurmrestd_raw_CL syslog_raw_CL"
is "rules are JSON, have at most ten flows, and each flow its declared stream" "$(for f in rule-benchwrap.json rule-benchwrap-raw.json; do jq -c '[.location, (.properties.dataFlows | length <= 10), ([.properties.dataFlows[].streams[0]] | sort) == (.properties.streamDeclarations | keys), .properties.dataCollectionEndpointId, .properties.destinations.logAnalytics[0].workspaceResourceId]' $f; done | sort -u)" '["westeurope",true,true,"/subscriptions/s/benchwrap","/subscriptions/s/workspace"]'
is "columns of a stream and its table are equal" "$(jq -r '.properties as $p | $p.dataFlows[] | .outputStream[7:] + " " + ([$p.streamDeclarations[.streams[0]].columns[] | .name + "=" + .type] | join(" "))' rule-*.json | sort)" "$(sed -n 's/.*table create.*--name \([A-Za-z_]*\) --columns \(.*\) -o none.*/\1 \2/p' az.log | sed 's/ --subscription.*//' | sort)"
is "without PRINCIPAL_ID no role is given" "$(grep -c 'role assignment' az.log)" 0
mkdir -p "$HOME/.config/benchwrap"; sed -n '/^exporters:/,$p' az.out >"$HOME/.config/benchwrap/config.yaml"
is "the printed keys are a configuration" "$(cd "$WORK/d" && "$BENCHWRAP" exporter list --json 2>&1 | jq -r '.[] | .name + " " + .type') $(echo '{}' | MY=1 timeout -s INT 2 "$BENCHWRAP" exporter send azure --lines - --stream Custom-Text-syslog_raw_CL 2>&1 | grep -c 'no access token')" "azure azure 1"

# ---- the template ----
is "the template has the same tables, streams and columns" "$(grep -o "^  name: '[A-Za-z_]*_CL'" b.bicep | grep -o "[A-Za-z_]*_CL" | sort) $(grep -c "^          { name: '" b.bicep)" "$(sed -n 's/.*table create.*--name \([A-Za-z_]*\) .*/\1/p' az.log | sort) $(jq '[.properties.streamDeclarations[].columns[]] | length' rule-*.json | paste -sd+ | sed 's/$/\n/' | python3 -c 'print(eval(input()))')"
is "its outputs are the exporter's keys" "$(grep -o '^output [a-zA-Z]*' b.bicep | paste -sd' ')" "output endpoint output rule output rawRule output workspace"
is "brackets are balanced" "$(tr -cd '{' <b.bicep | wc -c) $(tr -cd '[' <b.bicep | wc -c)" "$(tr -cd '}' <b.bicep | wc -c) $(tr -cd ']' <b.bicep | wc -c)"

# ---- variables ----
export RESOURCE_GROUP=hpc-rg WORKSPACE_NAME=hpc-logs REGION=uksouth SUBSCRIPTION_ID=sub-1 PRINCIPAL_ID=pr-1 VM_ID=/subscriptions/sub-1/vm/scheduler VMSS_ID=/subscriptions/sub-1/vmss/nodes
rm az.log; setup az >az2.sh; (unset RESOURCE_GROUP WORKSPACE_NAME REGION SUBSCRIPTION_ID PRINCIPAL_ID; sh az2.sh >az.out)
is "existing variables are in the script" "$(grep -v 'group create\|role' az.log | grep -v -c -- '--subscription sub-1 --resource-group hpc-rg') $(grep -c -- '--workspace-name hpc-logs' az.log) $(grep -c -- '--location uksouth' az.log)" "0 21 5"
is "the identity may publish by both rules" "$(grep -c "role assignment create --subscription sub-1 --assignee-object-id pr-1 --assignee-principal-type ServicePrincipal --role Monitoring Metrics Publisher --scope /subscriptions/s/benchwrap" az.log)" 2
is "... and are read when it runs" "$(rm az.log; REGION=eastus RESOURCE_GROUP=other sh az.sh >/dev/null; grep -c -- '--location eastus' az.log) $(grep -c 'resource-group other' az.log | awk '{ print ($1 > 20) }')" "5 1"
rm az.log; sh agent.sh >agent.out
is "agent: a rule for each log, bound to the scheduler and the nodes" "$(grep -c 'rule create --name [a-z]*_raw_dcr' az.log) $(grep -c 'association create .*vm/scheduler' az.log) $(grep -c 'association create .*vmss/nodes' az.log)" "10 8 5"
is "... with the files of the log, as text" "$(jq -c '.kind, (.properties.dataSources.logFiles[0] | .filePatterns, .format)' rule-slurmjobs_raw_dcr.json | paste -sd' ')" '"Linux" ["/shared/slurm-logs/*/*"] "text"'
is "... what is not bound is reported, with status 1" "$(VM_ID='' VMSS_ID='' sh agent.sh | tail -n 1 | cut -c 1-31; VMSS_ID='' sh agent.sh >/dev/null 2>&1; echo $?)" "$(printf 'not bound everywhere: slurmctld\n1')"
is "a variable with a shell's character is refused" "$(RESOURCE_GROUP='a;b' setup 2>&1 | grep -c 'RESOURCE_GROUP: expected letters') $(RESOURCE_GROUP='a$(x)' setup bicep 2>&1 | grep -c expected)" "1 1"
like "another form is refused" "$(setup terraform 2>&1)" 'azure-setup: expected az, bicep, agent or kql, got "terraform"'
if command -v shellcheck >/dev/null 2>&1; then
    ok "shellcheck finds nothing in the scripts" shellcheck az.sh agent.sh
fi

# ---- queries ----
is "each table of a query exists" "$(grep -o '[A-Za-z_]*_CL' q.kql | sort -u | while read -r t; do grep -q "^table $t " az.sh || echo "$t"; done)" ""
cat >lines.py <<'P'
import re, sys
text = open("q.kql").read()
slurm = text[text.index("// Lines of slurmctld"):text.index("// Lines of syslog")]
rx = lambda pattern: re.compile(pattern)
stamp = re.search(r'Rest = replace_regex\(RawData, @"(.*?)", ""\)', slurm).group(1)
level, component = re.search(r'Level = extract\(@"(.*?)", 1', slurm).group(1), re.search(r'Component = extract\(@"(.*?)", 1', slurm).group(1)
level_cut, component_cut = re.search(r'Rest = replace_regex\(Rest, @"(.*?)"', slurm).group(1), re.search(r'Message = replace_regex\(Rest, @"(.*?)"', slurm).group(1)
first = lambda pattern, s: (re.search(pattern, s) or [None, ""])[1]
for line in ["[2025-09-08T21:11:35.869] debug:  sched/backfill: _attempt_backfill: no jobs to backfill", "[2025-09-08T21:11:35.869] error: Node n1 down", "[2025-09-08T21:11:35.869] sched: Allocate JobId=7",
             "[2025-09-08T21:11:35.869] _slurm_rpc_submit_batch_job: JobId=7"]:
    rest = re.sub(stamp, "", line)
    l = first(level, rest)
    rest = re.sub(level_cut, "", rest)
    print("|".join([l, first(component, rest), re.sub(component_cut, "", rest)]))
syslog = re.search(r'extract_all\(@"(.*?)", RawData\)', text).group(1)
for line in ["Sep  8 21:11:35 n1 sshd[12]: closed", "<13>2025-09-08T21:11:35.869123+00:00 n1 kernel: up: now"]:
    print("|".join(x or "" for x in re.findall(syslog, line)[0]))
P
is "the expressions of the queries find the parts of lines" "$(python3 lines.py)" "debug|sched/backfill|_attempt_backfill: no jobs to backfill
error||Node n1 down
|sched|Allocate JobId=7
||_slurm_rpc_submit_batch_job: JobId=7
Sep  8 21:11:35|n1|sshd|12|closed
2025-09-08T21:11:35.869123+00:00|n1|kernel||up: now"
done_testing
