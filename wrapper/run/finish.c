/* finish.c: from a spool directory to a run in the tree: the same code at a run's normal end and after a crash. */
#include "run/finish.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/json.h"
#include "benchmarks/rules.h"
#include "launch/peel.h"
#include "collector/nodes.h"
#include "run/archive.h"
#include "run/children.h"
#include "run/energy_results.h"
#include "run/exports.h"
#include "run/shared.h"
#include "run/stream.h"
#include "series/finish.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFERENCES_MAX = 16 << 20 };

/* ---- the rules over the kept text ---- */

struct finish_feeding {
    struct rules_run *run;
    const char *source;
    uint64_t skip; /* bytes at the beginning that are another run's */
};

static void finish_feed_piece(void *context, const void *p, size_t n)
{
    struct finish_feeding *f = context;
    size_t skip = f->skip < n ? (size_t)f->skip : n;
    f->skip -= skip;
    rules_feed(f->run, f->source, (const char *)p + skip, n - skip);
}

static void finish_feed_cut(void *context, uint64_t bytes)
{
    struct finish_feeding *f = context;
    rules_cut(f->run, f->source, bytes);
}

/* Feeds the rules with the files that they name. They were copied into the spool at the program's end, and
 * a tag holds the name of each copy. */
static void finish_feed_files(struct rules_run *run, const struct rules *rules, const struct record *r, int spool, struct err *err)
{
    const char *pattern;
    rules_files_known(run);
    for (size_t i = 0; (pattern = rules_file(rules, i)); i++) {
        struct finish_feeding f = {run, pattern, 0};
        char key[48];
        snprintf(key, sizeof key, "benchwrap.rules_file_from.%zu", i);
        str_uint(record_text(r, FACT_TAG, key), &f.skip);
        snprintf(key, sizeof key, "benchwrap.rules_file.%zu", i);
        const char *file = record_text(r, FACT_TAG, key).p;
        if (!file || !file[0])
            continue;
        rules_found(run, pattern);
        if (rules_file_is_read(rules, i) && spool_stream_feed(spool, file, 0, finish_feed_piece, finish_feed_cut, &f, err))
            record_warning((struct record *)r, "rules: %s", err->text);
    }
}

/* Reads the stored output by the rules: facts are added to the record, the outcome is in *ret. -1
 * with err: the rule file or the output cannot be read. */
static int apply_rules(struct spool *s, struct finished *f, const struct finish_options *o, char *const *env, struct rules_outcome *ret,
                       struct err *err)
{
    struct record *r = &f->record;
    struct rules *rules = NULL;
    struct rules_run *run = NULL;
    if (rules_load(&rules, o->rules, err))
        return -1;
    int rc = rules_begin(&run, rules, (char *const *)peel_program((char *const *)f->head.argv), env, err);
    static const char *const logs[] = {"stdout.log", "stderr.log"};
    static const char *const sources[] = {"stdout", "stderr"};
    for (int i = 0; rc == 0 && i < 2; i++) {
        char key[48];
        snprintf(key, sizeof key, "benchwrap.dropped.%s", sources[i]);
        uint64_t dropped = 0;
        str_uint(record_text(r, FACT_TAG, key), &dropped);
        struct finish_feeding feed = {run, o->merged && i == 0 ? "merged" : sources[i], 0};
        if (dropped)
            rules_cut(run, feed.source, dropped);
        rc = spool_stream_feed(s->dir, logs[i], o->log_max, finish_feed_piece, finish_feed_cut, &feed, err);
    }
    if (rc == 0)
        finish_feed_files(run, rules, r, s->dir, err);
    if (run) {
        struct err why = {0};
        uint64_t number = 0;
        str_uint(record_text(r, FACT_TAG, "benchwrap.signal_number"), &number);
        int status = number ? -1 : (int)record_number(r, "run.exit_status", -1);
        if (rules_end(run, status, (int)number, r->end_ms, r, ret, rc ? &why : err))
            rc = -1;
    }
    r->source = "recorder";
    if (rules_without_verdict(rules)) /* the program is no benchmark by that name */
        record_tag(r, "benchwrap.rules", str_of(rules_name(rules)));
    else
        record_tag(r, "benchmark", str_of(rules_name(rules)));
    record_tag(r, "benchwrap.rules_version", str_of(rules_version(rules)));
    struct err why = {0};
    if (fs_write(s->dir, "rules.yaml", rules_text(rules), 0644, false, &why) == 0) /* written atomically: a kill leaves no truncated file */
        record_artifact(r, "rules.yaml", "rules.yaml");
    rules_free(rules);
    return rc;
}

