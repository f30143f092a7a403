"""forge.py REPO: forged and malicious pull requests against the branch main of REPO, each to be refused by `benchwrap check` for the right reason.

REPO is a bare repository whose main has runs; its branch `new` adds honest ones (the last of them read by the rules of IOR). Objects are written by
hand, so that trees can be what git itself would refuse to make. Prints a line of TAP's diagnostics for each kind that is not refused as it should be, and a
summary; exit status 1 if there was one."""
import base64, copy, hashlib, json, os, re, subprocess, sys, zlib

REPO, BENCHWRAP = sys.argv[1], os.environ["BENCHWRAP"]
ONLY = set(sys.argv[2:])
ENDS_S = 300
FIRST = os.environ.get("BENCHWRAP_FORGE_FIRST")  # end at the first that is not refused as it should be
EACH = 1 if os.environ.get("BENCHWRAP_LONG") else 3  # one of so many: all of them in the slow tier


def git(*args):
    return subprocess.run(["git", "-C", REPO, *args], check=True, capture_output=True).stdout


def write(kind, data, level=1):
    whole = b"%s %d\0" % (kind, len(data)) + data
    name = hashlib.sha1(whole).hexdigest()
    path = os.path.join(REPO, "objects", name[:2], name[2:])
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(zlib.compress(whole, level))
    return name


class Raw:
    """An entry of a tree that is not a plain file: a mode and the bytes or the name of an object."""
    def __init__(self, mode, data=b"", name=None):
        self.mode, self.data, self.name = mode, data, name


class Tree(dict):
    order = None      # a function that makes the list of entries other than git would
    twice = ()        # entries besides


def entry(name, value):
    if isinstance(value, Tree):
        return (b"40000", name, write_tree(value))
    if isinstance(value, Raw):
        return (value.mode, name, value.name or write(b"blob", value.data))
    return (b"100644", name, write(b"blob", value))


def write_tree(tree):
    entries = [entry(n, v) for n, v in tree.items()] + [entry(n, v) for n, v in tree.twice]
    entries.sort(key=lambda e: e[1] + (b"/" if e[0] == b"40000" else b""))
    if tree.order:
        entries = tree.order(entries)
    return write(b"tree", b"".join(m + b" " + n + b"\0" + bytes.fromhex(i) for m, n, i in entries))


def commit(tree, *parents, message="add runs"):
    who = b"site <site@users.noreply.github.com> %d +0000" % NOW
    data = b"tree %s\n" % tree.encode() + b"".join(b"parent %s\n" % p.encode() for p in parents)
    return write(b"commit", data + b"author " + who + b"\ncommitter " + who + b"\n\n" + message.encode() + b"\n")


def load(rev):
    tree = Tree()
    for line in git("ls-tree", "-r", "-z", rev).split(b"\0"):
        if not line:
            continue
        head, path = line.split(b"\t", 1)
        at = tree
        *way, last = path.split(b"/")
        for step in way:
            at = at.setdefault(step, Tree())
        at[last] = BLOBS[head.split()[2]] if head.split()[2] in BLOBS else BLOBS.setdefault(head.split()[2], git("cat-file", "blob", head.split()[2].decode()))
    return tree


BLOBS = {}
MAIN, NEW = git("rev-parse", "main").decode().strip(), git("rev-parse", "new").decode().strip()
NOW = int(git("show", "-s", "--format=%ct", "new"))
BASE, HONEST = load("main"), load("new")


def runs_of(tree):
    return [(e, r) for e, x in tree[b"mlruns"].items() for r, y in x.items() if len(r) == 32 and isinstance(y, Tree)]


OLD = runs_of(BASE)[0]
ADDED = [x for x in runs_of(HONEST) if x not in runs_of(BASE)]
IOR = next(x for x in ADDED if b"write.bw_MiB_per_s.max" in HONEST[b"mlruns"][x[0]][x[1]][b"metrics"])


class Case:
    """The honest branch, to be spoiled: tree, the run that is spoiled, and the experiment's folder."""
    def __init__(self, run=IOR):
        self.tree = copy.deepcopy(BASE)
        self.exp, self.id = run
        self.tree[b"mlruns"].setdefault(self.exp, copy.deepcopy(HONEST[b"mlruns"][self.exp]))
        for r in [r for e, r in ADDED if e == self.exp]:
            self.tree[b"mlruns"][self.exp].pop(r, None)
        self.run = self.folder[self.id] = copy.deepcopy(HONEST[b"mlruns"][self.exp][self.id])

    folder = property(lambda self: self.tree[b"mlruns"][self.exp])
    art = property(lambda self: self.run[b"artifacts"])

    def record(self, change):
        j = json.loads(self.art[b"benchwrap.json"])
        change(j)
        self.art[b"benchwrap.json"] = json.dumps(j, ensure_ascii=False).encode()
        self.manifest()

    def manifest(self):
        """The manifest that goes with the files as they are now."""
        files = []

        def walk(tree, prefix):
            for n, v in tree.items():
                if isinstance(v, Tree):
                    walk(v, prefix + n + b"/")
                elif isinstance(v, bytes) and prefix + n != b"artifacts/manifest.json":
                    files.append({"path": (prefix + n).decode(), "size": len(v), "sha256": hashlib.sha256(v).hexdigest()})
        walk(self.run, b"")
        self.art[b"manifest.json"] = json.dumps({"format": 1, "run_id": self.id.decode(), "files": sorted(files, key=lambda f: f["path"])}).encode()

    def meta(self, was, by):
        text = self.run[b"meta.yaml"]
        assert re.search(was, text), (was, text)
        self.run[b"meta.yaml"] = re.sub(was, by, text)
        self.manifest()

    def rename(self, new):
        """The same run under another id, everywhere."""
        def walk(tree):
            for n, v in tree.items():
                if isinstance(v, Tree):
                    walk(v)
                elif isinstance(v, bytes):
                    tree[n] = v.replace(self.id, new)
        walk(self.run)
        self.folder[new] = self.folder.pop(self.id)
        self.id = new
        self.manifest()

    def value(self, key, old, new):
        """A value of a metric in its file, in the record and in the manifest."""
        now = re.sub(rb"(?m)^(\S+) " + re.escape(old) + rb"(?= )", lambda m: m[1] + b" " + new, self.run[b"metrics"][key.encode()])
        self.run[b"metrics"][key.encode()] = now  # the second word alone: a time of 0 stands in the first and third, too

        def change(j):
            m = j["metrics"][key]
            for k in ("value", "min", "max", "mean"):
                if k in m and isinstance(m[k], (int, float)):
                    m[k] = float(new)
        self.record(change)


