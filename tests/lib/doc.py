"""doc.py: the shell blocks of a page, and whether an output has the form that the page shows.

doc.py blocks PAGE FOLDER [SECTION]: each fenced block into FOLDER/NN.KIND; a console block into NN-M.command and NN-M.sample. SECTION: the text of one heading.
doc.py form SAMPLE OUTPUT: status 0 where the output has the sample's form; else prints what differs. Numbers, ids and times may differ; lines of a table may be left
out where "…" stands.
doc.py places COMMAND FROM TO …: the command with each text FROM replaced by TO, whatever characters they hold; an empty FROM or TO replaces nothing."""
import os, re, sys


def blocks(page, folder, section=None):
    text = open(page).read()
    if section:
        m = re.search(r"^(#+) %s$(.*?)(?=^#{1,%d} |\Z)" % (re.escape(section), 2), text, re.M | re.S)
        if not m:
            sys.exit("no section \"%s\" in %s" % (section, page))
        text = m.group(2)
    for n, m in enumerate(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)):
        kind, body = m.group(1), m.group(2)
        if kind != "console":
            open(os.path.join(folder, f"{n:02}.{kind}"), "w").write(body)
            continue
        for k, part in enumerate(re.split(r"^\$ ", body, flags=re.M)[1:]):
            command, _, sample = part.partition("\n")
            open(os.path.join(folder, f"{n:02}-{k:02}.command"), "w").write(command + "\n")
            open(os.path.join(folder, f"{n:02}-{k:02}.sample"), "w").write(sample)


def form_of(text):
    lines = []
    for l in text.splitlines():
        l = re.sub(r"^benchwrap: ?", "", l) # once on a terminal, before each line elsewhere
        if re.match(r"B against A: | {13}\S", l): # the answer: which values differ is chance here
            l = "ANSWER"
            if lines and lines[-1] == l:
                continue
        if l.startswith("remote: "): # git's other side
            continue
        if re.match(r"\s*(benchwrap: )?\s*! (?!not sent)|.*repetitions? disturbed|.*disturbed: ", l): # what a busy machine adds
            continue
        l = re.sub(r"\s+usual: .*", "", l)
        l = re.sub(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{8}\b", "ID", l)
        l = re.sub(r"(https?|file)://[\w.:/-]+", "URL", l)
        l = re.sub(r"[█▏▎▍▌▋▊▉]+", "", l)
        l = re.sub(r"\b(better|worse|no difference|same|different|too few|too varied|uncertain)\b", "VERDICT", l)
        l = re.sub(r"\b(higher|lower)\b", "MOVED", l)
        l = re.sub(r"[-+]?\d+/\d+|[-+]?\d+(\.\d+)?(e[-+]\d+)?", "N", l)
        l = re.sub(r"\bN (ns|us|ms|s|min|h)\b", "N TIME", l)
        l = re.sub(r"(N …|…) ?N( x| %)?|N ?x|N %|N times", "N", l)
        l = re.sub(r"(\s-)+(?=\s|$)", " N", l)
        l = re.sub(r"\s+", " ", l).strip()
        l = re.sub(r"( N)+", " N", l)
        if l:
            lines.append(l)
    return lines


def form(sample, output):
    want, got = form_of(open(sample).read()), form_of(open(output).read())
    pattern = "\n".join(r"(?:.*\n)*?.*" if w in ("…", "...") else re.escape(w) for w in want)
    if not re.fullmatch(pattern, "\n".join(got)):
        sys.exit("\n".join(["sample:", *want, "output:", *got]))


def places(command, *pairs):
    to = {a: b for a, b in zip(pairs[::2], pairs[1::2]) if a and b}
    text = open(command).read()
    print(re.sub("|".join(map(re.escape, sorted(to, key=len, reverse=True))), lambda m: to[m[0]], text) if to else text, end="")


{"blocks": blocks, "form": form, "places": places}[sys.argv[1]](*sys.argv[2:])
