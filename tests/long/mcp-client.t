#!/bin/bash
# The official MCP client of Python, newest protocol and handshake: every tool, limits, 10,000 runs within 0.2 s, and real Slurm where it is installed.
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/venv.sh"
. "$TESTLIB/slurm.sh"
cd "$WORK" || exit
python=$(venv_python mcp-2.3.0 280 mcp==2.3.0) || { skip "the official client of MCP" "$python"; done_testing; exit; }
"$BENCHWRAP" -q -e e -n one -- sh -c 'echo bandwidth: 10.5 MB/s' >/dev/null
"$BENCHWRAP" -q -e e -n two -- sh -c 'echo bandwidth: 20.5 MB/s' >/dev/null
cat >client.py <<'END2'
import sys, json, time, anyio
from mcp import Client, StdioServerParameters, stdio_client
async def main(binary, mode):
    server = StdioServerParameters(command=binary, args=["mcp", "--allow-run"])
    async with Client(stdio_client(server), mode=mode) as c:
        tools = {t.name: t for t in (await c.list_tools()).tools}
        async def call(tool, **arguments):
            r = await c.call_tool(tool, arguments)
            text = r.content[0].text
            try:
                return r.is_error, json.loads(text)
            except ValueError:
                return r.is_error, text
        assert c.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25"), c.protocol_version
        assert c.server_info.name == "benchwrap" and tools["run"].annotations.read_only_hint is False
        bad, d = await call("list"); assert not bad and [r["name"] for r in d["data"]] == ["two", "one"], d
        bad, d = await call("query", filter="metrics.bandwidth_MB_per_s > 15", columns=["run_name"]); assert d["data"] == [{"run_name": "two"}], d
        bad, d = await call("show", run="last"); assert d["data"]["name"] == "two", d
        bad, d = await call("compare", base=["last~1"], other=["last"]); assert bad and "refused" in d["error"], d
        bad, d = await call("compare", base=["last~1"], other=["last"], may_differ=["argument.*"]); assert not bad and d["data"]["keys"]["left_out"], d
        bad, d = await call("compare_history"); assert not bad, d
        bad, d = await call("logs", run="last"); assert "bandwidth: 20.5 MB/s" in [l["text"] for l in d["data"]], d
        bad, d = await call("plan", command=["ior"]); assert d["data"]["rules"] == "shipped:ior", d
        bad, d = await call("show", run="/etc/passwd"); assert bad and "expected" in d, d
        bad, d = await call("run", command=["sh", "-c", "echo bandwidth: 5 MB/s"], experiment="agent"); assert not bad and d["data"]["status"] == "FINISHED", d
        try:
            with anyio.fail_after(2):
                await call("run", command=["sleep", "100"], experiment="cancelled")
            assert False
        except TimeoutError:
            pass
        bad, d = await call("list", experiment="cancelled"); assert d["data"][0]["status"] == "KILLED", d
anyio.run(main, sys.argv[1], sys.argv[2])
END2
for mode in auto legacy; do
    ok "the client with $mode: every tool" timeout 120 "$python" client.py "$BENCHWRAP" $mode
    rm -rf mlruns/*/*/; rm -rf mlruns .benchwrap
    "$BENCHWRAP" -q -e e -n one -- sh -c 'echo bandwidth: 10.5 MB/s' >/dev/null; "$BENCHWRAP" -q -e e -n two -- sh -c 'echo bandwidth: 20.5 MB/s' >/dev/null
done
sed -n '/^```python/,/^```/p' "$ROOT/docs/howto-agents.md" | grep -v '^```' >howto.py
is "the howto's program prints the runs" "$(PATH=$(dirname "$BENCHWRAP"):$PATH timeout 60 "$python" howto.py | jq -c '.data | map(.name)')" '["two","one"]'
sed -n '/^```json/,/^```/p' "$ROOT/docs/howto-agents.md" | grep -v '^```' >howto.json
mapfile -t line < <(jq -r '.mcpServers.benchwrap | .command, .args[]' howto.json)
is "the howto's configuration starts the server" "$(echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | PATH=$(dirname "$BENCHWRAP"):$PATH "${line[@]/\/home\/jo\/results/$WORK}" | jq -c .result)" '{}'
if slurm_start 2; then
    cat >slurm.py <<'END2'
import sys, json, anyio
from mcp import Client, StdioServerParameters, stdio_client
async def main(binary, job):
    async with Client(stdio_client(StdioServerParameters(command=binary, args=["mcp"], env=dict(__import__("os").environ)))) as c:
        async def call(tool, **arguments):
            r = await c.call_tool(tool, arguments)
            return r.is_error, r.content[0].text
        bad, d = await call("cluster_nodes"); assert not bad, d
        nodes = json.loads(d)["data"]; assert len(nodes) >= 2 and all(n["state"] for n in nodes), d
        bad, d = await call("cluster_queue"); assert not bad, d
        bad, d = await call("cluster_job", job=job); assert not bad, d
        found = json.loads(d)["data"]; assert any("JobId=" + job in l for l in found["scontrol"]), d
        assert len(found["runs"]) == 1 and found["sacct"] is None or found["sacct"], d
        bad, d = await call("cluster_log", daemon="slurmctld", lines=20); assert not bad and len(json.loads(d)["data"]) > 0, d
anyio.run(main, sys.argv[1], sys.argv[2])
END2
    rm -rf mlruns; job=$(sbatch --parsable -o job.out --wrap "$BENCHWRAP -q -e job -- hostname"); wait_until 'ls mlruns/*/*/meta.yaml'
    ok "real Slurm: nodes, queue, a job with its run, the controller's log" timeout 60 "$python" slurm.py "$BENCHWRAP" "$job"
else
    skip "MCP and real Slurm" "$slurm_why"
fi
done_testing