CASES = []


def kind(*words, public=False, run="IOR", options=()):
    """The findings of which one must be told."""
    def keep(f):
        CASES.append((f.__name__, words, f, public, run, options))
        return f
    return keep


# ---- paths ----
@kind("path-outside")
def changes_the_readme(c): c.tree[b"README.md"] = b"better\n"
@kind("path-outside")
def adds_a_workflow(c): c.tree[b".github"] = Tree({b"workflows": Tree({b"x.yml": b"on: push\n"})})
@kind("path-outside")
def adds_attributes(c): c.tree[b".gitattributes"] = b"* filter=x\n"
@kind("path-outside")
def puts_a_file_beside_experiments(c): c.tree[b"mlruns"][b"notes.txt"] = b"x"
@kind("path-outside")
def has_an_experiment_with_a_name(c): c.tree[b"mlruns"][b"ior"] = copy.deepcopy(c.folder)
@kind("path-outside")
def has_an_experiment_with_a_leading_zero(c): c.tree[b"mlruns"][b"0" + c.exp[:8]] = copy.deepcopy(c.folder)
@kind("path-outside")
def replaces_the_tree_by_a_file(c): c.tree[b"mlruns"] = b"x"
@kind("path-changed")
def changes_a_published_param(c): c.tree[b"mlruns"][OLD[0]][OLD[1]][b"params"][b"cpu.model"] = b"faster"
@kind("path-changed")
def changes_the_experiment(c): c.tree[b"mlruns"][OLD[0]][b"meta.yaml"] += b"tags: []\n"
@kind("path-changed")
def makes_a_published_file_executable(c):
    r = c.tree[b"mlruns"][OLD[0]][OLD[1]]; r[b"meta.yaml"] = Raw(b"100755", r[b"meta.yaml"])
@kind("path-deleted")
def deletes_a_published_file(c): del c.tree[b"mlruns"][OLD[0]][OLD[1]][b"artifacts"][b"stdout.log"]
@kind("path-deleted")
def deletes_a_published_run(c): del c.tree[b"mlruns"][OLD[0]][OLD[1]]
@kind("path-deleted")
def deletes_everything(c): del c.tree[b"mlruns"]
@kind("run-changed")
def adds_to_a_published_run(c): c.tree[b"mlruns"][OLD[0]][OLD[1]][b"artifacts"][b"more.txt"] = b"x"
@kind("run-changed")
def adds_a_param_to_a_published_run(c): c.tree[b"mlruns"][OLD[0]][OLD[1]][b"params"][b"zz"] = b"x"


# ---- types, names ----
def replaced(name, where, at, by, *words):
    """An entry of one of the case's trees is something else than a file."""
    def f(c): where(c)[at if at is not None else c.id] = by
    f.__name__ = name
    kind("file-type", *words)(f)


def link(to): return Raw(b"120000", to)


replaced("links_to_a_secret", lambda c: c.art, b"log.txt", link(b"/etc/passwd"))
replaced("links_a_whole_run", lambda c: c.folder, None, link(b"../../.."))
replaced("links_the_whole_tree", lambda c: c.tree, b"mlruns", link(b"/tmp"), "path-outside")
replaced("links_an_experiment", lambda c: c.tree[b"mlruns"], IOR[0], link(b"../.."))
replaced("links_the_params", lambda c: c.run, b"params", link(b"../../../.git"), "mlflow-folder")
replaced("links_the_meta_of_the_experiment", lambda c: c.folder, b"meta.yaml", link(b"/etc/passwd"))
replaced("links_the_record", lambda c: c.art, b"benchwrap.json", link(b"../../../../README.md"))
for name, where, at in [("run", lambda c: c.folder, b"9" * 32), ("experiment", lambda c: c.tree[b"mlruns"], b"12345"), ("folder_of_tags", lambda c: c.run, b"tags"),
                        ("folder_of_a_run", lambda c: c.art, b"sub"), ("folder_at_the_root", lambda c: c.tree, b"sub")]:
    replaced("has_a_submodule_for_a_" + name, where, at, Raw(b"160000", name=MAIN))
