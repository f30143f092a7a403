"""forge_fresh.py REPO TABLE: forged pull requests derived from the format's description, MLflow's file store and git's object model, without knowledge of the
checks. TABLE (forge_fresh.tsv) has a line for each: name, outcome (refused, warned, noted, passed), one finding that must be reported, and for `passed` why.

With BENCHWRAP_FORGE_WRITE set, prints the table as it is now instead of comparing."""
import datetime, gzip, io, lzma, bz2, pickle, struct, tarfile, zipfile
import forge
from forge_more import *

ROWS = []


def row(name, f, public=False, run="IOR"):
    ROWS.append((name, f, public, run))


def rows(prefix, change, *list_, public=False):
    """One forgery for each (name, argument…)."""
    for name, *args in list_:
        row(prefix + "-" + name, lambda c, a=args: change(c, *a), public)


def note(c, text): artifact(c, "note.txt", text if isinstance(text, bytes) else text.encode())
def at_root(c, path, data):
    *way, last = path.encode().split(b"/")
    at = c.tree
    for step in way:
        at = at.setdefault(step, Tree())
    at[last] = data
def meta_(c, was, by): c.meta(was, by)
def retag(c, key, value): tag(c, key, value, "recorder")
def member(c, path, value):
    def change(j):
        at = j
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
    c.record(change)
def metric_text(c, key, text): c.run[b"metrics"][key.encode()] = text; c.manifest()
def zip_of(*pairs, method=zipfile.ZIP_DEFLATED):
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w", method) as z:
        for n, d in pairs:
            z.writestr(zipfile.ZipInfo(n), d, method)
    return b.getvalue()