/* ---- status, verdict ---- */

/* Sets verdict and reason of the finished run, from the program's end, the rules and the
 * references, and records both as tags. A run that is not complete by the rules becomes FAILED. */
static void finish_judge(struct finished *f, const struct rules_outcome *outcome, const struct finish_options *o)
{
    bool have_rules = o->rules || o->series;
    struct record *r = &f->record;
    double exit_status = record_number(r, "run.exit_status", -1);
    bool failed = r->status != RUN_FINISHED;
    f->verdict = have_rules ? outcome->verdict == VERDICT_PASS ? "pass" : outcome->verdict == VERDICT_FAIL ? "fail" : "none" : "none";
    f->reason = outcome->reason ? outcome->reason : "";
    struct str ended = record_text(r, FACT_TAG, "benchwrap.ended");
    if (failed) {
        f->verdict = "fail";
        /* the rules name exit status and signal themselves, but not the sender */
        if (ended.n && f->reason[0] && strstr(ended.p, f->reason))
            f->reason = ended.p;
        else if (ended.n && !strstr(f->reason, ended.p))
            f->reason = arena_printf(&r->arena, "%s%s%s", ended.p, f->reason[0] ? "; " : "", f->reason);
    } else if (have_rules && !outcome->complete)
        r->status = RUN_FAILED;
    if (!f->reason)
        f->reason = "";
    if (!f->reason[0] && failed && exit_status < 0)
        f->reason = "the recording ended before the program's end was observed";
    run_judge_references(&o->references, r, failed, o->public_profile, &f->verdict, &f->reason);
    record_tag(r, "benchwrap.verdict", str_of(f->verdict));
    if (f->reason[0])
        record_tag(r, "benchwrap.reason", str_of(f->reason));
}

/* ---- artifacts, tree ---- */

/* Records both streams as artifacts, and bytes of them that are not kept. Problems become
 * warnings. */
static void add_streams(struct spool *s, struct record *r, const struct finish_options *o)
{
    static const char *const logs[] = {"stdout.log", "stderr.log"};
    for (int i = 0; i < 2; i++) {
        struct buf path CLEANUP_BUF;
        const char *file = NULL;
        struct err err = {0};
        struct spool_stream_kept kept;
        buf_init(&path, 256);
        spool_stream_inspect(s->dir, logs[i], o->log_max, &kept);
        if (kept.cut) {
            record_tag(r, i ? "benchwrap.stderr_cut_B" : "benchwrap.stdout_cut_B", str_of(arena_printf(&r->arena, "%" PRIu64, kept.cut)));
            record_warning(r, "%s: %" PRIu64 " of %" PRIu64 " bytes are not kept (--log-max)", logs[i], kept.cut, kept.total);
        }
        if (spool_stream_join(s->dir, logs[i], o->log_max, &path, &file, &err))
            record_warning(r, "%s", err.text);
        if (file && o->withheld)
            record_missing(r, logs[i], "withheld: names were replaced in it, and a required metric is not in what is left");
        else if (file)
            record_artifact(r, logs[i], file);
    }
}