@kind("file-type")
def replaces_a_published_file_by_a_link(c): c.tree[b"mlruns"][OLD[0]][OLD[1]][b"meta.yaml"] = Raw(b"120000", b"/dev/zero")
@kind("file-mode")
def has_a_program(c): c.art[b"run.sh"] = Raw(b"100755", b"#!/bin/sh\n")
@kind("file-mode")
def has_an_odd_mode(c): c.art[b"x"] = Raw(b"100664", b"x")
@kind("file-mode")
def has_a_mode_of_nothing(c): c.art[b"x"] = Raw(b"777", b"x")
@kind("name")
def has_a_control_character(c): c.art[b"a\x1b[31m"] = b"x"
@kind("name")
def has_a_newline_in_a_name(c): c.art[b"a\nb"] = b"x"
@kind("name")
def has_a_name_of_latin_1(c): c.art[b"caf\xe9"] = b"x"
@kind("name")
def has_a_git_folder(c): c.art[b".git"] = Tree({b"config": b"[core]\nfsmonitor=x\n"})
@kind("name")
def has_a_git_folder_for_windows(c): c.art[b"GIT~1"] = Tree({b"config": b"x"})
@kind("name")
def has_a_git_folder_for_mac(c): c.art[".g\u200cit".encode()] = Tree({b"config": b"x"})
@kind("name")
def has_a_git_folder_with_a_stream(c): c.art[b".git::$INDEX_ALLOCATION"] = Tree({b"config": b"x"})
@kind("name")
def has_modules(c): c.art[b".GitModules"] = b"x"
@kind("name")
def goes_up(c): c.art[b".."] = Tree({b"x": b"x"})
@kind("name")
def goes_up_at_the_root(c): c.tree[b".."] = Tree({b"x": b"x"})
@kind("name")
def has_a_slash_in_a_name(c): c.art[b"../../../x"] = b"x"
@kind("name", "unreadable")
def has_a_slash_at_the_root(c): c.tree[b"mlruns/1/" + b"a" * 32] = Tree({b"x": b"x"})
@kind("name")
def ends_in_a_dot(c): c.art[b"x."] = b"x"
@kind("name")
def is_a_device(c): c.art[b"aux.txt"] = b"x"
@kind("name")
def has_a_backslash(c): c.art[b"a\\b"] = b"x"
@kind("name")
def writes_from_right_to_left(c): c.art["a\u202egnp.exe".encode()] = b"x"
@kind("name")
def has_a_long_name(c): c.art[b"x" * 300] = b"x"
@kind("name")
def has_a_long_path(c):
    t = c.art
    for i in range(15):
        t[b"y" * 90] = Tree(); t = t[b"y" * 90]
    t[b"x"] = b"x"
@kind("name-case")
def differs_in_case_only(c): c.art[b"STDOUT.log"] = b"x"
@kind("name-case")
def differs_in_form_only(c): c.art["\u00c9".encode()] = b"x"; c.art["\u00e9".encode()] = b"x"
@kind("unreadable")
def has_a_name_twice(c): c.run.twice = [(b"meta.yaml", b"x")]
@kind("unreadable")
def has_the_tree_twice(c): c.tree.twice = [(b"mlruns", Tree({b"x": b"x"}))]
@kind("unreadable")
def has_an_unsorted_tree(c): c.run.order = lambda e: e[::-1]
@kind("unreadable")
def lacks_an_object(c): c.art[b"x"] = Raw(b"100644", name="12" * 20)
@kind("unreadable")
def lacks_a_tree(c): c.art[b"x"] = Raw(b"40000", name="34" * 20)
@kind("unreadable")
def says_a_file_is_a_folder(c): c.art[b"x"] = Raw(b"40000", b"x")


@kind("file-mode", "file-type")
def has_a_folder_of_another_mode(c): c.art[b"x"] = Raw(b"40755", name=write_tree(Tree({b"x": b"x"})))
@kind("file-mode", "unreadable", "manifest")
def has_a_mode_with_a_zero_before(c): c.art[b"x"] = Raw(b"0100644", b"x")
@kind("unreadable")
def has_a_file_and_a_folder_of_one_name(c): c.art[b"x"] = b"x"; c.art.twice = [(b"x", b"y")]
@kind("unreadable")
def has_a_torn_tree(c): c.art[b"x"] = Raw(b"40000", name=write(b"tree", b"100644 x\0" + b"a" * 19))
@kind("unreadable")
def has_a_tree_without_an_end(c): c.art[b"x"] = Raw(b"40000", name=write(b"tree", b"100644 " + b"x" * 70000))
@kind("unreadable")
def has_a_tree_of_no_mode(c): c.art[b"x"] = Raw(b"40000", name=write(b"tree", b" x\0" + b"a" * 20))
@kind("unreadable", "name")
def has_an_entry_without_a_name(c): c.art[b"x"] = Raw(b"40000", name=write(b"tree", b"100644 \0" + b"a" * 20))
@kind("unreadable")
def says_a_commit_is_a_file(c): c.art[b"x"] = Raw(b"100644", name=MAIN)
@kind("path-deleted", "id-known", "identity")
def moves_a_published_run(c): c.folder[OLD[1]] = c.tree[b"mlruns"][OLD[0]].pop(OLD[1])
@kind("path-changed", "path-outside")
def changes_who_may_read(c): c.tree[b"benchwrap.yaml"] = b"profile: private\n"
@kind("limit")
def is_as_deep_as_trees_go(c):
    t = write_tree(Tree({b"x": b"x"}))
    for i in range(3000):
        t = write(b"tree", b"40000 d\0" + bytes.fromhex(t))
    c.art[b"d"] = Raw(b"40000", name=t)
@kind("path-outside", "unreadable")
def is_a_tree_of_trees_of_trees(c):
    t = write_tree(Tree({b"x": b"x"}))
    for i in range(40):  # two to the fortieth files, in forty objects
        t = write(b"tree", b"40000 a\0" + bytes.fromhex(t) + b"40000 b\0" + bytes.fromhex(t))
    c.tree[b"mlruns"][b"x"] = Raw(b"40000", name=t)
@kind("limit")
def is_a_run_of_trees_of_trees(c):
    t = write_tree(Tree({b"x": b"x"}))
    for i in range(18):
        t = write(b"tree", b"40000 a\0" + bytes.fromhex(t) + b"40000 b\0" + bytes.fromhex(t))
    c.art[b"x"] = Raw(b"40000", name=t)
@kind("path-outside", "limit")
def has_very_many_experiments(c):
    blob = write(b"blob", b"x")
    c.tree[b"mlruns"] = Raw(b"40000", name=write(b"tree", b"".join(b"100644 %08d\0" % i + bytes.fromhex(blob) for i in range(100000))))


