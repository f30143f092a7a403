"""Compares `benchwrap ls --all --filter` with MlflowClient.search_runs: filters.py BENCHWRAP FOLDER SEED COUNT [sqlite].

Writes a tree of runs with awkward keys and values to FOLDER/mlruns, generates COUNT filters from it, correct ones and broken ones, and prints
"ok NAME" or "not ok NAME: why" a check. For each filter both must choose the same runs, or both refuse it. A few forms that MLflow silently
ignores benchwrap refuses; its message has to name one of them. With "sqlite" the tree is also migrated to a database by MLflow, whose
client has to choose the same runs; the filters for which MLflow's two stores disagree with each other are counted by their reason."""
import json
import logging
import os
import random
import re
import subprocess
import sys

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
os.environ["MLFLOW_TRACKING_URI"] = ""
logging.disable(logging.WARNING)

START = 1767225600000
METRICS = ["bw", "write.bw_MiB_per_s", "a b", "lat.p99", "system/cpu", "a/b.c d", "größe", "99th", "_x", "select", "in", "Bw", "x-y", "deep/er/still", "日本"]
PARAMS = ["fs.type", "nodes", "a b", "x/y", "Größe", "case", "type", "1st", "empty", "from.to", "n-1", "q:r", "_p"]
TAGS = ["site", "mlflow.note.content", "team x", "a/b", "ω", "values", "note"]
# NaN and infinities of both signs, several steps, equal steps and times: MLflow shows the greatest (step, time, value).
SERIES = [["1"], ["0"], ["-5.5"], ["1e3"], ["nan"], ["inf"], ["-inf"], ["NaN"], ["1000", "2000", "1500"], ["3", "nan"], ["nan", "3"], ["0.1"], ["1.7976931348623157e308"],
          ["1e-300"], ["12345678901234567890"]]
TEXTS = ["", "lustre", "Lustre", "LUSTRE", "10", "9", "a_b", "a%b", "a b", " a", "x\n", "x\ny", "straße", "STRASSE", "ÄÖ", "äö", "日本", "it's", 'say "x"', "back\\slash", "a.b*c[d]",
         "ſ", "K", "ı", "İ", "😀", "%", "_", "-", "a" * 300, "<b>&amp;", "=1+1", "s", "k", "i", "σς"]


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def quote(text):
    return json.dumps(text, ensure_ascii=False)


def series(rnd):
    values, lines = rnd.choice(SERIES), []
    for i, v in enumerate(values):
        lines.append((START + rnd.choice([i, 0, -i]), v, rnd.choice([0, i, -i, 5])))
    rnd.shuffle(lines)
    return "".join("%d %s %d\n" % line for line in lines)


def write_run(rnd, folder, experiment, number):
    run = "%032x" % rnd.getrandbits(128)
    at = os.path.join(folder, experiment, run)
    names = {"name": rnd.choice(["fio", "Fio 2", "", "größe", "a'b", "x" * 40])}
    start = START + rnd.choice([0, 1, 1000, number * 1000, 10 ** 12])
    end = rnd.choice(["null", str(start + 5)])
    put(at + "/meta.yaml", "artifact_uri: %s\nend_time: %s\nexperiment_id: %s\nlifecycle_stage: %s\nrun_id: %s\nrun_name: %s\nstart_time: %d\nstatus: %d\nuser_id: %s\n" % (
        quote("mlruns/%s/%s/artifacts" % (experiment, run)), end, quote(experiment), "deleted" if number == 3 else "active", quote(run), quote(names["name"]), start,
        rnd.choice([1, 2, 3, 3, 4, 5]), quote(rnd.choice(["", "ann", "bob"]))))
    put(at + "/artifacts/x", "x")
    put(at + "/metrics/always", "1 1 0\n")
    put(at + "/params/always", "yes")
    for keys, kind in ((METRICS, "metrics"), (PARAMS, "params"), (TAGS, "tags")):
        for key in keys:
            if rnd.random() < 0.6:
                put("%s/%s/%s" % (at, kind, key), series(rnd) if kind == "metrics" else rnd.choice(TEXTS))
    if not names["name"] and rnd.random() < 0.5:
        put(at + "/tags/mlflow.runName", "from the tag")
    if rnd.random() < 0.4:
        put(at + "/inputs/i1/meta.yaml", "destination_id: %s\ndestination_type: RUN\nsource_id: d%d\nsource_type: DATASET\ntags:\n  mlflow.data.context: %s\n" % (
            run, rnd.choice([1, 2, 9]), rnd.choice(["training", "eval"])))
    return run


