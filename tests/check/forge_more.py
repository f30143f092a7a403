"""forge_more.py REPO: more forged and malicious pull requests, by the means of forge.py: what a second reviewer thought of. Same arguments, same output."""
import forge
from forge import *

CASES.clear()
forge.EACH *= 2 if forge.EACH > 1 else 1  # the first set is the broader one
FAKE = "f" * 32


def tag(c, name, value, source="recorder"):
    tagged(c, name, value, source)
def drop_tag(c, name):
    c.run[b"tags"].pop(name.encode(), None)
    c.record(lambda j: j["tags"].pop(name, None))
def param(c, name, value, source="option"):
    c.run[b"params"][name.encode()] = value.encode()
    c.record(lambda j: j["params"].update({name: {"value": value, "source": source}}))
def measure(c, name, value, unit="", direction="", source="log", **more):
    c.run[b"metrics"][name.encode()] = b"%d %s 0\n" % (NOW * 1000, value)
    c.record(lambda j: j["metrics"].update({name: dict(value=float(value), unit=unit, direction=direction, source=source, samples=1, **more)}))
def drop_metric(c, name):
    del c.run[b"metrics"][name.encode()]
    c.record(lambda j: j["metrics"].pop(name))
def artifact(c, name, data, told=True):
    *way, last = name.encode().split(b"/")
    at = c.art
    for step in way:
        at = at.setdefault(step, Tree())
    at[last] = data
    c.record(lambda j: j["artifacts"].append({"path": name, "source": "files"}) if told else None)
def drop_artifact(c, name):
    del c.art[name.encode()]
    c.record(lambda j: j.update(artifacts=[a for a in j["artifacts"] if a["path"] != name]))
def verdict(c, word, reason=""):
    c.run[b"tags"][b"benchwrap.verdict"] = word.encode()
    c.record(lambda j: (j["verdict"].update(word=word, reason=reason), j["tags"]["benchwrap.verdict"].update(value=word)))
def without_rules(c, source):
    """The claims as they are, said to come from somebody else."""
    drop_artifact(c, "rules.yaml")
    verdict(c, "none")

    def change(j):
        for kind_ in ("metrics", "params", "tags"):
            for v in j[kind_].values():
                if v["source"].startswith("rule"):
                    v["source"] = source
    c.record(change)


# ---- names ----
def named(name, text, word="name"):
    def f(c): c.art[text if isinstance(text, bytes) else text.encode()] = b"x"
    f.__name__ = "has_" + name
    kind(word)(f)


for n, t in [("a_blank_at_the_end", "x "), ("a_blank_before", " x"), ("attributes", ".gitattributes"), ("a_mailmap", ".MailMap"), ("the_short_name_of_modules", "gi7eba~1"), ("the_fourth_short_name_of_modules", "GITMOD~4"),
             ("the_short_name_of_attributes", "gi7d29~9"), ("the_short_name_of_a_mailmap", "maba30~1"), ("the_short_name_of_ignore", "gi250a~1"),
             ("git_with_dots", ".git. . ."), ("git_in_wide_letters_for_mac", ".g\u200bi\ufefft"), ("parts_of_a_letter", "cafe\u0301"), ("a_device_of_another_digit", "com\u00b9.txt"), ("a_clock", "CLOCK$"),
             ("a_zero_width_joiner", "a\u200db"), ("an_override_of_the_direction", "a\u2066b"), ("a_line_separator", "a\u2028b"), ("a_private_character", "a\ue000b"), ("a_surrogate", b"a\xed\xa0\x80b"),
             ("an_overlong_slash", b"..\xc0\xafx"), ("a_delete", b"a\x7f"), ("a_mark_of_order", "\ufeffx"), ("a_hangul_filler", "a\u3164"), ("a_blank_of_another_width", "a\u00a0b"), ("parts_of_hangul", "\u1112\u1161\u11ab")]:
    named(n, t)


def alike(name, one, other):
    def f(c): artifact(c, one, b"x"); artifact(c, other, b"y")
    f.__name__ = "has_names_alike_" + name
    kind("name-case")(f)


for n, a, b in [("of_z", "\u017d", "\u017e"), ("of_l", "\u0139", "\u013a"), ("of_s", "\u017fx", "sx"), ("of_sharp_s", "stra\u00dfe", "STRASSE"), ("of_sigma", "\u03c3", "\u03c2"), ("of_micro", "\u00b5", "\u03bc"),
                ("of_armenian", "\u0531", "\u0561"), ("of_vietnamese", "\u1ea0", "\u1ea1"), ("of_wide_letters", "\uff21", "\uff41"), ("of_ligatures", "\ufb01", "fi"), ("of_russian_yo", "\u0401", "\u0451"),
                ("of_kazakh", "\u049a", "\u049b"), ("of_greek_accents", "\u0386", "\u03ac")]:
    alike(n, a, b)