# ---- the shape of a run ----
@kind("file-unknown")
def has_a_file_in_the_run(c): c.run[b"notes.txt"] = b"x"; c.manifest()
@kind("file-unknown")
def has_a_folder_in_the_run(c): c.run[b"inputs"] = Tree({b"x": b"x"}); c.manifest()
@kind("file-unknown")
def has_a_file_in_the_experiment(c): c.folder[b"note"] = b"x"
@kind("file-unknown")
def has_a_tag_of_the_experiment(c): c.folder[b"tags"][b"mlflow.note.content"] = b"x"
@kind("size")
def is_a_bomb(c): c.art[b"zeros"] = bytes((64 << 20) + 1)
@kind("size", options=("--max-run", "64K"))
def is_larger_than_allowed(c): c.art[b"x"] = bytes(70000); c.manifest()
@kind("limit")
def has_too_many_files(c): c.art[b"many"] = Tree({b"%d" % i: b"x" for i in range(20001)})
@kind("limit", "name")
def is_too_deep(c):
    t = c.art
    for i in range(45):
        t[b"d"] = Tree(); t = t[b"d"]
    t[b"x"] = b"x"
@kind("mlflow-folder")
def has_no_metrics(c): del c.run[b"metrics"]
@kind("mlflow-folder")
def has_no_artifacts(c): del c.run[b"artifacts"]
@kind("experiment-id")
def has_the_wrong_id(c):
    c.tree[b"mlruns"][b"77"] = Tree({b"meta.yaml": c.folder[b"meta.yaml"].replace(c.exp, b"77")})
@kind("experiment-meta")
def has_an_experiment_of_its_own_time(c): c.folder[b"meta.yaml"] = c.folder[b"meta.yaml"].replace(b"1767225600000", b"1767225600001")
@kind("experiment-meta")
def has_no_meta_of_the_experiment(c): del c.folder[b"meta.yaml"]


# ---- what MLflow reads ----
@kind("run-meta")
def has_an_unquoted_id(c): c.meta(rb'run_id: "(\w+)"', rb"run_id: \1")
@kind("run-meta", "identity")
def has_conflict_markers(c): c.run[b"meta.yaml"] = b"<<<<<<< a\n" + c.run[b"meta.yaml"]; c.manifest()
@kind("run-meta")
def has_an_absolute_uri(c): c.meta(rb'artifact_uri: "mlruns', rb'artifact_uri: "/mlruns')
@kind("run-meta")
def is_deleted(c): c.meta(rb'lifecycle_stage: "active"', rb'lifecycle_stage: "deleted"')
@kind("run-meta")
def is_running(c): c.meta(rb"status: 3", rb"status: 1")
@kind("run-meta")
def has_no_end(c): c.meta(rb"end_time: \d+", rb"end_time: null")
@kind("run-meta")
def has_an_alias_bomb(c): c.run[b"meta.yaml"] = b"a: &a [x,x]\n" + b"".join(b"b%d: &b%d [*a,*a]\n" % (i, i) for i in range(50)); c.manifest()
@kind("run-meta")
def has_an_empty_meta(c): c.run[b"meta.yaml"] = b""; c.manifest()
@kind("run-meta")
def has_more_in_meta(c): c.run[b"meta.yaml"] += b"x: !!python/object/apply:os.system [id]\n"; c.manifest()
@kind("key")
def keeps_a_placeholder(c): c.run[b"params"][b".gitkeep"] = b""; c.manifest()
@kind("key")
def has_an_odd_key(c): c.run[b"params"]["\u00e4".encode()] = b"x"; c.manifest()
@kind("value")
def has_a_value_of_latin_1(c): c.run[b"params"][b"cpu.model"] = b"\xff"; c.manifest()
@kind("value")
def has_a_long_value(c): c.run[b"params"][b"cpu.model"] = b"x" * 6001; c.manifest()


def metric(name, text):
    def f(c): c.run[b"metrics"][b"zz_s"] = text; c.manifest()
    f.__name__ = "has_a_metric_" + name
    kind("metric")(f)


for name, text in [("with_a_blank_line", b"1 1 0\n\n"), ("that_is_infinite", b"1 inf 0\n"), ("of_two_fields", b"1 1\n"), ("of_five_fields", b"1 1 0 a b\n"),
                   ("that_goes_back", b"2 1 0\n1 1 1\n"), ("twice_the_same", b"1 1 0\n1 1 0\n"), ("with_a_time_of_decimals", b"1.0 1 0\n"), ("that_is_empty", b""),
                   ("with_crlf", b"1 1 0\r\n"), ("of_python", b"1 1_0 0\n"), ("in_hexadecimal", b"1 0x1 0\n"), ("without_an_end", b"1 1 0"), ("of_too_many_lines", b"".join(b"%d 1 %d\n" % (i + 1, i) for i in range(1001))),
                   ("with_two_blanks", b"1  1 0\n"), ("of_huge_time", b"99999999999999999999 1 0\n")]:
    metric(name, text)


for name, text in [("of_a_huge_number", b"1 1e999 0\n"), ("of_a_huge_step", b"1 1 9223372036854775808\n"), ("of_a_negative_time", b"-1 1 0\n"), ("with_a_nul", b"1 1\0 0\n"),
                   ("that_is_NaN", b"1 NaN 0\n"), ("with_a_plus_in_time", b"+1 1 0\n"), ("with_tabs", b"1\t1\t0\n"), ("of_other_digits", "1 \u0661 0\n".encode()), ("with_a_mark_of_order", b"\xef\xbb\xbf1 1 0\n")]:
    metric(name, text)