def tar_of(*members):
    b = io.BytesIO()
    with tarfile.open(fileobj=b, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for name, data, kind_, to in members:
            i = tarfile.TarInfo(name); i.size = len(data); i.type = kind_; i.linkname = to
            t.addfile(i, io.BytesIO(data))
    return b.getvalue()
def noise(n, seed=b"x"):
    out = b""
    while len(out) < n:
        seed = hashlib.sha256(seed).digest(); out += seed
    return out[:n]
def raw_commit(tree, parents, author=None, committer=None, extra=b"", message=b"add runs\n"):
    who = b"site <site@users.noreply.github.com> %d +0000" % NOW
    return write(b"commit", b"tree " + tree.encode() + b"\n" + b"".join(b"parent %s\n" % p.encode() for p in parents) +
                 b"author " + (author or who) + b"\ncommitter " + (committer or who) + b"\n" + extra + b"\n" + message)
def commit_with(**kw):
    def f(c): return raw_commit(write_tree(c.tree), [MAIN], **kw)
    return f


# 1. The commit itself (git's object model).
W = b"site <site@users.noreply.github.com> %d +0000" % NOW
for n, kw in [("osc-title", dict(message=b"add runs \x1b]0;owned\x07\n")), ("osc-hyperlink", dict(message=b"\x1b]8;;http://x\x1b\\runs\x1b]8;;\x1b\\\n")),
              ("csi-hides-text", dict(message=b"add runs\n\n\x1b[8mhidden\x1b[0m\n")), ("message-of-a-megabyte", dict(message=b"add runs\n\n" + b"word " * 210000)),
              ("message-with-nul", dict(message=b"add runs\n\0hidden\n")), ("message-right-to-left", dict(message="add \u202esnur\n".encode())),
              ("message-latin-1", dict(message=b"caf\xe9 \xff\n")), ("message-carriage-return", dict(message=b"evil\rgood\n")),
              ("message-empty", dict(message=b"")), ("message-with-token", dict(message=b"key " + b"AKIA" + b"QYLPMN5HFIQR7XYA\n")),
              ("message-closes-issues", dict(message=b"add runs\n\nCloses #1\nReviewed-by: Maintainer <m@example.org>\n")),
              ("message-skips-ci", dict(message=b"add runs [skip ci]\n")), ("author-with-escape", dict(author=b"\x1b[31mred <a@b.c> %d +0000" % NOW)),
              ("author-ends-with-osc", dict(author=b"jo\x1b]0;owned\x07 <a@b.c> %d +0000" % NOW)), ("committer-with-return", dict(committer=b"evil\rgood <a@b.c> %d +0000" % NOW)),
              ("author-with-escape-inside", dict(author=b"re\x1b[31md <a@b.c> %d +0000" % NOW)), ("author-without-mail", dict(author=b"jo %d +0000" % NOW)), ("author-time-missing", dict(author=b"jo <a@b.c>")),
              ("author-time-negative", dict(author=b"jo <a@b.c> -5 +0000")), ("author-time-overflow", dict(author=b"jo <a@b.c> 99999999999999999999 +0000")),
              ("author-zone-odd", dict(author=b"jo <a@b.c> %d +9999" % NOW)), ("author-of-another-person", dict(author=b"Linus Torvalds <torvalds@linux-foundation.org> %d +0000" % NOW)),
              ("committer-in-2100", dict(committer=b"jo <a@b.c> 4102444800 +0000")), ("commit-before-its-runs", dict(committer=b"jo <a@b.c> 1000000000 +0000", author=b"jo <a@b.c> 1000000000 +0000")),
              ("commit-signature-of-nobody", dict(extra=b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----\n")),
              ("commit-encoding-utf-7", dict(extra=b"encoding UTF-7\n")), ("commit-unknown-header", dict(extra=b"x-run id\n")),
              ("commit-second-author", dict(extra=b"author eve <e@e.e> 1 +0000\n")), ("commit-second-tree", dict(extra=b"tree " + b"0" * 40 + b"\n"))]:
    row("commit-" + n.removeprefix("commit-"), commit_with(**kw))
row("commit-mail-of-a-person-public", commit_with(author=b"Jane Doe <jane.doe@uni-example.org> %d +0000" % NOW), public=True)
row("commit-mergetag", lambda c: raw_commit(write_tree(c.tree), [MAIN], extra=b"mergetag object " + MAIN.encode() + b"\n type commit\n tag v1\n tagger a <a@b.c> 1 +0000\n \n \x1b]0;x\x07\n"))
row("commit-names-main-twice", lambda c: raw_commit(write_tree(c.tree), [MAIN, MAIN]))
row("commit-parent-is-a-tree", lambda c: raw_commit(write_tree(c.tree), [MAIN, write_tree(c.tree)]))
row("commit-parent-absent", lambda c: raw_commit(write_tree(c.tree), [MAIN, "ab" * 20]))
row("commit-tree-absent", lambda c: raw_commit("cd" * 20, [MAIN]))
row("commit-tree-is-a-blob", lambda c: raw_commit(write(b"blob", b"x"), [MAIN]))
row("commit-two-hundred-empty", lambda c: chain(c, 200))
def chain(c, n):
    tip, t = MAIN, git("rev-parse", "main^{tree}").decode().strip()
    for i in range(n):
        tip = raw_commit(t, [tip], message=b"%d\n" % i)
    return raw_commit(write_tree(c.tree), [tip])

# 2. Modes and objects of trees.
def odd_mode(c, mode, name=None): c.art[b"zz"] = Raw(mode, b"x", name)
rows("mode", odd_mode, ("group-writable", b"100666"), ("set-user-id", b"104755"), ("device", b"060000"), ("fifo", b"010000"), ("socket", b"140000"),
     ("letters", b"10064x"), ("nine-digits", b"000100644"), ("minus", b"-100644"), ("overflow", b"40000100644"), ("submodule", b"160000", MAIN), ("link-to-parent", b"120000"))
row("link-artifacts-folder", lambda c: c.run.update({b"artifacts": Raw(b"120000", b"../../other")}))
row("link-named-readme", lambda c: at_root(c, "README.md", Raw(b"120000", b"/etc/passwd")))
row("tree-empty-folder", lambda c: c.art.update({b"empty": Tree()}))
row("tree-name-with-nul-hash", lambda c: c.art.update({b"x": Raw(b"40000", name=write(b"tree", b"100644 a\0" + b"\0" * 20))}))
row("blob-hash-lies", lambda c: c.art.update({b"x": Raw(b"100644", name=lying_blob())}))
def lying_blob():
    name = hashlib.sha1(b"blob 6\0honest").hexdigest()
    path = os.path.join(REPO, "objects", name[:2], name[2:])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(zlib.compress(b"blob 6\0forged"))
    return name

# 3. Names that a shell, an editor, a builder or a forge acts upon.
def named_file(c, name): artifact(c, name, b"x\n")
rows("name", named_file, ("like-an-option", "-rf"), ("like-upload-pack", "--upload-pack=id"), ("tilde", "~root"), ("substitution", "$(id)"), ("backtick", "`id`"),
     ("separator", "a;id"), ("glob", "*"), ("percent", "%2e%2e%2fx"), ("quote", "a'b"), ("double-quote", 'a"b'), ("angle", "<img>"), ("desktop-ini", "desktop.ini"), ("autorun", "autorun.inf"),
     ("envrc", ".envrc"), ("bashrc", ".bashrc"), ("npmrc", ".npmrc"), ("hidden", ".hidden"), ("pre-commit", ".pre-commit-config.yaml"), ("vscode", ".vscode/tasks.json"),
     ("devcontainer", ".devcontainer/devcontainer.json"), ("workflow-inside", ".github/workflows/x.yml"), ("conftest", "conftest.py"), ("sitecustomize", "sitecustomize.py"),
     ("pth", "evil.pth"), ("setup-py", "setup.py"), ("pytest-ini", "pytest.ini"), ("makefile", "Makefile"), ("cmake", "CMakeLists.txt"), ("package-json", "package.json"),
     ("dockerfile", "Dockerfile"), ("jenkinsfile", "Jenkinsfile"), ("gdbinit", ".gdbinit"), ("vimrc", ".exrc"), ("jekyll", "_config.yml"), ("mlproject", "MLproject"), ("lnk", "x.lnk"))
row("root-envrc", lambda c: at_root(c, ".envrc", b"id\n"))
row("root-makefile", lambda c: at_root(c, "Makefile", b"all:\n\tid\n"))
row("root-conftest", lambda c: at_root(c, "conftest.py", b"import os\n"))
row("root-benchwrap-program", lambda c: at_root(c, "bin/benchwrap", Raw(b"100755", b"#!/bin/sh\necho nothing found\n")))
row("root-summary-link", lambda c: at_root(c, "summary.md", Raw(b"120000", b"../../.bashrc")))
row("root-reference-file", lambda c: at_root(c, "references.yaml", b"x: 1\n"))
row("trash-of-mlflow", lambda c: at_root(c, "mlruns/.trash/%s/meta.yaml" % c.exp.decode(), c.folder[b"meta.yaml"]))
row("registry-of-mlflow", lambda c: at_root(c, "mlruns/models/m/meta.yaml", b"name: m\n"))
row("dataset-of-mlflow", lambda c: c.folder.update({b"datasets": Tree({b"0" * 32: Tree({b"meta.yaml": b"digest: x\n"})})}))
row("inputs-of-mlflow", lambda c: c.run.update({b"inputs": Tree({b"0" * 32: Tree({b"meta.yaml": b"x: y\n"})})}))
row("outputs-of-mlflow", lambda c: c.run.update({b"outputs": Tree({b"m-1": Tree({b"meta.yaml": b"x: y\n"})})}))
row("trace-of-mlflow", lambda c: c.folder.update({b"traces": Tree({b"t": Tree({b"trace_info.yaml": b"x: y\n"})})}))

# 4. Files that run, unpack or hide something.
NPY = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
rows("file", lambda c, name, data: artifact(c, name, data), ("script-without-suffix", "result", b"#!/bin/sh\nid\n"), ("script-python", "plot.py", b"import os; os.system('id')\n"),
     ("script-powershell", "x.ps1", b"iex 'id'\n"), ("script-batch", "x.bat", b"@echo off\r\ncalc\r\n"), ("macho", "blob1", b"\xcf\xfa\xed\xfe" + bytes(40)), ("windows-program", "blob2", b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + bytes(40)),
     ("java-class", "blob3", b"\xca\xfe\xba\xbe\0\0\0\x34" + bytes(20)), ("wasm", "blob4", b"\0asm\1\0\0\0"), ("npy-objects", "data1", NPY + pickle.dumps([os.getcwd], 2)),
     ("npz-objects", "data2", zip_of(("arr_0.npy", NPY + pickle.dumps([1], 2)))), ("pickle-4", "data3", pickle.dumps({"a": os.getcwd}, 4)), ("pickle-0", "data4", pickle.dumps({"a": os.getcwd}, 0)),
     ("torch", "data5", zip_of(("archive/data.pkl", pickle.dumps(os.getcwd, 2)))), ("pdf-javascript", "report.pdf", b"%PDF-1.4\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\n%%EOF\n"),
     ("pdf-launch", "r2.pdf", b"%PDF-1.4\n1 0 obj<</OpenAction<</S/Launch/F(calc.exe)>>>>endobj\n%%EOF\n"), ("pdf-javascript-escaped", "r3.pdf", b"%PDF-1.4\n1 0 obj<</OpenAction<</S/J#61vaScript/JS(1)>>>>endobj\n%%EOF\n"),
     ("xml-stylesheet", "r.xml", b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="http://x/y.xsl"?><r/>'), ("xml-entity", "e.xml", b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'),
     ("xslt", "s.xsl", b'<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"/>'), ("svg-as-text", "plot.txt", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
     ("html-as-log", "out.log", b"<!DOCTYPE html><html><script src=http://x></script></html>"), ("csv-formula", "t.csv", b"a,b\n=cmd|'/C calc'!A0,1\n"), ("office-macro", "t.xlsm", zip_of(("xl/vbaProject.bin", b"x"))),
     ("markdown-remote-image", "n.md", b"![x](https://tracker.example/x.png)\n"), ("markdown-javascript-link", "l.md", b"[x](javascript:alert(1))\n"),
     ("high-entropy", "core.bin", noise(65536)), ("high-entropy-base64", "core.txt", base64.encodebytes(noise(49152))), ("gzip-in-gzip", "g.gz", gzip.compress(gzip.compress(b"key " + TOKEN))),
     ("zip-in-zip", "z.zip", zip_of(("in.zip", zip_of(("k.txt", TOKEN))))), ("tar-in-gzip-in-zip", "z2.zip", zip_of(("in.tgz", gzip.compress(tar_of(("k.txt", TOKEN, tarfile.REGTYPE, "")))))),
     ("zip-climbs", "z3.zip", zip_of(("../../.bashrc", b"id\n"))), ("tar-link", "t.tar", tar_of(("etc", b"", tarfile.SYMTYPE, "/etc"))), ("tar-device", "t2.tar", tar_of(("d", b"", tarfile.CHRTYPE, ""))),
     ("zip-bomb", "z4.zip", zip_of(("zeros", bytes(200 << 20)))), ("gzip-bomb", "g4.gz", gzip.compress(bytes(200 << 20))), ("xz", "x.xz", lzma.compress(TOKEN)), ("bzip2", "x.bz2", bz2.compress(TOKEN)),
     ("zstd", "x.zst", b"\x28\xb5\x2f\xfd\x04\x00" + bytes(20)), ("7z", "x.7z", b"7z\xbc\xaf\x27\x1c" + bytes(30)), ("rar", "x.rar", b"Rar!\x1a\x07\x01\0" + bytes(20)), ("ar", "x.a", b"!<arch>\n" + bytes(60)),
     ("cpio", "x.cpio", b"070701" + b"0" * 104), ("sqlite", "x.db", b"SQLite format 3\0" + bytes(84)), ("polyglot-png-zip", "p.png", b"\x89PNG\r\n\x1a\n" + bytes(30) + zip_of(("k", TOKEN))),
     ("gzip-tail", "g5.gz", gzip.compress(b"x") + TOKEN), ("zip-comment", "z5.zip", zip_of(("a", b"x"))[:-2] + struct.pack("<H", len(TOKEN)) + TOKEN), ("git-bundle", "x.bundle", b"# v2 git bundle\n" + b"0" * 40 + b" refs/heads/x\n\nPACK"),
     ("jupyter", "x.ipynb", b'{"cells":[{"cell_type":"code","outputs":[{"output_type":"display_data","data":{"text/html":"<script>1</script>"}}],"source":"!id","metadata":{}}],"nbformat":4,"nbformat_minor":5,"metadata":{}}'),
     ("hdf5", "x.h5", b"\x89HDF\r\n\x1a\n" + bytes(90)))

# 5. The record against itself.
K = "write.bw_MiB_per_s.max"
def start_of(c): return int(re.search(rb"start_time: (\d+)", c.run[b"meta.yaml"])[1])
def end_of(c): return int(re.search(rb"end_time: (\d+)", c.run[b"meta.yaml"])[1])
def both_times(c, start, end):
    c.run[b"meta.yaml"] = re.sub(rb"start_time: \d+", b"start_time: %d" % start, re.sub(rb"end_time: \d+", b"end_time: %d" % end, c.run[b"meta.yaml"]))
    c.record(lambda j: j["run"].update(start_ms=start, end_ms=end))
row("time-wall-ten-times-shorter", lambda c: both_times(c, start_of(c), start_of(c) + 600000))
row("time-wall-days-longer-than-the-run", lambda c: c.value("run.wall_s", claimed(c, "run.wall_s"), b"360000"))
row("time-wall-longer-than-the-run", lambda c: c.value("run.wall_s", claimed(c, "run.wall_s"), b"3600"))
row("time-user-longer-than-all-cpus", lambda c: c.value("run.user_s", claimed(c, "run.user_s"), b"86400"))
row("time-start-1970", lambda c: both_times(c, 1, 1000))
row("time-start-after-end", lambda c: both_times(c, end_of(c) + 5000, end_of(c)))
row("time-run-lasts-a-century", lambda c: both_times(c, 1, end_of(c)))
row("time-start-tomorrow", lambda c: both_times(c, NOW * 1000 + 86400000, NOW * 1000 + 86401000))
row("time-meta-differs-from-record", lambda c: c.meta(rb"end_time: (\d+)", lambda m: b"end_time: %d" % (int(m[1]) + 1)))
row("time-sample-before-start", lambda c: metric_text(c, "run.wall_s", re.sub(rb"^\d+", b"1000", c.run[b"metrics"][b"run.wall_s"])))
rows("number", lambda c, t: metric_text(c, "run.user_s", t), ("hexadecimal", b"%d 0x10 0\n" % (NOW * 1000)), ("plus", b"%d +5 0\n" % (NOW * 1000)), ("underscore", b"%d 1_000 0\n" % (NOW * 1000)),
     ("infinite", b"%d 1e999 0\n" % (NOW * 1000)), ("crlf", b"%d 5 0\r\n" % (NOW * 1000)), ("tab", b"%d\t5\t0\n" % (NOW * 1000)), ("four-fields", b"%d 5 0 0\n" % (NOW * 1000)),
     ("two-fields", b"%d 5\n" % (NOW * 1000)), ("other-digits", "1 \u0665 0\n".encode()), ("empty-line", b"%d 5 0\n\n" % (NOW * 1000)), ("no-newline", b"%d 5 0" % (NOW * 1000)), ("negative-time", b"-5 5 0\n"),
     ("time-fraction", b"1.5 5 0\n"), ("step-overflow", b"%d 5 99999999999999999999\n" % (NOW * 1000)), ("same-times", b"%d 5 0\n%d 6 0\n" % (NOW * 1000, NOW * 1000)), ("empty", b""))
row("metric-in-record-only", lambda c: c.record(lambda j: j["metrics"].update({"x.bw_MiB_per_s": dict(value=1, unit="MiB_per_s", direction="higher", source="rule:ior:results", samples=1)})))
row("metric-in-tree-only", lambda c: metric_text(c, "x.bw_MiB_per_s", b"%d 5 0\n" % (NOW * 1000)))
row("metric-count-wrong", lambda c: member(c, ["metrics", K, "samples"], 7))
row("metric-unit-unknown", lambda c: measure(c, "x.rate", b"5", "parsecs", "higher"))
row("metric-of-sacct", lambda c: measure(c, "job.energy_J", b"1", "J", "lower", "sacct"))
row("metric-of-sacct-of-any-name", lambda c: measure(c, "bonus.bw_MiB_per_s", b"99999", "MiB_per_s", "higher", "sacct"))
row("metric-of-a-series-in-a-plain-run", lambda c: measure(c, "bonus.bw_MiB_per_s.median", b"99999", "MiB_per_s", "higher", "series"))
row("metric-of-a-probe-unknown", lambda c: measure(c, "bonus.bw_MiB_per_s", b"99999", "MiB_per_s", "higher", "probe:magic"))
row("metric-of-a-rule-of-another-benchmark", lambda c: measure(c, "bonus.gflops_GFLOP_per_s", b"99999", "GFLOP_per_s", "higher", "rule:hpl:results"))
row("metric-beyond-a-bound-of-another-benchmark", lambda c: measure(c, "bonus.bw_MB_per_s", b"1e15", "MB_per_s", "higher"))
row("metric-changed-and-said-logged", lambda c: (c.value(K, claimed(c, K), b"99999"), member(c, ["metrics", K, "source"], "log")))
row("metric-of-reference-better", lambda c: c.value("run.overhead_s", claimed(c, "run.overhead_s"), b"0"))
row("metric-rss-of-nothing", lambda c: c.value("run.max_rss_MiB", claimed(c, "run.max_rss_MiB"), b"0.001"))
row("param-user-names-a-probe", lambda c: param(c, "cpu.model", "Faster CPU", "option"))
row("param-probe-other-value", lambda c: param(c, "cpu.model", "Faster CPU", "probe:cpu"))
row("param-of-6001-characters", lambda c: param(c, "long", "x" * 6001))
row("param-empty", lambda c: param(c, "nothing", ""))
row("param-key-doubled-slash", lambda c: c.run[b"params"].update({b"a": Tree({b"": b"x"})}))
row("param-key-of-251", lambda c: param(c, "k" * 251, "x"))
row("param-differs-from-record", lambda c: (c.run[b"params"].update({b"cpu.model": b"Other"}), c.manifest()))
row("param-cores-more-than-sockets-allow", lambda c: param(c, "cpu.cores", "100000", "probe:cpu"))
row("tag-of-8001-characters", lambda c: tag(c, "long", "x" * 8001, "option"))
row("tag-site-empty", lambda c: tag(c, "site", "", "option"))
row("tag-site-cyrillic", lambda c: tag(c, "site", "uni-\u0430", "option"))
row("tag-site-trailing-blank", lambda c: tag(c, "site", "a.example ", "option"))
row("tag-site-slash", lambda c: tag(c, "site", "a/../b", "option"))
row("tag-user-of-another", lambda c: tag(c, "mlflow.user", "root"))
row("tag-version-to-come", lambda c: tag(c, "benchwrap.version", "99.0.0"))
row("tag-version-no-version", lambda c: tag(c, "benchwrap.version", "<b>1</b>"))
row("record-generator-to-come", lambda c: member(c, ["generator"], "benchwrap 99.0.0"))
row("record-generator-foreign", lambda c: member(c, ["generator"], "otherwrap 1.0"))
row("record-format-2", lambda c: member(c, ["format"], 2))
row("record-format-text", lambda c: member(c, ["format"], "1"))
row("record-format-1.5", lambda c: member(c, ["format"], 1.5))
row("manifest-format-2", lambda c: c.art.update({b"manifest.json": c.art[b"manifest.json"].replace(b'"format": 1', b'"format": 2')}))
row("note-remote-image", lambda c: tag(c, "mlflow.note.content", "![x](http://tracker.example/x.png)", "option"))
row("note-remote-image-html", lambda c: tag(c, "mlflow.note.content", "<img src=//tracker.example/x>", "option"))
row("note-reference-image", lambda c: tag(c, "mlflow.note.content", "![x][r]\n\n[r]: https://tracker.example/x.png", "option"))
row("tag-profile-private-in-public", lambda c: tag(c, "benchwrap.profile", "private"), public=True)
row("parent-of-another-site", lambda c: (of_published(c, "b.example"), tag(c, "mlflow.parentRunId", SITED.decode())))
row("verdict-pass-status-failed", lambda c: (c.meta(rb"status: 3", rb"status: 4"), member(c, ["run", "status"], "FAILED")))
row("status-killed-with-exit-0", lambda c: (c.meta(rb"status: 3", rb"status: 5"), member(c, ["run", "status"], "KILLED")))
row("argv-of-another-program", lambda c: member(c, ["run", "argv"], ["hpl"]))
row("argv-empty", lambda c: member(c, ["run", "argv"], []))
row("argv-with-escape", lambda c: member(c, ["run", "argv"], ["ior", "\u001b]0;x\u0007"]))
row("json-key-twice", lambda c: (c.art.update({b"benchwrap.json": c.art[b"benchwrap.json"].replace(b'"format": 1', b'"format": 1, "format": 1', 1)}), c.manifest()))
row("json-tail", lambda c: (c.art.update({b"benchwrap.json": c.art[b"benchwrap.json"] + b"\n{}"}), c.manifest()))
row("json-comment", lambda c: (c.art.update({b"benchwrap.json": b"/* x */" + c.art[b"benchwrap.json"]}), c.manifest()))
row("json-deep", lambda c: (c.art.update({b"benchwrap.json": b"[" * 100000 + b"]" * 100000}), c.manifest()))
row("json-nan", lambda c: (c.art.update({b"benchwrap.json": re.sub(rb'"samples": \d+', b'"samples": NaN', c.art[b"benchwrap.json"], count=1)}), c.manifest()))
row("json-huge-number", lambda c: (c.art.update({b"benchwrap.json": re.sub(rb'"start_ms": \d+', b'"start_ms": 1e400', c.art[b"benchwrap.json"], count=1)}), c.manifest()))
row("json-unknown-member", lambda c: member(c, ["extra"], {"x": 1}))
row("json-lone-surrogate", lambda c: (c.art.update({b"benchwrap.json": c.art[b"benchwrap.json"].replace(b'"reason": "', b'"reason": "\\ud800', 1)}), c.manifest()))
def remanifest(c, change):
    j = json.loads(c.art[b"manifest.json"]); change(j); c.art[b"manifest.json"] = json.dumps(j).encode()
rows("manifest", remanifest, ("upper-case", lambda j: j["files"][0].update(sha256=j["files"][0]["sha256"].upper())), ("file-twice", lambda j: j["files"].append(dict(j["files"][0]))),
     ("lists-itself", lambda j: j["files"].append({"path": "artifacts/manifest.json", "size": 1, "sha256": "0" * 64})), ("climbs", lambda j: j["files"].append({"path": "../x", "size": 1, "sha256": "0" * 64})),
     ("size-text", lambda j: j["files"][0].update(size=str(j["files"][0]["size"]))), ("size-fraction", lambda j: j["files"][0].update(size=j["files"][0]["size"] + .5)), ("without-a-file", lambda j: j["files"].pop()),
     ("other-run", lambda j: j.update(run_id="0" * 32)), ("no-files", lambda j: j.update(files=[])), ("member-unknown", lambda j: j.update(extra=1)))

def delete_param(c, key): del c.run[b"params"][key.encode()]; c.record(lambda j: j["params"].pop(key))
row("truth-param-deleted", lambda c: delete_param(c, "tasks"))
row("truth-public-param-altered", lambda c: (tag(c, "benchwrap.profile", "public"), param(c, "tasks", "1", "option")))
row("truth-public-tag-altered", lambda c: (tag(c, "benchwrap.profile", "public"), tag(c, "benchmark.version", "9.9", "option")))

# 6. Secrets and identities.
rows("secret", note, ("stripe", b"sk_live_" + b"4eC39HqLyjWDarjtT1zdp7dc"), ("slack-webhook", b"https://hooks.slack.com/services/" + b"T0A1B2C3D/B0A1B2C3D/aBcDeFgHiJkLmNoPqRsTuVwX"), ("npm", b"//registry.example/:_authToken=npm_" + b"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"),
     ("gitlab", b"glpat-" + b"aB3dE5gH7jK9mN1pQ3sT"), ("google", b"AIza" + b"SyD4iE2xVSpkLLOXoyqT5uFkLMz9aBcDeFg"), ("huggingface", b"hf_" + b"aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"), ("netrc", b"machine example.org login jo password Tr0ub4dor3x"),
     ("docker-auth", b'{"auths":{"r.example":{"auth":"' + base64.b64encode(b"jo:Tr0ub4dor3x") + b'"}}}'), ("shadow", b"root:$6$abcdefgh$" + b"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5aB3dE5gH7jK9.:19000:0:99999:7:::"),
     ("pgp", b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----"), ("split-over-lines", b"ghp_\\\n" + TOKEN[4:]), ("reversed", TOKEN[::-1]), ("in-two-files", TOKEN[:20]), ("rot13", b"tuc_0123456789nopqrstuvwNOPQRSTUVW012345"))
rows("identity", note, ("ipv4", b"peer 141.30.12.7 answered"), ("ipv6", b"peer 2a00:1450:4001:81b::200e answered"), ("mac", b"ether 3c:ec:ef:12:34:56"), ("guid", b"node_guid: 0x043f720300f6a2b8"), ("serial", b"Serial Number: S4EWNX0R512345"),
     ("windows-home", b"C:\\Users\\jdoe\\bench"), ("cisco-mac", b"ether 3cec.ef12.3456"), ("wwn", b"disk wwn-0x5000c500a1b2c3d4"), ("windows-home-json", b'{"dir": "C:\\\\Users\\\\jdoe\\\\bench"}'), ("mail", b"by jane.doe@uni-example.org"), ("phone", b"call +49 351 463 00000"), ("person", b"run by Jane Doe, room 3.14"), ("host", b"connected to login7.hpc.uni-example.org"), public=True)


RANKS = ["passed", "noted", "warned", "refused"]  # a stronger outcome than the table's is no failure


def findings(tip, public):
    git("update-ref", "refs/heads/forged", MAIN)
    with open(os.path.join(REPO, "refs/heads/forged"), "w") as r:
        r.write(tip + "\n")
    p = subprocess.run([BENCHWRAP, "check", "--json", *(["--public"] if public else []), "--range", "main..forged", REPO], capture_output=True, timeout=ENDS_S)
    try:
        return False, [(x["severity"], x["finding"], x["text"], x["path"]) for x in json.loads(p.stdout)["findings"]]
    except ValueError:
        return True, [("error", "stopped", p.stderr.decode(errors="replace"), "")]


def run_all():
    table = {}
    for line in open(sys.argv[2], encoding="utf-8") if os.path.exists(sys.argv[2]) else []:
        if line.strip() and not line.startswith("#"):
            name, outcome, finding, why = line.rstrip("\n").split("\t")
            table[name] = outcome, finding, why
    writes, bad, n = os.environ.get("BENCHWRAP_FORGE_WRITE"), [], 0
    only = set(sys.argv[3:])
    every = 1 if os.environ.get("BENCHWRAP_LONG") or only or writes else 12
    honest = {x[1:] for x in findings(commit(write_tree(Case().tree), MAIN), True)[1]}  # of the private run in a public repository: not the forger's
    for i, (name, f, public, run) in enumerate(ROWS):
        if name not in only if only else i % every:
            continue
        c = Case()
        tip = f(c)
        if not isinstance(tip, str):
            tip = commit(write_tree(c.tree), MAIN)
        stopped, found = findings(tip, public)
        found = [x for x in found if not public or x[1:] not in honest]
        news = [x for x in found if x[1] not in ("claimed",)] if not name.startswith(("metric-", "time-")) else found
        outcome = "refused" if stopped or any(x[0] == "error" for x in found) else "warned" if any(x[0] == "warning" for x in found) else "noted" if name.startswith("metric-") and found else "passed"
        n += 1
        if writes:
            first = next((x for x in news if x[0] == "error"), next((x for x in news if x[0] == "warning"), news[0] if outcome == "noted" else None))
            print("\t".join((name, outcome, first[1] if first else "-", table.get(name, ("", "", ""))[2] or "-")), "\t# " + first[2] if first and writes == "2" else "", sep="")
        elif name not in table:
            bad.append("%s: not in the table" % name)
        elif RANKS.index(outcome) < RANKS.index(table[name][0]) or (outcome == table[name][0] and table[name][1] != "-" and all(x[1] != table[name][1] for x in found)):
            bad.append("%s: expected %s by %s, got %s by %s" % (name, *table[name][:2], outcome, ", ".join(sorted({x[1] for x in found}))))
        if bad and FIRST:
            break
    git("update-ref", "-d", "refs/heads/forged")
    if writes:
        return
    for line in bad:
        print("# " + line)
    print("%d of %d as the table says" % (n - len(bad), n))
    sys.exit(bool(bad))


assert len({r[0] for r in ROWS}) == len(ROWS)
if __name__ == "__main__":
    run_all()