@kind("file-unknown", "key", "name")
def has_a_config_of_lfs_in_the_experiment(c): c.folder[b".lfsconfig"] = b"[lfs]\nurl=http://x\n"
@kind("file-type", "figures")
def has_a_pointer_for_its_output(c): c.art[b"stdout.log"] = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 5\n"; c.manifest()
@kind("file-type")
def has_a_pointer_for_a_file(c): artifact(c, "data.bin", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 5\n")
@kind("record")
def has_a_file_that_nobody_told_of(c): artifact(c, "more.txt", b"x\n", told=False)
@kind("active")
def has_a_page(c): artifact(c, "report.html", b"<script>fetch('http://x')</script>")
@kind("active")
def has_a_pickle(c): artifact(c, "model.pkl", b"cos\nsystem\n(S'id'\ntR.")
@kind("active")
def has_a_model(c): artifact(c, "m/MLmodel", b"flavors:\n  python_function:\n    loader_module: os\n")
@kind("active")
def has_a_picture_with_a_program(c): artifact(c, "x.SVG", b"<svg onload='alert(1)'/>")
@kind("active")
def has_an_executable_without_the_mode(c): artifact(c, "data", b"\x7fELF\2\1\1\0" + bytes(60))
@kind("file-mode")
def has_an_executable_metric(c): c.run[b"metrics"][b"run.wall_s"] = Raw(b"100755", c.run[b"metrics"][b"run.wall_s"])
@kind("file-type")
def links_a_metric(c): c.run[b"metrics"][b"run.wall_s"] = link(b"run.user_s")
@kind("path-outside")
def adds_a_rule_file_for_owners(c): c.tree[b"CODEOWNERS"] = b"* @me\n"
@kind("path-outside")
def adds_a_job_for_gitlab(c): c.tree[b".gitlab-ci.yml"] = b"x:\n  script: id\n"
@kind("path-outside")
def adds_a_spool(c): c.tree[b".benchwrap"] = Tree({b"spool": Tree({b"x": b"x"})})
@kind("path-outside")
def adds_a_tree_of_another_case(c): c.tree[b"MLRUNS"] = Tree({c.exp: copy.deepcopy(c.folder)})
@kind("path-outside")
def has_an_experiment_beyond_numbers(c): c.tree[b"mlruns"][b"4294967296"] = copy.deepcopy(c.folder)
@kind("path-outside", "experiment-id")
def has_the_experiment_zero(c): c.tree[b"mlruns"][b"0"] = copy.deepcopy(c.folder)


# ---- experiments ----
def experiment_of(name):
    import uuid
    u = uuid.uuid5(uuid.UUID("6f1c9a52-7d0e-5b5e-9d0b-0b5f2a3c4d5e"), name)
    i = b"%d" % (1 + int.from_bytes(u.bytes[:4], "big") % 2147483646)
    t = b'artifact_location: "mlruns/%s"\ncreation_time: 1767225600000\nexperiment_id: "%s"\nlast_update_time: 1767225600000\nlifecycle_stage: "active"\nname: %s\n' % (i, i, json.dumps(name).encode())
    return i, Tree({b"meta.yaml": t})
def with_experiment(c, name):
    i, t = experiment_of(name)
    c.tree[b"mlruns"][i] = t
@kind("experiment-meta")
def names_an_experiment_with_markup(c): with_experiment(c, "<img src=x onerror=alert(1)>")
@kind("experiment-meta")
def names_an_experiment_like_a_path(c): with_experiment(c, "../../etc")
@kind("experiment-meta")
def names_an_experiment_at_length(c): with_experiment(c, "x" * 3000)
@kind("experiment-meta")
def names_an_experiment_with_escapes(c): with_experiment(c, "a\u001b[31m")
@kind("experiment-meta")
def brings_an_experiment_without_a_run(c): with_experiment(c, "nothing")
@kind("experiment-meta")
def brings_very_many_experiments(c):
    for i in range(3000):
        with_experiment(c, "e%d" % i)
@kind("identity", "record")
def is_said_to_be_of_another_experiment(c): c.record(lambda j: j["run"]["experiment"].update(name="hpl"))


# ---- meta.yaml ----
def meta(name, was, by, word="run-meta"):
    def f(c): c.meta(was, by)
    f.__name__ = "has_a_meta_" + name
    kind(word)(f)


for n, was, by in [("with_a_file_uri", rb'artifact_uri: ".*"', b'artifact_uri: "file:///etc"'), ("with_a_web_uri", rb'artifact_uri: ".*"', b'artifact_uri: "http://evil/x"'),
                   ("with_a_way_up", rb'artifact_uri: "mlruns/', rb'artifact_uri: "mlruns/../../'), ("with_a_tag_of_yaml", rb'run_name: ', b'run_name: !!str '), ("with_a_merge", rb"^", b"<<: {status: 3}\n"),
                   ("of_two_documents", rb"^", b"--- {}\n---\n"), ("with_a_comment", rb"^", b"# x\n"), ("with_a_directive", rb"^", b"%YAML 1.1\n---\n"), ("with_crlf", rb"\n", b"\r\n"), ("with_another_order", rb'^(artifact_uri.*\n)(end_time.*\n)', rb"\2\1"),
                   ("with_a_key_twice", rb"status: 3\n", b"status: 3\nstatus: 3\n"), ("with_octal_times", rb"end_time: ", b"end_time: 0o"), ("with_a_float_time", rb"(end_time: \d+)", rb"\1.0"), ("with_single_quotes", rb'user_id: "(.*)"', rb"user_id: '\1'"),
                   ("that_is_scheduled", b"status: 3", b"status: 2"), ("of_status_six", b"status: 3", b"status: 6"), ("with_escapes", rb'run_name: "', rb'run_name: "\\u001b[31m'), ("with_tags", rb"tags: \[\]", b"tags: [{key: a, value: b}]"),
                   ("with_an_entry_point", rb'entry_point_name: ""', b'entry_point_name: "x"'), ("with_a_source", rb'source_name: ""', b'source_name: "javascript:alert(1)"'), ("with_a_name_from_right_to_left", rb'run_name: "', 'run_name: "\u202e'.encode())]:
    meta(n, was, by)


# ---- numbers ----
for n, text in [("with_a_comma", b"1 1,5 0\n"), ("of_hexadecimal_floats", b"1 0x1.8p3 0\n"), ("of_two_points", b"1 1.5.0 0\n"), ("of_a_sign_alone", b"1 - 0\n"), ("of_an_exponent_alone", b"1 e5 0\n"), ("with_a_step_of_decimals", b"1 1 0.5\n"), ("with_a_plus_in_the_step", b"1 1 +1\n"),
                ("with_a_minus_infinity", b"1 -inf 0\n"), ("of_words", b"1 fast 0\n"), ("with_a_comment", b"1 1 0 # x\n"), ("of_cr_alone", b"1 1 0\r"), ("with_a_vertical_tab", b"1 1\v0\n"), ("with_a_line_of_blanks", b"1 1 0\n   \n"), ("with_a_line_separator", "1 1 0\u2028\n".encode())]:
    metric(n, text)
@kind("figures")
def gives_a_metric_another_unit_and_key(c):
    k = "write.bw_MiB_per_s.max"; v = claimed(c, k); drop_metric(c, k); measure(c, "write.bw_GiB_per_s.max", v, "GiB_per_s", "higher", "rule:ior:results")
@kind("figures")
def gives_a_figure_to_somebody_else(c):
    k = "write.bw_MiB_per_s.max"; v = claimed(c, k); c.value(k, v, b"%.15g" % (float(v) * 4)); c.record(lambda j: j["metrics"][k].update(source="log"))
@kind("figures")
def swaps_two_figures(c):
    a, b = "write.bw_MiB_per_s.max", "read.bw_MiB_per_s.max"; x, y = claimed(c, a), claimed(c, b); c.value(a, x, y); c.value(b, y, x)
@kind("figures")
def changes_the_steps(c): k = b"write.bw_MiB_per_s"; c.run[b"metrics"][k] = b"".join(b"%s %s %d\n" % (*x.split()[:2], 7 * i) for i, x in enumerate(c.run[b"metrics"][k].splitlines())); c.manifest()
@kind("figures", "record")
def drops_the_worst_repetition(c):
    k = "write.bw_MiB_per_s"; lines = sorted(c.run[b"metrics"][k.encode()].splitlines(keepends=True), key=lambda x: float(x.split()[1]))[1:]
    c.run[b"metrics"][k.encode()] = b"".join(b"%d %s %d\n" % (NOW * 1000 + i, x.split()[1], i) for i, x in enumerate(lines))
    vs = [float(x.split()[1]) for x in lines]
    c.record(lambda j: j["metrics"][k].update(samples=len(vs), min=min(vs), max=max(vs), mean=sum(vs) / len(vs), value=vs[-1]))
@kind("figures", "record")
def thins_what_it_does_not_like(c):
    k = "write.bw_MiB_per_s"; lines = c.run[b"metrics"][k.encode()].splitlines(keepends=True)
    first, last = b"%s 9999999 0\n" % lines[0].split()[0], lines[-1]
    c.run[b"metrics"][k.encode()] = first + last; artifact(c, "series.jsonl", b"{}\n")
    c.record(lambda j: j["metrics"][k].update(thinned={"points": 2, "bucket": 2, "file": "series.jsonl"}, max=9999999.0, min=float(last.split()[1])))
@kind("record")
def measures_time_in_other_units(c): c.record(lambda j: j["metrics"]["run.wall_s"].update(unit="ms"))
@kind("record")
def wants_more_time(c): c.record(lambda j: j["metrics"]["run.wall_s"].update(direction="higher"))
@kind("record")
def has_a_time_that_rules_gave(c): c.record(lambda j: j["metrics"]["run.wall_s"].update(unit="", direction=""))
@kind("record", "verdict", "figures")
def hides_how_it_ended(c): drop_metric(c, "run.exit_status")
@kind("record", "figures")
def hides_how_long_it_took(c): drop_metric(c, "run.wall_s")
@kind("time-odd")
def took_a_thousandth_of_its_time(c):
    t = int(re.search(rb"end_time: (\d+)", c.run[b"meta.yaml"]).group(1)) - 3600000
    c.meta(rb"start_time: \d+", b"start_time: %d" % t); c.record(lambda j: j["run"].update(start_ms=t))
@kind("time")
def has_samples_of_next_year(c): c.run[b"metrics"][b"run.max_rss_MiB"] = re.sub(rb"^\d+", b"%d" % ((NOW + 31536000) * 1000), c.run[b"metrics"][b"run.max_rss_MiB"]); c.manifest()
@kind("record", "verdict")
def passes_in_other_words(c): without_rules(c, "log"); verdict(c, "PASS")
@kind("record")
def has_a_verdict_of_markup(c): without_rules(c, "log"); verdict(c, "<b>pass</b>")
@kind("unverifiable")
def gives_all_figures_to_the_program(c): without_rules(c, "log"); thrice_as_fast(c)
@kind("unverifiable")
def gives_all_figures_to_the_recorder(c): without_rules(c, "recorder"); thrice_as_fast(c)
@kind("claimed")
def claims_a_figure_by_its_own_word(c): measure(c, "bonus.bw_MiB_per_s.max", b"99999", "MiB_per_s", "higher")
@kind("claimed")
def claims_a_figure_by_benchwraps_word(c): measure(c, "bonus.bw_MiB_per_s.max", b"99999", "MiB_per_s", "higher", "recorder")
def reference(value, low, fails=False, word="pass", metric_="run.wall_s"):
    return [dict(metric=metric_, verdict=word, fails=fails, value=value, reference=1, low=low, high=None, unit="s", entry="x.yaml:1", text="good")]
@kind("verdict", "record")
def passes_by_references_of_another_value(c): without_rules(c, "log"); verdict(c, "pass"); c.record(lambda j: j.update(references=reference(0.001, 0)))
@kind("verdict", "record")
def passes_by_references_that_it_misses(c): without_rules(c, "log"); verdict(c, "pass"); c.record(lambda j: j.update(references=reference(j["metrics"]["run.wall_s"]["value"], 1e6)))
@kind("verdict", "record")
def passes_by_no_references(c): without_rules(c, "log"); verdict(c, "pass"); c.record(lambda j: j.update(references=[]))
@kind("unverifiable", "verdict")
def passes_by_references_of_its_own(c): without_rules(c, "log"); verdict(c, "pass"); c.record(lambda j: j.update(references=reference(j["metrics"]["run.wall_s"]["value"], 0)))


# ---- withheld ----
def withheld(c, public):
    drop_artifact(c, "stdout.log")
    c.record(lambda j: j["missing"].append({"key": "stdout.log", "reason": "withheld: names were replaced in it, and a required metric is not in what is left", "source": "recorder"}))
    if public:
        tag(c, "benchwrap.profile", "public"); tag(c, "benchwrap.unverifiable", "yes"); tag(c, "benchwrap.identities_replaced", "3")
@kind("record", "verdict", "figures")
def withholds_and_claims(c): thrice_as_fast(c); withheld(c, False)
@kind("verdict")
def withholds_in_public_and_passes(c): thrice_as_fast(c); withheld(c, True)
@kind("verdict")
def withholds_in_public_and_has_the_figure(c):
    """It was withheld since a required figure is missing; and here it is."""
    withheld(c, True); verdict(c, "none"); thrice_as_fast(c)
@kind("verdict")
def withholds_in_public_and_is_finished(c):
    withheld(c, True); verdict(c, "none")
    for k in [k.decode() for k in c.run[b"metrics"] if k.startswith((b"write.", b"read."))]:
        drop_metric(c, k)
@kind("record", "figures", "verdict")
def withholds_the_errors_alone(c): c.record(lambda j: j["missing"].append({"key": "stderr.log", "reason": "withheld", "source": "recorder"}))


# ---- identity, kin ----
@kind("record")
def has_another_host_in_the_tag(c): tag(c, "hostname", "elsewhere", "probe:host")
@kind("record")
def has_another_command_in_the_tag(c): tag(c, "benchwrap.command", "ior -b 1t -F")
@kind("record")
def has_another_name_in_the_tag(c): tag(c, "mlflow.runName", "the fastest", "tree")
@kind("record")
def is_of_a_format_to_come(c): tag(c, "benchwrap.format", "2")
@kind("identity")
def hides_its_id(c): drop_tag(c, "benchwrap.run_id")
@kind("amends", "identity", "parent")
def is_its_own_parent(c): tag(c, "mlflow.parentRunId", c.id.decode())
@kind("parent")
def has_a_parent_of_no_id(c): tag(c, "mlflow.parentRunId", "../../x")
@kind("parent-odd")
def has_a_parent_that_is_nowhere(c): tag(c, "mlflow.parentRunId", FAKE)
def second(c, new, change):
    """A second run of the pull request that is related to the first."""
    first, own = c.run, c.id
    c.run = c.folder[own] = copy.deepcopy(first)
    c.rename(new)
    c.value("run.user_s", claimed(c, "run.user_s"), b"0.00123467"); c.value("run.wall_s", claimed(c, "run.wall_s"), b"0.0017654")
    change()
    c.run, c.id = first, own
    c.folder[own] = first
@kind("parent")
def has_a_child_for_a_parent(c):
    b = b"1" * 31 + b"2"
    second(c, b, lambda: tag(c, "mlflow.parentRunId", IOR[1].decode())); tag(c, "mlflow.parentRunId", b.decode())
@kind("amends")
def amends_in_a_circle(c):
    b = b"1" * 31 + b"3"
    second(c, b, lambda: tag(c, "benchwrap.amends", IOR[1].decode())); tag(c, "benchwrap.amends", b.decode())
def of_published(c, site):
    """The run moves to the experiment of the published one and speaks of it."""
    c.run = copy.deepcopy(HONEST[b"mlruns"][PLAIN[0]][PLAIN[1]])
    del c.folder[c.id]
    c.exp, c.id = PLAIN
    c.tree[b"mlruns"].setdefault(c.exp, Tree())[c.id] = c.run
    if site:
        tag(c, "site", site, "option")
@kind("amends")
def amends_a_run_of_another_site(c): of_published(c, "b.example"); tag(c, "benchwrap.amends", SITED.decode())
@kind("amends")
def retracts_a_run_of_another_site(c):
    of_published(c, "b.example"); tag(c, "benchwrap.retracts", SITED.decode()); tag(c, "benchwrap.why", "slow")
@kind("amends")
def retracts_a_run_of_a_site_and_has_none(c):
    of_published(c, None); tag(c, "benchwrap.retracts", SITED.decode()); tag(c, "benchwrap.why", "slow")
@kind("annotates", "record")
def annotates_nobody_without_a_file(c): of_published(c, "a.example"); tag(c, "benchwrap.annotates", "e" * 32)
@kind("amends")
def retracts_a_run_and_amends_it(c): of_published(c, "a.example"); tag(c, "benchwrap.retracts", SITED.decode()); tag(c, "benchwrap.amends", SITED.decode())
@kind("copy")
def copies_a_run_of_few_milliseconds(c):
    of_published(c, None); c.value("run.wall_s", claimed(c, "run.wall_s"), b"0.005621")  # four digits
    first, own = c.run, c.id
    c.run = c.folder[own] = copy.deepcopy(first)
    c.rename(b"1" * 31 + b"4")
    c.run, c.id = first, own
    c.folder[own] = first
def near_copy(c, change_output):
    """What another run of the pull request measured, as a run of its own: other times, other use of the machine."""
    b = b"1" * 31 + b"5"
    first = copy.deepcopy(c.run)
    keep, c.folder[b] = c.id, first
    c.run, c.id = first, c.id
    c.folder[keep] = c.run
    c.rename(b)
    c.folder[keep] = copy.deepcopy(HONEST[b"mlruns"][IOR[0]][IOR[1]])
    c.value("run.wall_s", claimed(c, "run.wall_s"), b"0.0123456"); c.value("run.user_s", claimed(c, "run.user_s"), b"0.0023456")
    if change_output:
        c.art[b"stdout.log"] += b"\n"; c.manifest()
@kind("copy")
def is_measured_once_and_told_twice(c): near_copy(c, False)
@kind("copy")
def is_measured_once_and_told_twice_with_another_output(c): near_copy(c, True)


# ---- what is shown ----
@kind("value")
def has_escapes_in_a_tag(c): tag(c, "note", "a\x1b]0;x\x07", "option")
@kind("value")
def has_escapes_in_a_param(c): param(c, "note", "\x9bx".encode("latin-1").decode("latin-1"))
@kind("value")
def has_a_tag_from_right_to_left(c): tag(c, "note", "a\u202eb", "option")
@kind("value")
def has_a_backspace_in_a_param(c): param(c, "cpu.note", "slow\b\b\b\bfast")
for name, word, key, value, source in [("leads_to_a_program_by_its_source", "tag", "mlflow.source.name", "javascript:alert(1)", "recorder"),
                                       ("leads_to_a_program_by_its_repository", "tag", "mlflow.source.git.repoURL", "javascript:alert(1)", "probe:source"),
                                       ("leads_to_a_page_by_its_note", "tag", "mlflow.note.content", "[look](javascript:alert(1))", "option"),
                                       ("tells_of_models", "tag-odd", "mlflow.log-model.history", "[{", "recorder"),
                                       ("tells_of_logged_models", "tag-odd", "mlflow.loggedModels", "{", "recorder"),
                                       ("is_of_databricks", "tag-odd", "mlflow.databricks.notebookPath", "/x", "recorder"),
                                       ("is_a_project", "tag-odd", "mlflow.source.type", "PROJECT", "recorder")]:
    def with_tag(c, key=key, value=value, source=source): tag(c, key, value, source)
    with_tag.__name__ = name
    kind(word)(with_tag)


# ---- secrets ----
def hidden(name, text, file="note.txt", *words):
    def f(c): artifact(c, file, text)
    f.__name__ = "hides_a_token_in_" + name
    kind(*words or ("secret",))(f)


import bz2, gzip, io, lzma, zipfile
def zipped(method):
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w", method) as z:
        z.writestr("a/b.txt", b"nothing\n" * 10); z.writestr("key.txt", b"key " + TOKEN + b"\n")
    return b.getvalue()
def tar_gz():
    import tarfile
    b = io.BytesIO()
    with tarfile.open(fileobj=b, mode="w:gz") as t:
        i = tarfile.TarInfo("k"); i.size = len(TOKEN); t.addfile(i, io.BytesIO(TOKEN))
    return b.getvalue()
WRAPPED = base64.encodebytes(b"some words before it that fill a line up to its end, and then " + TOKEN + b" and more behind it")
for n, t, f in [("gzip", gzip.compress(b"a line\n" * 100 + TOKEN + b"\n"), "log.gz"), ("two_members_of_gzip", gzip.compress(b"a\n") + gzip.compress(TOKEN), "log.gz"), ("gzip_by_another_name", gzip.compress(TOKEN + b"\n"), "data.dat"), ("a_zip", zipped(zipfile.ZIP_DEFLATED), "x.zip"), ("a_zip_that_is_stored", zipped(zipfile.ZIP_STORED), "x.npz"),
                ("a_tar", tar_gz(), "x.tgz"), ("zlib", zlib.compress(TOKEN * 3), "x.z"), ("gzip_in_gzip", gzip.compress(gzip.compress(TOKEN)), "x.gz"), ("base64_of_gzip", base64.b64encode(gzip.compress(TOKEN)), "x.txt"), ("base64_with_bytes", base64.b64encode(b"\0\1\2" + TOKEN + b"\xff"), "x.txt"), ("base64_of_many_lines", WRAPPED, "x.txt"),
                ("base64_behind_a_word", b"path/to/x/" + base64.b64encode(TOKEN), "x.txt"), ("signs_of_JSON", b'{"k": "' + b"".join(b"\\u%04x" % b for b in TOKEN) + b'"}', "x.json"), ("signs_of_C", b'"' + b"".join(b"\\x%02x" % b for b in TOKEN) + b'"', "x.txt"),
                ("quoted_printable", b"k: " + b"".join(b"=%02X" % b for b in TOKEN), "x.txt"), ("entities_of_HTML", b"".join(b"&#%d;" % b for b in TOKEN), "x.txt"), ("UTF_16_of_the_other_order", ("x " + TOKEN.decode()).encode("utf-16-be"), "x.txt"), ("base64_of_UTF_16", base64.b64encode(TOKEN.decode().encode("utf-16-le")), "x.txt"), ("digits_with_colons", TOKEN.hex(":").encode(), "x.txt"), ("base64_twice", base64.b64encode(base64.b64encode(TOKEN)), "x.txt")]:
    hidden(n, t, f)
for n, t, f in [("xz", lzma.compress(TOKEN), "x.xz"), ("bzip2", bz2.compress(TOKEN), "x.bz2"), ("a_zip_of_xz", zipped(zipfile.ZIP_LZMA), "x.zip"), ("zstd", bytes.fromhex("28b52ffd") + b"\4\0" + bytes(40), "x.zst"), ("an_archive_of_7z", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40), "x.7z"), ("an_encrypted_file", b"age-encryption.org/v1\n-> x\n", "x.age"),
                ("a_bomb_of_gzip", gzip.compress(bytes(140 << 20), 1), "x.gz")]:
    hidden(n, t, f, "opaque", "secret")