@kind("value")
def has_a_value_with_a_nul(c): c.run[b"params"][b"cpu.model"] = b"x\0y"; c.manifest()
@kind("run-meta")
def has_a_meta_with_a_nul(c): c.run[b"meta.yaml"] = c.run[b"meta.yaml"].replace(b"run_name: \"", b"run_name: \"\0"); c.manifest()
@kind("run-meta")
def has_an_anchor_in_meta(c): c.meta(rb'run_name: (".*")', rb"run_name: &a \1")
@kind("record")
def has_a_record_with_a_nul(c): c.art[b"benchwrap.json"] = c.art[b"benchwrap.json"] + b"\0{}"; c.manifest()
@kind("record")
def has_a_record_of_a_huge_number(c): c.art[b"benchwrap.json"] = re.sub(rb'"value":\s*[0-9.]+', b'"value": 1e999', c.art[b"benchwrap.json"], count=1); c.manifest()
@kind("record")
def has_half_a_character_in_the_record(c): c.art[b"benchwrap.json"] = c.art[b"benchwrap.json"].replace(b'"format"', b'"\\ud800": 1, "format"', 1); c.manifest()
@kind("figures", "bound", "record")
def is_not_a_number(c): v = claimed(c, "write.bw_MiB_per_s.max"); c.run[b"metrics"][b"write.bw_MiB_per_s.max"] = c.run[b"metrics"][b"write.bw_MiB_per_s.max"].replace(v, b"nan"); c.manifest()


# ---- identity ----
@kind("identity")
def names_another_run(c): c.meta(rb'run_id: "\w+"', b'run_id: "' + b"a" * 32 + b'"')
@kind("identity")
def names_another_experiment(c): c.meta(rb'experiment_id: "\d+"', b'experiment_id: "7"')
@kind("identity")
def is_put_into_another_folder(c): c.folder[b"b" * 32] = c.folder.pop(c.id)
@kind("identity")
def has_the_record_of_another_run(c): c.art[b"benchwrap.json"] = BASE[b"mlruns"][OLD[0]][OLD[1]][b"artifacts"][b"benchwrap.json"]; c.manifest()
@kind("id-known")
def takes_a_published_id(c):
    c.tree[b"mlruns"].pop(b"", None)
    c.rename(OLD[1])
    if c.exp == OLD[0]:
        raise LookupError
@kind("copy", run="OLD")
def copies_a_published_run(c): c.rename(b"c" * 32)
@kind("copy", run="OLD")
def copies_and_shifts_the_times(c):
    c.rename(b"d" * 32)
    times = sorted(set(re.findall(rb"\b1[5-9]\d{11}\b", c.run[b"meta.yaml"])))
    shift = lambda t: re.sub(rb"\b(1[5-9]\d{11})\b", lambda m: b"%d" % (int(m.group(1)) - 86400000), t)
    assert times
    c.run[b"meta.yaml"] = shift(c.run[b"meta.yaml"])
    c.art[b"benchwrap.json"] = shift(c.art[b"benchwrap.json"])
    for k, v in c.run[b"metrics"].items():
        c.run[b"metrics"][k] = shift(v)
    c.manifest()
@kind("copy", run="OLD")
def copies_and_changes_a_byte_of_the_output(c):
    c.rename(b"c" * 31 + b"1")
    c.art[b"stdout.log"] = c.art[b"stdout.log"].replace(b"e", b"E", 1); c.manifest()
@kind("copy", run="OLD")
def copies_and_has_no_output(c):
    c.rename(b"c" * 31 + b"2"); del c.art[b"stdout.log"]
    c.record(lambda j: j.update(artifacts=[a for a in j["artifacts"] if a["path"] != "stdout.log"]))
@kind("copy", run="OLD")
def copies_behind_a_correction(c):
    """One run amends the published one, with other values; the other is a copy of it and says nothing."""
    was, copied = c.id, copy.deepcopy(c.run)
    c.rename(b"0" * 31 + b"4")
    c.run[b"tags"][b"benchwrap.amends"] = was
    c.value("run.user_s", claimed(c, "run.user_s"), b"0.001234")
    c.record(lambda j: j["tags"].update({"benchwrap.amends": {"value": was.decode(), "source": "x"}}))
    c.folder[was] = c.run = copied
    c.id = was
    c.rename(b"c" * 31 + b"3")
@kind("amends")
def amends_nobody(c):
    c.run[b"tags"][b"benchwrap.amends"] = b"e" * 32
    c.record(lambda j: j["tags"].update({"benchwrap.amends": {"value": "e" * 32, "source": "x"}}))


# ---- times ----
@kind("time")
def ends_in_the_future(c):
    t = (NOW + 10 ** 8) * 1000
    c.meta(rb"end_time: \d+", b"end_time: %d" % t); c.record(lambda j: j["run"].update(end_ms=t))
@kind("time")
def ends_before_it_starts(c): c.meta(rb"end_time: \d+", b"end_time: 1767225600000"); c.record(lambda j: j["run"].update(end_ms=1767225600000))
@kind("time")
def is_older_than_computers(c):
    c.meta(rb"start_time: \d+", b"start_time: 1000"); c.record(lambda j: j["run"].update(start_ms=1000))