def write_tree(rnd, folder, runs):
    ids = []
    for experiment in ("1", "222"):
        put("%s/%s/meta.yaml" % (folder, experiment), 'artifact_location: "mlruns/%s"\ncreation_time: 1\nexperiment_id: "%s"\nlast_update_time: 1\nlifecycle_stage: active\nname: "e%s"\n' % (
            experiment, experiment, experiment))
        for d, name in (("d1", "prompts"), ("d2", "Größe x")):
            put("%s/%s/datasets/%s/meta.yaml" % (folder, experiment, d), "digest: %s\nname: %s\nprofile: null\nschema: null\nsource: x\nsource_type: code\n" % (d + "ab", quote(name)))
        ids += [write_run(rnd, folder, experiment, i) for i in range(runs)]
    return ids


PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$")


class Generator:
    """Filters of the grammar, and of its neighbourhood."""

    def __init__(self, rnd, ids):
        self.rnd, self.ids = rnd, ids

    def of(self, *words):
        return self.rnd.choice(words)

    def key(self, keys, words):
        key = self.rnd.choice(keys + ["missing", "no such"])
        form = self.rnd.random()
        if PLAIN.match(key) and form < 0.6 or form < 0.1:
            return "%s.%s" % (self.of(*words), key)
        return "%s.%s" % (self.of(*words), self.of("`%s`", "`%s`", '"%s"', "'%s'") % key)

    def text(self):
        text = self.rnd.choice(TEXTS)
        if self.rnd.random() < 0.3 and text:
            at = self.rnd.randrange(len(text))
            text = text[:at] + self.of("%", "_", "%%") + text[at + self.of(0, 1):]
        if self.rnd.random() < 0.1:
            text = text.swapcase()
        mark = self.of("'", '"')
        return mark + text + mark

    def number(self):
        return self.of("0", "1", "-5.5", "1000", "1e3", "1E3", ".5", "5.", "-.5", "1.5e-3", "2000", "1000.0", "12345678901234567890", "1e999", *(("1e+3", "0x10", "+1", "nan", "'1'", "1_0", "- 1") if self.rnd.random() < 0.1 else ("7",)))

    def blank(self):
        return self.of(" ", " ", " ", "", "  ", "\n", "\t")

    def comparison(self):
        kind = self.rnd.random()
        op = self.of("=", "!=", "<", "<=", ">", ">=") if self.rnd.random() < 0.98 else self.of("==", "<>", "=>", "LIKE", "~")
        like = self.of("=", "!=", "LIKE", "ILIKE", "like", "iLike") if self.rnd.random() < 0.97 else self.of(">", "RLIKE", "NOT LIKE", "IN", "==")
        pad = " " if like[0].isalpha() else self.blank()
        if kind < 0.3:
            return self.key(METRICS, ("metrics", "metric")) + self.blank() + op + self.blank() + self.number()
        if kind < 0.5:
            return self.key(PARAMS, ("params", "param", "parameters", "parameter")) + pad + like + self.blank() + self.text()
        if kind < 0.65:
            return self.key(TAGS, ("tags", "tag")) + pad + like + self.blank() + self.text()
        if kind < 0.73:
            return self.key(self.of(PARAMS, TAGS, METRICS), ("params", "tags", "params", "metrics")) + " " + self.of("IS NULL", "IS NOT NULL", "is null", "IS  NULL", "is not null", "IS NOT  NULL")
        prefix = self.of("", "", "attributes.", "attribute.", "attr.", "run.")
        if kind < 0.81:
            return prefix + self.of("start_time", "end_time", "created", "Created") + self.blank() + op + self.blank() + self.of(str(START), str(START + 1000), "1767225600000.5", "0", "1e12", "-1", "'1'")
        if kind < 0.93:
            name = self.of("status", "run_name", "user_id", "artifact_uri", "run_id", "`run name`", '"Run name"', "`Run Name`", *(("lifecycle_stage", "Status", "experiment_id") if self.rnd.random() < 0.1 else ()))
            value = self.of("'FINISHED'", "'failed'", "'%'", "''", "'fio'", "'from the tag'", "'ann'", "'%s'" % self.rnd.choice(self.ids), "'SCHEDULED'", "'F%'", self.text())
            return prefix + name + pad + like + self.blank() + value
        if kind < 0.97:
            ids = ", ".join(self.of("'%s'", '"%s"') % self.rnd.choice(self.ids + ["x"]) for _ in range(self.of(1, 2, 5)))
            return self.of("run_id", "run_id", "attributes.run_id", "status", "params.nodes") + " " + self.of("IN", "NOT IN", "in", "not in") + self.of(" ", "") + "(" + ids + self.of("", "", ",") + ")"
        value = self.of("'prompts'", "'Größe x'", "'training'", "'eval'", "'d1ab'", "'%r%'")
        return self.of("dataset", "datasets") + "." + self.of("name", "digest", "context", "profile") + " " + self.of(like + " " + value, "IN (%s)" % value, "NOT IN (%s, 'x')" % value)

    def filter(self):
        text = self.of(" AND ", " and ", "\nAND ", " And ").join(self.comparison() for _ in range(self.of(1, 1, 2, 2, 3, 5)))
        if self.rnd.random() < 0.15:
            text = self.broken(text)
        return self.of("", "", " ") + text + self.of("", "", " ")

    def broken(self, text):
        at = self.rnd.randrange(len(text) + 1)
        what = self.rnd.random()
        if what < 0.3:
            return text[:at] + text[at + self.of(1, 1, 3):]
        if what < 0.8:
            return text[:at] + self.of("'", '"', "`", "(", ")", " ", ".", ",", ";", "--", "/*", " OR ", " AND ", "\\", "$", "#", "[", "NOT ", "é", "日", "0", "-", "\u00a0") + text[at:]
        return self.of("(%s)", "%s AND", "AND %s", "NOT %s", "%s;", "%s -- x", "%s %s", "") .replace("%s", text)