@kind("secret")
def has_a_token_for_a_name(c): artifact(c, TOKEN.decode() + ".txt", b"x\n")
@kind("secret")
def has_a_token_for_a_key(c): param(c, "x." + TOKEN.decode(), "1")
@kind("secret")
def has_a_token_for_a_name_of_a_run(c): c.meta(rb'run_name: "[^"]*"', b'run_name: "' + TOKEN + b'"'); tag(c, "mlflow.runName", TOKEN.decode(), "tree"); c.record(lambda j: j["run"].update(name=TOKEN.decode()))


# ---- what acts where it is opened, in other spellings than the plain ones ----
def acting(name, file, data):
    def f(c): artifact(c, file, data)
    f.__name__ = "has_" + name
    kind("active")(f)


for n, f, d in [("a_PDF_with_spelt_names", "a.pdf", b"%PDF-1.7\n1 0 obj<</Ja#76aScript (x)>>"), ("a_PDF_with_hidden_objects", "a.pdf", b"%PDF-1.7\n1 0 obj<</Type/ObjStm/N 1>>stream\n"), ("a_PDF_with_more_actions", "a.pdf", b"%PDF-1.7\n<</AA <</O 2 0 R>>>>"),
                ("a_PDF_that_sends", "a.pdf", b"%PDF-1.7\n<</S/SubmitForm>>"), ("a_stylesheet_far_below", "a.xml", b"<?xml version='1.0'?>\n" + b" " * 5000 + b"<?xml-stylesheet href='x'?><a/>"), ("an_include_of_XML", "a.xml", b"<a xmlns:x='http://www.w3.org/2001/XInclude'><x:include href='y'/></a>"),
                ("a_foreign_DTD", "a.xml", b"<!DOCTYPE a SYSTEM 'http://x/y.dtd'><a/>"), ("a_pickle_of_text", "a.txt", b"(cposix\nsystem\nS'id'\no."), ("a_pickle_of_an_instance", "a.txt", b"(S'id'\nios\nsystem\n."), ("a_pickle_with_a_line_end", "a.txt", b"cos\nsystem\n(S'id'\ntR.\n"),
                ("an_array_in_other_quotes", "a.npy", b"\x93NUMPY\1\0v\0{'descr': \"|O\"}"), ("an_array_with_a_long_head", "a.npy", b"\x93NUMPY\1\0v\0{'descr':" + b" " * 250 + b"'|O'}"), ("a_formula_with_a_sign", "a.csv", b"a,b\n1,+cmd|' /C calc'!A0\n"), ("a_formula_behind_a_blank", "a.csv", b"a,b\n1, =cmd|x\n"),
                ("a_link_with_entities", "a.md", b"[x](java&#115;cript:alert(1))"), ("a_frame_in_a_page", "a.md", b"<iframe src=x>"), ("a_handler_in_a_page", "a.md", b"<a onmouseover=x>"), ("an_image_in_another_page", "a.mkd", b"![x](http://x)"), ("a_page_that_includes", "a.rst", b".. include:: /etc/passwd\n"),
                ("a_picture_with_a_near_handler", "a.svg", b"<svg/onload=alert(1)>"), ("a_picture_that_loads", "a.svg", b"<svg><image href='http://x/i.png'/></svg>"), ("a_picture_that_sets", "a.svg", b"<svg><set attributeName=onload to=alert(1) /></svg>"), ("a_picture_with_foreign_style", "a.svg", b"<svg><style>@import url(http://x);</style></svg>"),
                ("a_macro_of_a_table", "a.slk", b"ID;P\n"), ("a_program_of_PostScript", "a.eps", b"%!PS\n"), ("objects_of_R", "a.rds", b"X\n"), ("a_build_file_of_bazel", "BUILD", b"x\n"), ("an_action_of_a_forge", "action.yml", b"runs:\n"), ("a_notebook_of_emacs", "a.org", b"#+begin_src sh\n")]:
    acting(n, f, d)


