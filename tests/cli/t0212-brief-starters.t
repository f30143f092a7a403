#!/bin/bash
# A starter below the program (ssh, sbatch) is found however short it lives, and judged by its own words and variables.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
unset "${!SLURM@}" "${!DOCKER@}" "${!CONTAINER@}" 2>/dev/null
mkdir bin
PATH=$WORK/bin:$PATH
write() { cat >"$1" && chmod +x "$1"; }
outside() { echo "the program starts $1, which may run programs on another machine: the hardware and system metrics of this run are those of this one, and run.user_s, run.system_s and run.max_rss_MiB do not count them"; }
write until <<'S'
#!/bin/sh
while [ -e until ] && [ ! -e go ]; do sleep 0.1; done
S
for p in ssh podman srun; do printf '#!/bin/bash\nfor last; do :; done\n"$last"; exit $?\n' | write bin/$p; done
printf '#!/bin/bash\n./until; exit $?\n' | write bin/sbatch

# The program starts what the file `brief` holds, when the recorder watches, and has it live until the recorder has seen it: no sample is taken.
write brief.py <<'S'
import glob, os, subprocess, time
def watches():
    for f in glob.glob("/proc/[0-9]*/environ"):
        try:
            if ("WORK=" + os.environ["WORK"]).encode() in open(f, "rb").read().split(b"\0") and open(f[:-7] + "comm").read().startswith("benchwrap-"):
                if "anon_inode:inotify" in [os.readlink(d) for d in glob.glob(f[:-7] + "fd/*")]:
                    return True
        except OSError:
            pass
    return False
def until(condition):
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
until(watches)
p = subprocess.Popen(open("brief").read(), shell=True)
until(lambda: not watches() or p.poll() is not None)
open("go", "w").close()
p.wait()
S
brief()
{
    rm -f go && echo "$1" >brief
    "$BENCHWRAP" -q --sample 0 -e place -- python3 brief.py >out 2>err
    "$BENCHWRAP" show --json | jq -r '[.warnings[] | .text? // . | select(test("run.user_s"))] | join("+")'
}
is "ssh" "$(brief 'exec ssh n1 ./until')" "$(outside ssh)"
is "... in a process below the first one" "$(brief '(perl -e "exec qw(ssh n1 ./until)"); true')" "$(outside ssh)"
is "a job that is submitted" "$(brief 'exec sbatch job.sh')" "$(outside sbatch)"
is "srun outside of a job" "$(brief 'exec srun -n 1 ./until')" "$(outside srun)"
is "podman, whose program a service starts, by its own variables" "$(brief 'CONTAINER_HOST=tcp://n1:2375 exec podman run image ./until')" "$(outside podman)"
is "one that only prints its version" "$(brief 'ssh --version')" ""
if [ -x /usr/bin/ssh ]; then
    ln -s /usr/bin/ssh far
    is "a link of another name" "$(PATH=/usr/bin:$PATH brief 'exec ./far -F /dev/null -o ProxyCommand="exec ./until" n1 true')" "$(outside ssh)"
else
    skip "a link of another name" "no ssh"
fi

# A word that a program of text gets starts nothing.
echo srun -n 1 true >job.txt
"$BENCHWRAP" -q -e place -- grep -c srun job.txt >out
is "grep srun FILE: the machine is recorded" "$("$BENCHWRAP" show --json | jq -r '.params["kernel.release"]')" "$(uname -r)"
done_testing