# ---- record, manifest ----
@kind("record")
def has_no_record(c): del c.art[b"benchwrap.json"]; c.manifest()
@kind("record")
def has_a_torn_record(c): c.art[b"benchwrap.json"] = c.art[b"benchwrap.json"][:500]; c.manifest()
@kind("record")
def has_a_deep_record(c): c.art[b"benchwrap.json"] = b"[" * 100000; c.manifest()
@kind("record")
def has_a_key_twice(c): c.art[b"benchwrap.json"] = c.art[b"benchwrap.json"].replace(b'"verdict": {', b'"metrics": {}, "verdict": {', 1); c.manifest()
@kind("record")
def has_an_unknown_member(c): c.record(lambda j: j.update(more=1))
@kind("record")
def has_a_number_as_text(c): c.record(lambda j: j["run"].update(start_ms="1"))
@kind("record")
def tells_of_more_params(c): c.record(lambda j: j["params"].update({"zz": {"value": "1", "source": "x"}}))
@kind("record")
def hides_a_param(c): c.record(lambda j: j["params"].pop("cpu.model"))
@kind("record")
def has_another_value_in_the_file(c): c.run[b"params"][b"cpu.model"] = b"faster"; c.manifest()
@kind("record")
def has_another_metric_in_the_file(c): k = b"write.bw_MiB_per_s.max"; c.run[b"metrics"][k] = c.run[b"metrics"][k].replace(b".", b"9.", 1); c.manifest()
@kind("record")
def has_another_verdict_in_the_tag(c): c.run[b"tags"][b"benchwrap.verdict"] = b"fail"; c.manifest()
@kind("record")
def has_another_user(c): c.meta(rb'user_id: "\w*"', b'user_id: "somebody"')
@kind("manifest")
def has_no_manifest(c): del c.art[b"manifest.json"]
@kind("manifest")
def has_a_torn_manifest(c): c.art[b"manifest.json"] = c.art[b"manifest.json"][:100]
@kind("manifest")
def has_another_output(c): c.art[b"stdout.log"] += b"x"
@kind("manifest")
def has_a_file_beside_the_manifest(c): c.art[b"more.txt"] = b"x"
@kind("manifest")
def lacks_a_file_of_the_manifest(c): del c.art[b"topology.xml"]
@kind("manifest")
def lists_paths_elsewhere(c):
    j = json.loads(c.art[b"manifest.json"]); j["files"].append({"path": "../../../etc/passwd", "size": 1, "sha256": "0" * 64})
    c.art[b"manifest.json"] = json.dumps(j).encode()


# ---- truth ----
def claimed(c, key):
    return c.run[b"metrics"][key.encode()].split()[1]
@kind("figures")
def is_ten_times_faster(c):
    for k in [k.decode() for k in c.run[b"metrics"] if b"bw_MiB" in k and len(c.run[b"metrics"][k].split()) == 3]:
        v = claimed(c, k); c.value(k, v, b"%.15g" % (float(v) * 10))
@kind("figures")
def is_a_little_faster(c): v = claimed(c, "write.bw_MiB_per_s.max"); c.value("write.bw_MiB_per_s.max", v, b"%.15g" % (float(v) * 1.01))
@kind("figures")
def has_an_output_of_other_numbers(c): c.art[b"stdout.log"] = re.sub(rb"(?m)^(write +)\d", rb"\g<1>9", c.art[b"stdout.log"]); c.manifest()
@kind("figures")
def claims_a_figure_more(c):
    c.run[b"metrics"][b"other.bw_MiB_per_s"] = b"1767225600000 5 0\n"
    c.record(lambda j: j["metrics"].update({"other.bw_MiB_per_s": {"value": 5, "unit": "MiB_per_s", "direction": "higher", "source": "rule:ior:results", "samples": 1}}))
@kind("figures")
def hides_a_figure(c):
    del c.run[b"metrics"][b"write.bw_MiB_per_s.max"]
    c.record(lambda j: j["metrics"].pop("write.bw_MiB_per_s.max"))
def tagged(c, name, value, source="recorder"):
    c.run[b"tags"][name.encode()] = value.encode()
    c.record(lambda j: j["tags"].update({name: {"value": value, "source": source}}))
def thrice_as_fast(c):
    for k in ("write.bw_MiB_per_s.max", "read.bw_MiB_per_s.max"):
        v = claimed(c, k); c.value(k, v, b"%.15g" % (float(v) * 3))
@kind("figures")
def is_a_series_of_nothing(c): thrice_as_fast(c); tagged(c, "benchwrap.series", "repeat")
@kind("figures", run="SERIES")
def is_a_series_faster_than_its_runs(c): c.value("run.wall_s.median", claimed(c, "run.wall_s.median"), b"0.000001")
@kind("figures", run="SERIES")
def is_a_series_with_the_best_run_as_its_median(c): c.value("run.wall_s.median", claimed(c, "run.wall_s.median"), claimed(c, "run.wall_s.min"))
@kind("figures", run="SERIES")
def is_a_series_surer_than_it_is(c): c.value("run.wall_s.sd", claimed(c, "run.wall_s.sd"), b"1e-09")
@kind("figures", run="SERIES")
def is_a_series_with_a_figure_of_its_own(c):
    c.run[b"metrics"][b"rate.median"] = c.run[b"metrics"][b"run.wall_s.median"]
    c.record(lambda j: j["metrics"].update({"rate.median": dict(j["metrics"]["run.wall_s.median"])}))
@kind("figures", run="SERIES")
def is_a_series_that_forgets_its_worst_run(c):
    lines = c.art[b"repetitions.jsonl"].splitlines(keepends=True)
    c.art[b"repetitions.jsonl"] = b"".join(lines[:2] + lines[3:]); c.manifest()
@kind("verdict", run="SERIES")
def is_a_series_that_claims_to_pass(c):
    c.run[b"tags"][b"benchwrap.verdict"] = b"pass"

    def change(j):
        j["verdict"]["word"] = "pass"; j["tags"]["benchwrap.verdict"]["value"] = "pass"
    c.record(change)
@kind("figures", run="SERIES")
def is_a_series_of_anothers_runs(c):
    other = next(r for e, r in ADDED if (e, r) != (c.exp, c.id) and e == c.exp and r not in c.art[b"repetitions.jsonl"])
    mine = json.loads(c.art[b"repetitions.jsonl"].splitlines()[1])["run"].encode()
    c.folder[other] = copy.deepcopy(HONEST[b"mlruns"][c.exp][other])
    c.art[b"repetitions.jsonl"] = c.art[b"repetitions.jsonl"].replace(mine, other); c.manifest()