int finish_publish(struct spool *s, struct finished *f, const struct finish_options *o, struct err *err)
{
    struct record *r = &f->record;
    struct journal_head head = f->head;
    if (o->made)
        head.host = o->host;
    if (o->public_profile)
        record_tag(r, "benchwrap.profile", STR("public")); /* what has it may be committed to a public repository */
    if (o->public_profile)
        head.host = ""; /* argv is redacted already, like the output */
    CLEANUP_FD int root = place_open_folder(f->head.tree, 0777);
    if (root < 0)
        return err_sys(err, "tree: cannot open %s", f->head.tree);
    struct str name;
    if (tree_experiment(root, str_of(f->head.experiment), &r->arena, &f->experiment, &name, err))
        return err_wrap(err, "tree %s", f->head.tree);
    f->experiment_name = arena_dup(&r->arena, name.p, name.n);
    if (!str_is(name, f->head.experiment)) {
        record_warning(r, "experiment \"%s\" is kept as \"%s\": its id belongs to another name or the name is not allowed",
                       f->head.experiment, f->experiment_name ? f->experiment_name : "");
    }
    struct err ignore = {0};
    fs_remove_tree(s->dir, "run", &ignore);
    if (tree_build(r, &head, f->experiment, name, s->dir, s->dir, "run", err))
        return err_wrap(err, "tree");
    int rc = tree_publish(root, f->experiment, r->id, s->dir, "run", err);
    if (rc < 0)
        return err_wrap(err, "tree %s", f->head.tree);
    snprintf(f->place, sizeof f->place, "mlruns/%" PRIu32 "/%s", f->experiment, r->id);
    return 0;
}

/* What the finish step has found out before it publishes. */
struct finish_state {
    struct finish_options options;
    struct rules_outcome outcome;
    enum run_status program; /* outcome of the program, without regard to its output */
};