# ---- one changed condition of the check each ----
@kind("identity")
def has_a_record_of_another_run_alone(c): c.record(lambda j: j["run"].update(id=FAKE))
@kind("identity")
def has_a_record_of_another_experiment_alone(c): c.record(lambda j: j["run"]["experiment"].update(id="1"))
@kind("file-unknown")
def has_a_folder_of_an_experiment(c): c.folder[b"more"] = Tree({b"x": b"y"})
@kind("manifest")
def has_another_output_of_equal_length(c): c.art[b"stdout.log"] = c.art[b"stdout.log"][:-2] + b"~\n"
@kind("path-outside")
def has_a_file_whose_name_begins_that_of_the_tree(c): c.tree[b"mlr"] = b"x"
@kind("time")
def has_a_sample_from_the_future(c):
    measure(c, "x.later_s", b"3", "s", "lower"); c.run[b"metrics"][b"x.later_s"] = b"%d 3 0\n" % ((NOW + 10 ** 7) * 1000); c.manifest()
def bounded(benchmark, key, unit, value):
    def f(c):
        tag(c, "benchmark", benchmark); measure(c, key, value, unit, "higher")
    f.__name__ = "is_beyond_the_bounds_of_" + benchmark
    kind("bound", run="PLAIN")(f)
for b, k, u in [("stream", "triad.bw_MB_per_s", "MB_per_s"), ("hpcc", "stream.bw_GB_per_s", "GB_per_s"), ("hpl", "hpl.rate_GFLOP_per_s", "GFLOP_per_s"), ("hpcg", "hpcg.rate_GFLOP_per_s", "GFLOP_per_s")]:
    bounded(b, k, u, b"1e+12")
