/* reparse.c: read the stored output of a run again. If the facts differ, a new run amends the old one. */
#include "replay/reparse_state.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/sha256.h"
#include "benchmarks/rules.h"
#include "launch/peel.h"
#include "run/make.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *reparse_tag(const struct reparse_state *g, const char *key)
{
    return record_text(&g->before, FACT_TAG, key).p;
}

static bool has_artifact(const struct reparse_state *g, const char *name)
{
    struct stat st;
    return fstatat(g->artifacts, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* ---- can it be read again? ---- */

/* Returns why the run cannot be read again, as text that needs no free; NULL: it can. */
static const char *why_not_reparsed(const struct reparse_state *g)
{
    static const char *const cut[] = {"benchwrap.stdout_cut_B", "benchwrap.stderr_cut_B", "benchwrap.dropped.stdout",
                                      "benchwrap.dropped.stderr"};
    if (reparse_tag(g, "benchwrap.block"))
        return "one test of a larger output: read its parent run again";
    if (reparse_tag(g, "benchwrap.retracts"))
        return "it retracts another run";
    for (const struct fact *f = g->before.first; f; f = f->next)
        if (f->kind == FACT_MISSING && (str_is(f->key, "stdout.log") || str_is(f->key, "stderr.log")))
            return "its output was withheld (public profile)";
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        if (reparse_tag(g, cut[i]))
            return "part of its output was not kept";
    if (!has_artifact(g, "stdout.log") && !has_artifact(g, "stderr.log") && !has_artifact(g, "files"))
        for (size_t i = 0;; i++) {
            char key[48];
            snprintf(key, sizeof key, "benchwrap.rules_file.%zu", i);
            if (reparse_tag(g, key))
                break;
            if (i == 16)
                return "no output was kept";
        }
    return NULL;
}

/* Loads the newest rules for the run: those named, else of the same name, else of the program. */
static const char *reparse_load_rules(struct reparse_state *g, struct arena *a)
{
    const struct catalogue *catalogue = &g->x->plan->catalogue;
    const char *benchmark = reparse_tag(g, "benchmark");
    char *const *program = (char *const *)peel_program((char *const *)g->argv);
    struct err err = {0};
    char real[PATH_MAX];
    if (g->x->rules)
        g->rules_path = catalogue_find(catalogue, g->x->rules, a);
    else if (!benchmark || !(g->rules_path = catalogue_by_name(catalogue, benchmark, a)))
        g->rules_path = program && program[0] ? catalogue_for_command(catalogue, program, a) : NULL;
    if (!g->rules_path)
        return "the catalogue has no rules for it; name some with --rules";
    if (realpath(g->rules_path, real))
        g->rules_path = arena_dup(a, real, strlen(real));
    return rules_load(&g->rules, g->rules_path, &err) ? arena_printf(a, "%s", err.text) : NULL;
}

char **reparse_argv(const struct json *list, struct arena *a)
{
    char **argv = arena_get(a, (json_count(list) + 1) * sizeof *argv);
    size_t n = 0;
    for (const struct json *e = argv ? json_first(list) : NULL; e; e = json_next(e)) {
        const char *word = json_string(e, "");
        argv[n++] = arena_dup(a, word, strlen(word));
    }
    return argv;
}

/* ---- the new run ---- */

/* Returns whether the fact is one of the old run itself, or one that is made again. */
static bool is_renewed(const struct fact *f)
{
    static const char *const tags[] = {"benchwrap.verdict", "benchwrap.reason",  "benchwrap.run_id",        "benchwrap.version",
                                       "benchwrap.format",  "benchwrap.amends",  "benchwrap.cut",           "benchwrap.experiment",
                                       "benchwrap.rules",   "benchmark.version", "benchwrap.rules_version", "benchwrap.headline",
                                       "mlflow.runName"}; /* "benchmark" stays where the rules name none */
    if (reparse_derived(f) || str_is(str_of(f->source), "tree") || f->kind == FACT_ARTIFACT || str_starts(f->key, "benchwrap.rules_file."))
        return true;
    for (size_t i = 0; f->kind == FACT_TAG && i < sizeof tags / sizeof *tags; i++)
        if (str_is(f->key, tags[i]))
            return true;
    return false;
}

/* Tags the kept files that the rules read: the one that has the name of the i-th. Where several
 * have it, none is read, and a warning states it. */
static void name_rule_files(struct made_run *m, const struct reparse_state *g, struct arena *a)
{
    for (size_t i = 0; rules_file(g->rules, i); i++) {
        const char *name = rules_file_kept(g->rules, i, (char *const *)peel_program((char *const *)g->argv), a);
        const struct fact *found = NULL;
        size_t n = 0;
        for (const struct fact *f = name ? m->record.first : NULL; f; f = f->next)
            if (f->kind == FACT_ARTIFACT && str_starts(f->key, "files/") && fnmatch(name, str_base_name(f->key.p), 0) == 0)
                found = f, n++;
        char key[48];
        snprintf(key, sizeof key, "benchwrap.rules_file.%zu", i);
        if (n == 1)
            record_tag(&m->record, key, found->text);
        else if (n > 1)
            record_warning(&m->record, "rules: %zu kept files could be %s, none is read", n, name);
    }
}

static void reparse_new_id(const struct reparse_state *g, char ret[33], struct arena *a)
{
    char hash[SHA256_HEX];
    struct str text = rules_text(g->rules);
    sha256_of(text.p, text.n, hash);
    make_id(ret, "reparse", str_of(arena_printf(a, "%s/%s/%s", g->root_id, g->run->id, hash)));
}

static enum run_status program_status(const struct reparse_state *g, double exit_status)
{
    if (g->run->status == RUN_KILLED)
        return RUN_KILLED;
    return exit_status > 0 || reparse_tag(g, "benchwrap.ended") ? RUN_FAILED : RUN_FINISHED;
}

int reparse_begin(struct made_run *m, const struct reparse_state *g, const char *id, struct arena *a, struct err *err)
{
    const struct json *told = json_get(g->detail, "run");
    const char *streams = reparse_tag(g, "benchwrap.streams"),
               *wanted = json_string(json_pointer(told, "/experiment/name"), g->run->experiment);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct make_plan plan = {.id = id,
                             .spool = g->x->spool,
                             .head = {.host = host,
                                      .experiment = wanted,
                                      .run_name = g->run->name,
                                      .tree = g->x->runs->tree,
                                      .user = g->run->user,
                                      .job = json_string(json_get(told, "job"), ""),
                                      .argv = g->argv,
                                      .start_ms = g->run->start_ms + 1},
                             .options = {.log_max = (uint64_t)1 << 40,
                                         .rules = g->rules_path,
                                         .series = g->series,
                                         .references = g->x->plan->references,
                                         .merged = streams && strcmp(streams, "merged") == 0,
                                         .host = json_string(json_get(told, "host"), "")}};
    if (make_begin(m, &plan, err))
        return -1;
    for (const struct fact *f = g->before.first; f; f = f->next)
        if (!is_renewed(f))
            make_fact(m, f);
    if (make_link_artifacts(m, &g->before, g->artifacts, true, err)) {
        make_drop(m);
        return -1;
    }
    m->record.source = "reparse";
    if (g->rules)
        name_rule_files(m, g, a);
    record_tag(&m->record, "benchwrap.run_id", str_of(id));
    record_tag(&m->record, "benchwrap.version", STR(BW_VERSION));
    record_tag(&m->record, "benchwrap.format", str_of(arena_printf(a, "%d", MLRUNS_FORMAT)));
    record_tag(&m->record, "benchwrap.amends", str_of(g->root_id));
    return 0;
}

static double exit_status_of(const struct record *r)
{
    double v = -1;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_is(f->key, "run.exit_status"))
            v = f->value;
    return v;
}

static void reparse_publish(struct made_run *m, struct reparsed *ret, struct arena *a)
{
    struct finished done;
    struct err err = {0};
    int rc = make_publish(m, &done, &err);
    ret->result = rc < 0 ? REPARSE_FAILED : REPARSE_DONE;
    ret->why = rc < 0 ? arena_printf(a, "%s", err.text) : NULL;
    if (rc == 0)
        ret->place = arena_dup(a, done.place, strlen(done.place));
    finished_deinit(&done);
}

void reparse_conclude(struct made_run *m, const struct reparse_state *g, int64_t end_ms, struct reparsed *ret)
{
    struct arena *a = g->x->arena;
    struct finished done = {0};
    struct err err = {0};
    int rc = make_close(m, program_status(g, exit_status_of(&g->before)), NULL, end_ms, &err) || make_look(m, &done, &err) ? -1 : 0;
    ret->result = REPARSE_FAILED;
    if (rc == 0 && reparse_compare(&g->before, &done.record, a, ret))
        rc = err_memory(&err, "a run's facts");
    if (rc)
        ret->why = arena_printf(a, "%s", err.text);
    ret->verdict = done.verdict ? arena_dup(a, done.verdict, strlen(done.verdict)) : NULL;
    if (rc == 0)
        finished_deinit(&done);
    if (rc || g->x->dry || !ret->count) {
        make_drop(m);
        if (rc == 0)
            ret->result = ret->count ? REPARSE_DONE : REPARSE_SAME;
        if (rc || !ret->count)
            ret->id[0] = 0;
    } else
        reparse_publish(m, ret, a);
}

/* Reads the output of the run again as a new run in the spool, which is then published or dropped.
 * Sets ret->result, with ret->why on failure. */
static void reparse_read(struct reparse_state *g, struct reparsed *ret, struct arena *a)
{
    struct made_run m;
    struct err err = {0};
    reparse_new_id(g, ret->id, a);
    ret->result = REPARSE_FAILED;
    if (reparse_begin(&m, g, ret->id, a, &err)) {
        ret->why = arena_printf(a, "%s", err.text);
        return;
    }
    int64_t start = g->run->start_ms + 1;
    reparse_conclude(&m, g, g->run->end_ms > start ? g->run->end_ms : start, ret);
}

const char *reparse_open(struct reparse_state *g, struct arena *a)
{
    struct err err = {0};
    const char *problem = NULL;
    char path[256];
    if (g->run->status == RUN_RUNNING)
        return "it has not ended";
    g->detail = runs_detail(g->x->runs, g->run, &problem, a);
    if (!g->detail || g->run->problem)
        return problem ? problem : g->run->problem ? g->run->problem : "it was not recorded by benchwrap";
    if (json_integer(json_get(g->detail, "format"), -1) != MLRUNS_FORMAT)
        return "its record is of another version of the format";
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(g->run));
    g->artifacts = place_open(g->x->runs->root, path, O_RDONLY | O_DIRECTORY, 0);
    if (g->artifacts < 0)
        return errno == ENOENT ? "its artifacts are not there" : arena_printf(a, "its artifacts cannot be read: %s", strerror(errno));
    if (reparse_recall(g->x, g->run, g->detail, &g->before, &err))
        return arena_printf(a, "%s", err.text);
    g->argv = reparse_argv(json_pointer(g->detail, "/run/argv"), a);
    g->root_id = reparse_tag(g, "benchwrap.amends") ? reparse_tag(g, "benchwrap.amends") : g->run->id;
    return NULL;
}

void reparse_close(struct reparse_state *g)
{
    if (g->rules)
        rules_free(g->rules);
    if (g->before.index)
        record_deinit(&g->before);
    json_free(g->detail);
    fs_close(&g->artifacts);
}

void reparse_run(const struct reparse *x, const struct tree_run *run, struct reparsed *ret)
{
    struct reparse_state g = {.x = x, .run = run, .artifacts = -1};
    *ret = (struct reparsed){.result = REPARSE_SKIPPED};
    if (!(ret->why = reparse_open(&g, x->arena)) && !(ret->why = why_not_reparsed(&g)) && !(ret->why = reparse_load_rules(&g, x->arena))) {
        const char *version = rules_version(g.rules);
        ret->rules_version = arena_dup(x->arena, version, strlen(version));
        reparse_read(&g, ret, x->arena);
    }
    reparse_close(&g);
}
