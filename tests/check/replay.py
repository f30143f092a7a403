"""replay.py BENCHWRAP EACH SAMPLE…: records each EACH-th sample of the catalogue in the working directory as a run of its own: a program with the sample's name and
arguments prints the sample's output, writes its files and ends with its status. Prints the number of runs."""
import os, shlex, subprocess, sys

benchwrap, each, samples = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
here = os.getcwd()
bin_ = os.path.join(here, ".replay")
os.makedirs(bin_, exist_ok=True)
n = 0


def words(sample):
    try:
        with open(os.path.join(sample, "argv"), encoding="utf-8", errors="surrogateescape") as f:
            return f.read().split("\n")[:-1]
    except FileNotFoundError:
        return [sample.split("/")[-3]]


for i, sample in enumerate(sorted(samples)):
    if i % each:
        continue
    sample = sample.rstrip("/")
    if not os.path.exists(sample + "/stdout"):
        continue
    argv = words(sample)
    name = os.path.basename(argv[0])
    if not name or "{" in name:
        continue
    script = ["#!/bin/sh", "cat %s" % shlex.quote(sample + "/stdout")]
    if os.path.exists(sample + "/stderr"):
        script.append("cat %s >&2" % shlex.quote(sample + "/stderr"))
    if os.path.exists(sample + "/file"):
        for line in open(sample + "/file"):
            pattern, _, file = line.strip().partition("=")
            if "{" not in pattern and "*" not in pattern and "/" not in pattern:
                script.append("cp %s %s" % (shlex.quote(sample + "/" + file), shlex.quote(pattern)))
    status = open(sample + "/status").read().strip() if os.path.exists(sample + "/status") else "0"
    script.append("exit %s" % (status if status.isdigit() and int(status) < 126 else "0"))
    with open(os.path.join(bin_, name), "w") as f:
        f.write("\n".join(script) + "\n")
    os.chmod(os.path.join(bin_, name), 0o755)
    env = dict(os.environ, PATH=bin_ + ":" + os.environ["PATH"])
    subprocess.run([benchwrap, "-q", "--no-collect", "-t", "mlruns", "--", name, *argv[1:]], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for file in os.listdir(here):
        if os.path.isfile(file) and file != "benchwrap.yaml":
            os.remove(file)
    n += 1
print(n)
