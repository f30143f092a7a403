#!/usr/bin/env python3
"""Make runs of a history from one recorded run: copies with other times, values and facts.

As a program: make_history.py RUN-DIR < lines, each a JSON object: {"metrics": {key: value}, "params": {key: value}, "tags": {...}, "argv": [...],
"start_ms": N, "status": "FINISHED", "id": "..."}; all members are optional. A metric's value may be a list of samples. Prints one id a line.
The run itself is removed at the end with --remove. --light: only the files that benchwrap reads."""
import hashlib, json, os, shutil, sys


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


class Maker:
    def __init__(self, run, light=False):
        self.run, self.light, self.n = run.rstrip("/"), light, 0
        self.base, self.old = os.path.split(self.run)
        self.meta = open(self.run + "/meta.yaml").read()
        self.detail = json.load(open(self.run + "/artifacts/benchwrap.json"))
        self.start = self.detail["run"]["start_ms"]
        self.files = []
        for top in ("params", "tags"):
            for at, _, names in os.walk(f"{self.run}/{top}"):
                self.files += [os.path.relpath(f"{at}/{n}", self.run) for n in names]
        self.files += ["artifacts/rules.yaml"] if os.path.exists(self.run + "/artifacts/rules.yaml") else []
        self.own = {k for k, m in self.detail["metrics"].items() if k.split(".")[0] in ("run",)}

    def make(self, spec):
        self.n += 1
        id = spec.get("id") or hashlib.md5(f"{self.old} {self.n}".encode()).hexdigest()[:12] + "4" + hashlib.md5(f"x{self.n}".encode()).hexdigest()[:19]
        to = f"{self.base}/{id}"
        start = spec.get("start_ms", self.start - 86400000 * 400 + self.n * 3600000)
        status = spec.get("status", "FINISHED")
        number = {"RUNNING": 1, "FINISHED": 3, "FAILED": 4, "KILLED": 5}[status]
        meta = []
        for line in self.meta.replace(self.old, id).splitlines():
            key = line.split(":")[0]
            meta.append(f"start_time: {start}" if key == "start_time" else f"end_time: {start + 1000}" if key == "end_time" else
                        f"status: {number}" if key == "status" else line)
        write(to + "/meta.yaml", "\n".join(meta) + "\n")
        d = json.loads(json.dumps(self.detail))
        d["run"].update(id=id, start_ms=start, end_ms=start + 1000, status=status)
        if "argv" in spec:
            d["run"]["argv"] = spec["argv"]
        d["metrics"] = {k: m for k, m in d["metrics"].items() if k in self.own or self.light is False}
        changed = {}
        for kind in ("params", "tags"):
            for k, v in spec.get(kind, {}).items():
                changed[f"{kind}/{k}"] = v
                if v is None:
                    d[kind].pop(k, None)
                else:
                    old = d[kind].get(k, {})
                    d[kind][k] = dict(old, value=v, source=spec.get("sources", {}).get(k, old.get("source", "option" if kind == "params" else "recorder")))
        for f in self.files:
            if changed.get(f, "") is None or f in changed:
                continue
            os.makedirs(os.path.dirname(f"{to}/{f}"), exist_ok=True)
            try:
                os.link(f"{self.run}/{f}", f"{to}/{f}")
            except OSError:
                shutil.copy(f"{self.run}/{f}", f"{to}/{f}")
        for f, v in changed.items():
            if v is not None:
                write(f"{to}/{f}", v)
        for k, v in spec.get("metrics", {}).items():
            old = dict(d["metrics"].get(k, {"unit": "", "direction": "", "source": "rule:demo"}))
            old.update(spec.get("details", {}).get(k, {}))
            samples = v if isinstance(v, list) else [v]
            value = samples[-1]
            d["metrics"][k] = dict(old, value="nan" if value != value else value, samples=len(samples))
        for k, m in d["metrics"].items():
            v = spec.get("metrics", {}).get(k, m["value"])
            samples = v if isinstance(v, list) else [v]
            write(f"{to}/metrics/{k}", "".join(f"{start + i} {x!r} {i}\n" for i, x in enumerate(samples)))
        write(to + "/artifacts/benchwrap.json", json.dumps(d, indent=1))
        return id


if __name__ == "__main__":
    flags = {a for a in sys.argv[1:] if a.startswith("--")}
    run = [a for a in sys.argv[1:] if not a.startswith("--")][0]
    maker = Maker(run, "--light" in flags)
    for line in sys.stdin:
        print(maker.make(json.loads(line)))
    if "--remove" in flags:
        shutil.rmtree(run)