# What MLflow accepts and ignores, or reads as something that nobody means.
STRICTER = re.compile("expected AND or the end|expected metrics.KEY, params.KEY, tags.KEY or an attribute|expected a key behind the dot|a list has no texts with|expected a text in quotes"
                      "|expected a comparison|expected \",\" or|the quote . is never closed")


def mine(benchwrap, folder, text):
    got = subprocess.run([benchwrap, "ls", "--tree", folder, "--all", "--json", "--filter", text], capture_output=True, text=True)
    if got.returncode == 125:
        return None, got.stderr
    if got.returncode or got.stderr.strip() and not got.stderr.startswith("benchwrap: ls: no run"):
        return "exit status %d" % got.returncode, got.stderr
    return sorted(run["id"] for run in json.loads(got.stdout)), got.stderr


def theirs(client, search, text):
    """A comparison that MLflow does not know it refuses only when a run comes to it; here it is refused in any case."""
    try:
        for c in search.parse_search_filter(text):
            op = c["comparator"].upper()
            if not (search.is_metric(c["type"], op) or search.is_param(c["type"], op) or search.is_tag(c["type"], op) or search.is_attribute(c["type"], c["key"], op)):
                search.is_dataset(c["type"], op)
        return sorted(run.info.run_id for run in client.search_runs(["1", "222"], filter_string=text, max_results=50000))
    except Exception:  # of MLflow, sqlparse, re or ast: the filter is refused
        return None