@kind("figures", run="SERIES")
def has_repetitions_of_its_own(c):
    c.art[b"repetitions.jsonl"] = re.sub(rb'("key":"run.wall_s","of":"","unit":"s","direction":"lower","value":)[0-9.e-]+', rb"\g<1>0.000001", c.art[b"repetitions.jsonl"], count=1); c.manifest()
@kind("figures", run="SERIES")
def is_a_series_without_notes(c):
    c.value("run.wall_s.median", claimed(c, "run.wall_s.median"), b"0.000001")
    del c.art[b"repetitions.jsonl"]; c.manifest()
    c.record(lambda j: j.update(artifacts=[a for a in j["artifacts"] if a["path"] != "repetitions.jsonl"]))
@kind("figures", "amends")
def retracts_and_measures(c): tagged(c, "benchwrap.retracts", OLD[1].decode())
@kind("figures")
def withholds_what_is_there(c): thrice_as_fast(c); c.record(lambda j: j["missing"].append({"key": "stdout.log", "reason": "withheld", "source": "recorder"}))
@kind("record", "figures")
def is_cut_and_whole(c): thrice_as_fast(c); tagged(c, "benchwrap.stdout_cut_B", "1")
@kind("figures")
def has_figures_and_no_rules(c):
    thrice_as_fast(c); tagged(c, "benchwrap.verdict", "none")
    del c.art[b"rules.yaml"]
    c.record(lambda j: (j["verdict"].update(word="none"), j.update(artifacts=[a for a in j["artifacts"] if a["path"] != "rules.yaml"])))
@kind("rules")
def is_of_another_benchmark(c): tagged(c, "benchmark", "hpl")
@kind("figures")
def takes_less_for_more(c): c.record(lambda j: j["metrics"]["write.bw_MiB_per_s.max"].update(direction="lower"))
@kind("record")
def has_a_unit_that_the_key_has_not(c):
    c.run[b"metrics"][b"own.rate_MiB_per_s"] = b"1767225600000 5 0\n"
    c.record(lambda j: j["metrics"].update({"own.rate_MiB_per_s": {"value": 5, "unit": "GB_per_s", "direction": "higher", "source": "log", "samples": 1}}))
@kind("record")
def has_another_mean(c): c.record(lambda j: j["metrics"]["write.bw_MiB_per_s"].update(mean=99999))
@kind("rules-differ")
def was_told_another_number_of_tasks(c): c.run[b"params"][b"tasks"] = b"1"; c.record(lambda j: j["params"]["tasks"].update(value="1", source="option"))
@kind("figures")
def hides_the_number_of_tasks(c): del c.run[b"params"][b"tasks"]; c.record(lambda j: j["params"].pop("tasks"))
@kind("figures")
def is_of_another_version(c): tagged(c, "benchmark.version", "9.9", "rule:ior:version")
@kind("verdict", "record")
def claims_to_pass(c):
    c.art[b"stdout.log"] = b"IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n"; c.manifest()
@kind("verdict")
def hides_the_exit_status(c):
    k = b"run.exit_status"; c.run[b"metrics"][k] = c.run[b"metrics"][k].replace(b" 0 ", b" 1 ", 1)
    c.record(lambda j: j["metrics"]["run.exit_status"].update(value=1))
@kind("rules")
def has_broken_rules(c): c.art[b"rules.yaml"] = b"name: [\n"; c.manifest()
@kind("rules")
def has_an_alias_bomb_as_rules(c): c.art[b"rules.yaml"] = b"name: &a [x,x]\nb: [*a,*a]\n"; c.manifest()
@kind("rules-unknown")
def has_rules_that_nobody_knows(c): c.art[b"rules.yaml"] += b"# mine\n"; c.manifest()
@kind("verdict", run="PLAIN")
def passes_without_rules(c):
    c.run[b"tags"][b"benchwrap.verdict"] = b"pass"
    c.art.pop(b"rules.yaml", None)

    def change(j):
        j["verdict"]["word"] = "pass"; j["tags"]["benchwrap.verdict"]["value"] = "pass"
        j["artifacts"] = [a for a in j["artifacts"] if a["path"] != "rules.yaml"]
    c.record(change)
@kind("bound")
def used_more_time_than_there_was(c): c.value("run.user_s", claimed(c, "run.user_s"), b"123456")
@kind("bound")
def used_more_memory_than_there_is(c): c.value("run.max_rss_MiB", claimed(c, "run.max_rss_MiB"), b"1e+12")
@kind("time")
def took_less_than_no_time(c): c.value("run.wall_s", claimed(c, "run.wall_s"), b"-5")


# ---- secrets and personal data ----
def secret(name, text, word="secret", file=b"stdout.log", public=False):
    def f(c):
        c.art[file] = c.art.get(file, b"") + text + b"\n"; c.manifest()
    f.__name__ = "tells_" + name
    kind(word, public=public)(f)


secret("a_token_of_github", b"remote: ghp_" + b"0123456789abcdefghijABCDEFGHIJ012345")
secret("a_key_of_amazon", b"aws AKIA" + b"IOSFODNN7ABCDEFG ")
secret("a_private_key", b"-----BEGIN OPENSSH PRIVATE " + b"KEY-----\nb3Bl\n-----END OPENSSH PRIVATE " + b"KEY-----")
secret("a_web_token", b"Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9")
secret("a_password_in_a_url", b"cloning https://jo:s3cr3tpassw0rd@host/x.git")
secret("a_password", b"password=Tr0ub4dor-and-3", word="secret-odd")
secret("random_text_in_the_environment", b"X=aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5", word="secret-odd", file=b"environment.txt")
secret("an_address", b"mail jo.doe@site.org", word="personal-odd", public=True)
secret("a_home", b"OMPI=/home/jdoe/x", word="personal", file=b"environment.txt", public=True)
TOKEN = b"ghp_" + b"0123456789abcdefghijABCDEFGHIJ012345"
for name, text in [("base64", base64.b64encode(b"key: " + TOKEN)), ("hexadecimal_digits", TOKEN.hex().encode()), ("percent_signs", b"u=%67%68%70%5f" + TOKEN[4:]),
                   ("UTF_16", ("x " + TOKEN.decode() + "\n").encode("utf-16"))]:
    secret("a_token_in_" + name, text, file=b"note.txt")