/* Copies verdict, reason and references from a record that is complete already. */
static int finish_as_recorded(struct spool *s, struct finished *f, struct finish_state *g, struct err *err)
{
    struct record *r = &f->record;
    struct buf references CLEANUP_BUF;
    struct str verdict = record_text(r, FACT_TAG, "benchwrap.verdict"), reason = record_text(r, FACT_TAG, "benchwrap.reason");
    buf_init(&references, REFERENCES_MAX);
    if (faccessat(s->dir, FINISH_REFERENCES, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        if (fs_read(s->dir, FINISH_REFERENCES, REFERENCES_MAX - 4096, 0, &references, err))
            return -1;
        r->references = (struct str){arena_dup(&r->arena, references.p ? references.p : "", references.n), references.n};
    }
    f->verdict = verdict.n ? verdict.p : "none";
    f->reason = reason.p ? reason.p : "";
    g->program = r->status;
    return 0;
}

/* Redacts the facts of the finish step like those of the recorder. For a public run it collects the
 * identities of this machine, unless the recorder passed its own. */
static int clean_facts(struct finished *f, const struct finish_options *o, struct identities *ids, char *const *env, struct err *err)
{
    if (!o->public_profile)
        redaction_begin_with(&f->redaction, NULL);
    else if (ids)
        redaction_begin_with(&f->redaction, ids);
    else if (redaction_begin_here(&f->redaction, true, env, err))
        return -1;
    redaction_of_record(&f->redaction, &f->record);
    return 0;
}

/* Withholds the streams, and marks the run as unverifiable, where names were replaced in a public
 * run and a required metric is missing: redaction may have replaced a word that the rules need. */
static void withhold_replaced_streams(struct record *r, const struct rules_outcome *outcome, struct finish_options *o)
{
    uint64_t places = 0;
    str_uint(record_text(r, FACT_TAG, "benchwrap.identities_replaced"), &places);
    if (!o->public_profile || !o->rules || outcome->complete || places == 0 || r->status != RUN_FINISHED)
        return;
    o->withheld = true;
    record_tag(r, "benchwrap.unverifiable", STR("yes"));
    record_warning(
        r, "names were replaced in the output (%" PRIu64 " places), and a required metric is missing in it: the streams are withheld",
        places);
}

/* Returns how many bytes of files the run may still keep, after its streams and those that it has
 * kept. */
static uint64_t files_left(const struct spool *s, const struct record *r, const struct finish_options *o)
{
    uint64_t streams = 2 * o->log_max, left = streams < o->artifact_max / 2 ? o->artifact_max - streams : o->artifact_max / 2;
    struct stat st;
    for (const struct fact *f = r->first; f && left; f = f->next) {
        char path[1100];
        snprintf(path, sizeof path, STR_FMT, STR_ARG(f->kind == FACT_ARTIFACT && f->text.n < 1000 ? f->text : STR("")));
        if (path[0] && fstatat(s->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
            left -= (uint64_t)st.st_size < left ? (uint64_t)st.st_size : left;
    }
    return left;
}

/* Records how long the run was, or where the recorder that measures it was killed, that this is missing: the last beat, by
 * CLOCK_MONOTONIC, is a lower bound. Journals of earlier versions have the wall clock alone. */
static void finish_wall(struct record *r, const struct journal_state *state, const struct finish_options *o)
{
    int64_t from_ms = state->started_ms ? state->started_ms : r->start_ms;
    double wall_s = (double)(state->ended || state->lasted_ms < 0 ? r->end_ms - from_ms : state->lasted_ms) / 1e3;
    const char *const keys[] = {o->series ? "series.wall_s" : NULL, o->made ? NULL : "run.wall_s"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!keys[i] || record_number(r, keys[i], -1) >= 0 || record_find(r, FACT_MISSING, keys[i]))
            continue;
        if (state->ended)
            record_metric(r, keys[i], wall_s, "s", DIR_LOWER, 0, r->end_ms);
        else
            record_missing(r, keys[i], "the recording was killed %.3g s after the start, and the program may have run longer", wall_s);
    }
    if (!state->ended && !o->made && record_number(r, "run.exit_status", -1) < 0)
        record_missing(r, "run.exit_status", "the recording was killed before it had observed the program's end");
}

/* Does all of finish_run but building and publishing. 0; -1 with err. The caller calls
 * finished_deinit in both cases. */
static int finish_complete(struct spool *s, const struct finish_program *program, struct finished *ret, struct finish_state *g,
                           struct err *err)
{
    struct journal_state state = {0};
    struct finish_options *o = &g->options;
    struct rules_outcome *outcome = &g->outcome;
    char *const *env = program ? program->env : NULL;
    *g = (struct finish_state){0};
    *ret = (struct finished){.verdict = "none", .reason = ""};
    if (journal_read(s->dir, &ret->record, &ret->head, &state, err))
        return err_wrap(err, "spool %s", s->name);
    struct record *r = &ret->record;
    if (finish_options_parse(o, ret->head.options, &r->arena, err))
        return -1;
    o->rules = journal_path(s->dir, o->rules, &r->arena);
    o->archive_dir = journal_path(s->dir, o->archive_dir, &r->arena);
    for (size_t i = 0; i < o->references.count; i++)
        o->references.path[i] = journal_path(s->dir, o->references.path[i], &r->arena);
    if (!o->told && clean_facts(ret, o, program ? program->ids : NULL, env, err))
        return -1;
    r->source = "recorder";
    if (!state.ended) {
        int64_t least_ms = state.lasted_ms >= 0 ? state.started_ms + state.lasted_ms : r->start_ms;
        r->end_ms = state.last_ms > least_ms ? state.last_ms : least_ms;
        r->status = RUN_KILLED;
        struct str signal = record_text(r, FACT_TAG, "job.signal"), end = record_text(r, FACT_TAG, "job.end");
        record_tag(r, "benchwrap.ended",
                   signal.n ? str_of(arena_printf(&r->arena, "killed by the scheduler, with the recording, after " STR_FMT "%s" STR_FMT,
                                                  STR_ARG(signal), end.n ? ": " : "", STR_ARG(end)))
                            : STR("the recording was killed"));
    }
    if (o->told)
        return finish_as_recorded(s, ret, g, err);
    if (o->series && series_finish(r, s->dir, outcome, err)) {
        record_warning(r, "series: %s", err->text);
        outcome->reason = "the repetitions' notes cannot be read";
    }
    nodes_finish(s->dir, r, o->public_profile);
    if (!o->made && !o->series)
        shared_finish(s, r, files_left(s, r, o), &ret->redaction.redact);
    r->source = "recorder";
    finish_wall(r, &state, o);
    if (o->rules && apply_rules(s, ret, o, env, outcome, err)) {
        record_warning(r, "rules: %s", err->text);
        outcome->reason = "the rules could not be applied";
        outcome->complete = true; /* the fault is benchwrap's, not the program's */
    }
    if (!o->rules && !o->series)
        rules_headline_logged(r);
    if (!o->made && !o->series) {
        energy_results_make(r, s->dir, o->public_profile);
        energy_results_price(r);
    }
    g->program = r->status;
    withhold_replaced_streams(r, outcome, o);
    finish_judge(ret, outcome, o);
    add_streams(s, r, o);
    if (o->archive)
        archive_store(&(struct archive_job){s, r, &ret->head});
    if (state.lost || record_lost(r))
        record_warning(r, "%zu fact%s not in this record: out of memory for them", state.lost + record_lost(r),
                       state.lost + record_lost(r) == 1 ? " is" : "s are");
    return 0;
}

int finish_look(struct spool *s, struct finished *ret, struct err *err)
{
    struct finish_state g;
    return finish_complete(s, NULL, ret, &g, err);
}

/* Adds the run to the exporters' queues before it is marked as published: after a kill the next
 * finish adds the same entries. A failure becomes f->note. */
static void queue_exports(const struct spool *s, struct finished *f, const struct finish_options *o, const char *places)
{
    struct err why = {0};
    char relative[4096];
    const char *tree = f->head.tree;
    if (o->public_profile && spool_relative(s, tree, relative, sizeof relative))
        tree = relative;
    if (run_exports_queue(s, o->exporters, tree, places, f->record.end_ms, &why) && !f->note[0])
        snprintf(f->note, sizeof f->note, "%s", why.text);
}

int finish_run(struct spool *s, const struct finish_program *program, struct finished *ret, struct err *err)
{
    struct finish_state g;
    struct buf places CLEANUP_BUF;
    buf_init(&places, 1 << 20);
    if (finish_complete(s, program, ret, &g, err) || children_publish(s, ret, &g.options, &g.outcome, g.program, &places, err) ||
        shared_publish(s, ret, &g.options, &places, err) || finish_publish(s, ret, &g.options, err))
        return -1;
    struct record *r = &ret->record;
    if (g.options.archive_dir) {
        struct err note = {0};
        archive_export(&(struct archive_job){s, r, &ret->head}, g.options.archive_dir, &note);
        snprintf(ret->note, sizeof ret->note, "%s", note.text);
    }
    char *parent = arena_dup(&r->arena, ret->head.tree, strlen(ret->head.tree));
    struct err why = {0};
    char *where = arena_printf(&r->arena, "%s%s", ret->place, places.n ? places.p : ""), relative[4096];
    if (parent && g.options.public_profile && spool_relative(s, ret->head.tree, relative, sizeof relative))
        parent = relative;
    if (parent && where && g.options.exporters)
        queue_exports(s, ret, &g.options, where);
    if (!parent || !where || spool_mark_published(s, dirname(parent), where, &why))
        record_warning(r, "%s", why.text); /* the next run finds it published already */
    else if (record_number(r, "run.exit_status", -1) >= 0 && record_number(r, "run.left_running", 0) <= 0)
        spool_drop_shared(s); /* no client logs to it any more, and what the client wrote there may have secrets in it */
    return 0;
}

void finished_deinit(struct finished *f)
{
    record_deinit(&f->record);
    redaction_end(&f->redaction);
}