def migrate(folder, ids):
    """MLflow's SQLite store of the tree: the client, or the reason why there is none."""
    from mlflow import MlflowClient
    uri = "sqlite:///%s/mlflow.db" % folder
    done = subprocess.run([sys.executable, "-m", "mlflow", "migrate-filestore", "--source", folder + "/mlruns", "--target", uri], capture_output=True, text=True)
    if done.returncode:
        return None, done.stdout + done.stderr
    client = MlflowClient(uri)
    found = sorted(run.info.run_id for run in client.search_runs(["1", "222"], run_view_type=3, max_results=50000))
    return client, None if found == sorted(ids) else "%d of %d runs were migrated" % (len(found), len(ids))


# Where MLflow's two stores choose different runs. The database keeps no NaN and no infinity, and compares user_id, run_name, times and keys in its own way.
DISAGREE = [
    ("a fact of the run itself, which the database stores otherwise", re.compile(r"(?i)\b(run.?name|user_id|start_time|end_time|created|artifact_uri|status|lifecycle_stage|experiment_id)\b")),
    ("a metric that is NaN or infinite in the tree", re.compile(r"(?i)metrics?\.")),
    ("upper and lower case by SQL's rules", re.compile(r"(?i)\bi?like\b")),
    ("datasets", re.compile(r"datasets?\.")),
]


def reason(text):
    return next((name for name, pattern in DISAGREE if pattern.search(text)), "another reason")


def main():
    benchwrap, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    from mlflow import MlflowClient
    from mlflow.utils.search_utils import SearchUtils
    rnd = random.Random(seed)
    ids = write_tree(rnd, folder + "/mlruns", 25)
    client = MlflowClient(folder + "/mlruns")
    generator = Generator(rnd, ids)
    accepted = some = refused = stricter = bad = 0
    database, equal, disagree = None, 0, {}
    if sys.argv[5:] == ["sqlite"]:
        database, problem = migrate(folder, ids)
        print("%s MLflow migrates every run to SQLite%s" % ("not ok" if problem else "ok", ": " + problem if problem else ""))
    for _ in range(count):
        text = generator.filter()
        if "\0" in text:
            continue
        ours, message = mine(benchwrap, folder + "/mlruns", text)
        expected = theirs(client, SearchUtils, text)
        if database and ours is not None:
            stored = theirs(database, SearchUtils, text)
            if stored == ours:
                equal += 1
            elif expected != stored:
                disagree.setdefault(reason(text), []).append(text)
            else:
                bad += 1
                print("not ok %r: the database's client chooses other runs" % text)
        if ours == expected:
            accepted += ours is not None
            refused += ours is None
            some += bool(ours)
        elif ours is None and STRICTER.search(message):
            stricter += 1
        else:
            bad += 1
            print("not ok %r: MLflow %s, benchwrap %s %s" % (text, "refuses" if expected is None else len(expected), "refuses" if ours is None else ours if isinstance(ours, str) else len(ours), message.strip()))
    print("ok %d filters choose the same runs, %d of them some, %d are refused by both, %d by benchwrap alone" % (accepted, some, refused, stricter) if not bad else "not ok: %d filters differ" % bad)
    if database:
        for name, texts in sorted(disagree.items()):
            print("# MLflow's stores disagree, %s: %d filters, such as %r" % (name, len(texts), texts[0]))
        wrong = sum(map(len, disagree.values()))
        print("%s SQLite: %d filters choose the same runs, for %d MLflow's own two stores disagree" % ("ok" if equal >= 4 * wrong else "not ok", equal, wrong))
    print("%s filters of every outcome: at least half of the filters are accepted, and at most a tenth refused by benchwrap alone" % ("ok" if accepted * 2 >= count and stricter * 10 <= count else "not ok"))


main()
