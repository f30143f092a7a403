"""screens.py TREE EXPECTED: what commands print about stored runs, on terminals of several widths and elsewhere.

Each command's output is compared with EXPECTED/NAME.txt, but for `benchmarks`. UPDATE=1 writes these files anew. Whatever they contain, these must hold:
no line is wider than the terminal, no value or verdict of the widest output is missing at 80 columns, only a terminal with colours
gets escape sequences, and each id of a run that is shown can be typed. Prints one TAP line (without number) for each check.
"""
import ast, os, re, subprocess, sys, unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
ON_PTY = os.path.join(HERE, "..", "lib", "on-pty.py")
TREE, EXPECTED = sys.argv[1:3]
PROGRAM = os.environ["BENCHWRAP"]
WIDTHS = [60, 80, 120, 200]
CODE = re.compile(r"\033\[([0-9]*)m")
STYLES = {"0": "</>", "1": "<bold>", "2": "<dim>", "31": "<red>", "32": "<green>", "33": "<yellow>"}
COMMANDS = {
    "ls": ["ls"],
    "ls-experiment": ["ls", "-e", "sysbench"],
    "ls-children": ["show", "--children", "1bb75701"],
    "show": ["show", "ada13ba9"],
    "show-all": ["show", "--all", "ada13ba9"],
    "show-failed": ["show", "6e222d2e"],
    "show-no-metrics": ["show", "0d8d52a5"],
    "show-repetitions": ["show", "683ff38b"],
    "show-sweep": ["show", "1bb75701"],
    "compare": ["compare", "87e4bbe8", "ada13ba9"],
    "compare-groups": ["compare", "84dfc94e,770cfce1,53881344", "vs", "6cd7c9d5,9c3b0fc4,d9b21a11"],
    "compare-by": ["compare", "--by", "bs", "-e", "fio"],
    "compare-three": ["compare", "--by", "block_size_B", "-e", "fio"],
    "compare-history": ["compare", "--history", "d9b21a11"],
    "compare-history-few": ["compare", "--history", "ada13ba9"],
    "benchmarks": ["benchmarks"],
    "benchmarks-fio": ["benchmarks", "fio"],
}
# Lists of facts and texts.
WITHOUT_VALUES = {"show-all", "benchmarks", "benchmarks-fio"}

failed = False


def check(name, problem):
    global failed
    failed |= bool(problem)
    print("%s - %s" % ("not ok" if problem else "ok", name))
    if problem:
        print("\n".join("#   " + line for line in problem.split("\n")[:30]), file=sys.stderr)


def environment(**more):
    keep = {k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}
    return dict(keep, TZ="UTC", LC_ALL="C.UTF-8", TERM="xterm", BENCHWRAP_TREE=TREE, **more)


def on_terminal(arguments, width, **more):
    done = subprocess.run([sys.executable, ON_PTY, "size 24 %d" % width, "--", PROGRAM] + arguments, env=dict(environment(), **more),
                          stdout=subprocess.PIPE, timeout=120)
    for line in done.stdout.decode().split("\n"):
        if line.startswith("shown: "):
            return ast.literal_eval(line[len("shown: "):]).decode().replace("\r\n", "\n")
    return "nothing was shown: " + done.stdout.decode()


def in_pipe(arguments, **more):
    done = subprocess.run([PROGRAM] + arguments, env=dict(environment(), **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.stdout.decode()


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def results(text):
    """Numbers and verdicts, without times of day, dates and the footer's counts."""
    text = re.sub(r"\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?|\b[0-9a-f]{8}\b", " ", text)
    words = re.findall(r"better|worse|no difference|no change|regression|improvement|too few|FAILED|KILLED|best|(?<![\w.])[-+]?\d[\d.]*", text)
    return {word.rstrip(".") for word in words}


def context(name, width, text):
    """The text without what a narrow screen leaves out by design: wall times of a list, and intervals whose verdict stays."""
    if width == 60 and name.startswith("ls"):
        text = re.sub(r"[\d.]+ (ms|s)$", "", text, flags=re.M)
    if width == 60 and name.startswith("compare"):
        text = re.sub(r"\S+ … \S+( [%x])?", "", text)
    return text


def ids_problem(text):
    bad = []
    for short in sorted(set(re.findall(r"\b[0-9a-f]{8}\b", text))):
        found = subprocess.run([PROGRAM, "show", short, "--json"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if re.search("[a-f]", short) and (found.returncode or ('"id": "%s' % short).encode() not in found.stdout):
            bad.append("%s: %s" % (short, found.stderr.decode().strip()))
    return "\n".join(bad)


for name, arguments in COMMANDS.items():
    shown = {width: on_terminal(arguments, width) for width in WIDTHS}
    plain = {width: CODE.sub("", text) for width, text in shown.items()}
    pipe = in_pipe(arguments)
    sections = ["== %d columns ==\n%s" % (w, plain[w]) for w in WIDTHS]
    sections.append("== pipe ==\n" + pipe)
    sections.append("== 80 columns, styles ==\n" + CODE.sub(lambda m: STYLES.get(m[1], "<?%s>" % m[1]), shown[80]))
    text = "$ benchwrap %s\n%s" % (" ".join(arguments), "".join(sections))
    path = os.path.join(EXPECTED, name + ".txt")
    if name.startswith("benchmarks"):
        pass  # the catalogue grows; only the form is tested
    elif os.environ.get("UPDATE"):
        with open(path, "w") as f:
            f.write(text)
    else:
        was = open(path).read() if os.path.exists(path) else ""
        lines = [(a, b) for a, b in zip(was.split("\n"), text.split("\n")) if a != b]
        check("%s: as expected" % name, "" if was == text else
              "expected: %s\ngot:      %s" % lines[0] if lines else "it has another number of lines; UPDATE=1 writes %s anew" % path)
    wide = ["%d columns: %s" % (w, line) for w in WIDTHS for line in plain[w].split("\n")
            if columns(line) > w and max(map(len, line.split())) < w - 14 and not line.startswith("benchwrap: ")] # a word is never broken
    check("%s: no line is wider than the terminal" % name, "\n".join(wide))
    lost = {} if name in WITHOUT_VALUES else {w: results(context(name, w, plain[200])) - results(plain[w]) for w in (60, 80)}
    check("%s: no value and no verdict is lost" % name, "\n".join("%d columns: %s" % (w, " ".join(sorted(v))) for w, v in lost.items() if v))
    check("%s: a pipe, NO_COLOR and a dumb terminal get no escape sequence" % name, "\n".join(
        "%s: %r" % (what, text) for what, text, same in (
            ("pipe", pipe, pipe), ("NO_COLOR", on_terminal(arguments, 80, NO_COLOR="1"), plain[80]),
            ("dumb", on_terminal(arguments, 80, TERM="dumb"), plain[80])) if "\033" in text or text != same))
    if not name.startswith("benchmarks"):
        check("%s: each id can be typed" % name, ids_problem("".join(plain.values()) + pipe))
sys.exit(failed)