@kind("value")
def has_a_delete_in_a_tag(c): tag(c, "note", "a\x7fb")
@kind("value")
def has_a_control_of_two_bytes_in_a_tag(c): tag(c, "note", "a\u009b31mb")


# ---- histories ----
def histories_more(bad):
    c = Case(); honest = write_tree(c.tree)
    list_ = {"history_with_a_token_in_the_message": (commit(honest, MAIN, message="add " + TOKEN.decode()), ["secret"]),
             "history_of_an_empty_commit_with_a_token": (commit(honest, commit(git("rev-parse", "main^{tree}").decode().strip(), MAIN, message=TOKEN.decode())), ["secret"])}
    for name, (tip, words) in list_.items():
        if not ONLY or name in ONLY:
            check(name, tip, words, [], bad)
    return len(list_)


# ---- marks of order: what cJSON passes over, and Python does not ----
@kind("record")
def has_a_record_that_python_does_not_read(c): c.art[b"benchwrap.json"] = b"\xef\xbb\xbf" + c.art[b"benchwrap.json"]; c.manifest()
@kind("manifest")
def has_a_manifest_that_python_does_not_read(c): c.art[b"manifest.json"] = b"\xef\xbb\xbf" + c.art[b"manifest.json"]


# ---- sizes without end ----
@kind("limit", options=("--max-run", "1M"))
def is_a_whole_of_many_large_runs(c):
    blob = write(b"blob", bytes(700 << 10), 9)
    run = Tree({k: v for k, v in c.run.items()}); run[b"artifacts"] = Tree(c.art); run[b"artifacts"][b"z"] = Raw(b"100644", name=blob)
    rest = b"".join(b"40000 %s\0" % k + bytes.fromhex(write_tree(v)) for k, v in sorted(run.items()) if isinstance(v, Tree) and k != b"artifacts")
    out = b""
    for i in range(300):
        run[b"artifacts"][b"n"] = b"%d" % i
        out += b"40000 %032x\0" % i + bytes.fromhex(write_tree(run))
    c.tree[b"mlruns"][c.exp] = Raw(b"40000", name=write(b"tree", out + b"100644 meta.yaml\0" + bytes.fromhex(write(b"blob", c.folder[b"meta.yaml"]))))


def series_of(x): return HONEST[b"mlruns"][x[0]][x[1]][b"tags"].get(b"benchwrap.series")
PLAIN = next(x for x in ADDED if x[0] == OLD[0] and b"run.user_s" in HONEST[b"mlruns"][x[0]][x[1]][b"metrics"] and not series_of(x))
SITED = next((r for e, r in runs_of(BASE) if b"site" in BASE[b"mlruns"][e][r][b"tags"]), OLD[1])
forge.histories = histories_more
if __name__ == "__main__":
    forge.main()