secret("a_user_and_password_in_base64", b"Authorization: Basic " + base64.b64encode(b"jo:s3cr3tpassw0rd"), word="secret-odd")
@kind("name-case")
def has_two_names_of_kelvin(c): c.art["\u212a.txt".encode()] = b"x"; c.art[b"k.txt"] = b"x"; c.manifest()
@kind("identity")
def is_there_twenty_thousand_times(c):
    t = bytes.fromhex(write_tree(c.run))
    c.tree[b"mlruns"][c.exp] = Raw(b"40000", name=write(b"tree", b"".join(b"40000 %032x\0" % i + t for i in range(20000))))
@kind("limit", options=("--max-runs", "1"))
def has_more_runs_than_are_looked_at(c): c.folder[b"7" * 32] = copy.deepcopy(c.run)
@kind("personal", public=True)
def tells_the_host_in_public(c): c.record(lambda j: j["run"].update(host="node17"))


# ---- histories ----
def check(name, tip, words, options, bad):
    git("update-ref", "refs/heads/forged", tip)
    try:
        p = subprocess.run([BENCHWRAP, "check", "--json", *options, "--range", "main..forged", REPO], capture_output=True, timeout=ENDS_S)
    except subprocess.TimeoutExpired:
        bad.append("%s: no end within %d s" % (name, ENDS_S))
        return
    try:
        j = json.loads(p.stdout)
        found = {f["finding"]: f["severity"] for f in j["findings"]}
    except ValueError:
        bad.append("%s: no JSON: status %d: %s" % (name, p.returncode, p.stderr.decode(errors="replace")[:300]))
        return
    if not found.keys() & set(words):
        bad.append("%s: wanted %s, found %s" % (name, " or ".join(words), found))
    elif ("error" in found.values()) != (p.returncode == 1) or p.returncode not in (0, 1):
        bad.append("%s: status %d with %s" % (name, p.returncode, found))
    elif not all(f["text"] and f["remedy"] and f["path"] is not None for f in j["findings"]):
        bad.append("%s: a finding without words" % name)


def histories(bad):
    honest, base = git("rev-parse", "new^{tree}").decode().strip(), git("rev-parse", "main^{tree}").decode().strip()
    c = Case(); c.art[b"key.txt"] = b"x"
    with_key = write_tree(c.tree)
    c = Case(); c.tree[b"mlruns"][OLD[0]][OLD[1]][b"params"][b"cpu.model"] = b"other"
    changed = write_tree(c.tree)
    c = Case(); c.tree[b"evil.txt"] = b"x"
    evil = write_tree(c.tree)
    root = commit(base)
    list_ = {
        "history_adds_and_takes_away": commit(honest, commit(with_key, MAIN)),
        "history_changes_and_restores": commit(honest, commit(changed, MAIN)),
        "history_of_an_evil_merge": commit(honest, commit(evil, commit(honest, MAIN), commit(base, MAIN))),
        "history_without_a_parent": commit(honest, MAIN, root),
        "history_deletes_and_restores": commit(honest, commit(write_tree(Tree({k: v for k, v in BASE.items() if k != b"mlruns"})), MAIN)),
    }
    for name, tip in list_.items():
        if not ONLY or name in ONLY:
            check(name, tip, ["history"], [], bad)
    return len(list_)


def main():
    bad, n = [], 0
    def series_of(x): return HONEST[b"mlruns"][x[0]][x[1]][b"tags"].get(b"benchwrap.series")
    # Ids are random: a repetition, whose machine its parent run has, is no plain run.
    plain = next(x for x in ADDED if x != IOR and b"run.user_s" in HONEST[b"mlruns"][x[0]][x[1]][b"metrics"] and not series_of(x)
                 and b"mlflow.parentRunId" not in HONEST[b"mlruns"][x[0]][x[1]][b"tags"] and b"cpu.cores" in HONEST[b"mlruns"][x[0]][x[1]][b"params"])
    series = next(x for x in ADDED if series_of(x) == b"repeat")
    for i, (name, words, spoil, public, run, options) in enumerate(CASES):
        if name not in ONLY if ONLY else i % EACH:
            continue
        c = Case({"IOR": IOR, "PLAIN": plain, "SERIES": series}.get(run, IOR))
        if run == "SERIES":
            c.folder.update({r: copy.deepcopy(x) for r, x in HONEST[b"mlruns"][c.exp].items() if r not in c.folder})
        if run == "OLD":
            c.exp, c.id = OLD
            c.run = copy.deepcopy(BASE[b"mlruns"][OLD[0]][OLD[1]])
            c.tree = copy.deepcopy(BASE)
            kept = c.folder[OLD[1]]
            c.folder[OLD[1]] = c.run
        try:
            spoil(c)
        except LookupError as e:
            bad.append("%s: cannot be made: %r" % (name, e))
            continue
        if run == "OLD":
            c.tree[b"mlruns"][OLD[0]][OLD[1]] = kept
        check(name, commit(write_tree(c.tree), MAIN), words, (["--public"] if public else []) + list(options), bad)
        n += 1
        if bad and FIRST:
            break
    n += histories(bad)
    for line in bad:
        print("# " + line)
    print("%d of %d refused for the right reason" % (n - len(bad), n))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
