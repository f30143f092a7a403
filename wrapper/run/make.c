/* make.c: a finished run made from facts, published the way of every run. */
#include "run/make.h"

#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { TEXTS_MAX = 4 << 20 }; /* bytes of a command line */

void make_id(char ret[33], const char *purpose, struct str name)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    buf_printf(&text, "%s:", purpose);
    buf_str(&text, name);
    record_named_id(ret, buf_text(&text));
}

int make_begin(struct made_run *m, const struct make_plan *plan, struct err *err)
{
    char unique[33], name[64];
    struct buf options CLEANUP_BUF;
    struct journal_head head = plan->head;
    struct finish_options o = plan->options;
    *m = (struct made_run){.spool = SPOOL_NONE};
    if (plan->id && plan->id[0])
        memcpy(head.id, plan->id, sizeof head.id);
    else
        record_new_id(head.id);
    o.made = true;
    buf_init(&options, 64 * 1024);
    finish_options_print(&o, &options);
    if (options.failed)
        return err_memory(err, "a run");
    head.options = options.p;
    record_new_id(unique);
    snprintf(name, sizeof name, SPOOL_MAKING "%s", unique);
    if (spool_create(&m->spool, plan->spool, name, err))
        return -1;
    redaction_begin_with(&m->redaction, NULL); /* names were replaced when the run was recorded, or by who makes it */
    arena_init(&m->texts, TEXTS_MAX);
    head.argv = head.argv ? redaction_argv(&m->redaction, head.argv, &m->texts) : NULL;
    head.run_name = head.run_name ? redaction_text(&m->redaction, head.run_name, &m->texts) : NULL;
    head.experiment = head.experiment ? redaction_name(&m->redaction, head.experiment, &m->texts) : NULL;
    if (journal_create(&m->journal, m->spool.dir, &head, err)) {
        arena_deinit(&m->texts);
        spool_discard(&m->spool, NULL);
        spool_close(&m->spool);
        return -1;
    }
    record_init(&m->record, head.id, head.start_ms);
    m->record.listen = journal_fact;
    m->record.context = m->journal;
    m->record.source = "recorder";
    redaction_of_record(&m->redaction, &m->record);
    if (m->redaction.hidden_arguments)
        record_tag(&m->record, "benchwrap.hidden_arguments", str_of(m->redaction.hidden_arguments));
    return 0;
}

/* Adds the regular file dir/path to the spool under `name` ("stdout.log"), linked where that works.
 * Streams need no fact of their own. */
static int make_link(struct made_run *m, int dir, const char *path, const char *name, struct err *err)
{
    return fs_link(dir, path, m->spool.dir, name, 0644, err);
}

static bool is_artifact_listed(const char *const *names, struct str name)
{
    for (; *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

int make_link_artifacts(struct made_run *m, const struct record *before, int artifacts, bool again, struct err *err)
{
    static const char *const anew[] = {"benchwrap.json", "manifest.json", "series.jsonl", NULL},
                             *const read_again[] = {"rules.yaml", "repetitions.jsonl", "points.csv", NULL},
                             *const streams[] = {"stdout.log", "stderr.log", NULL};
    size_t n = 0;
    for (const struct fact *f = before->first; f; f = f->next) {
        if (f->kind != FACT_ARTIFACT || is_artifact_listed(anew, f->key) || (again && is_artifact_listed(read_again, f->key)))
            continue;
        const char *from = arena_dup(&m->texts, f->key.p, f->key.n), *to = arena_printf(&m->texts, "kept-%zu", n++);
        bool stream = again && is_artifact_listed(streams, f->key);
        if (!from || !to)
            return err_memory(err, "the names of artifacts");
        if (make_link(m, artifacts, from, stream ? from : to, err))
            return -1;
        m->record.source = f->source;
        if (!stream) /* the end of the run records them */
            record_artifact(&m->record, from, to);
    }
    return 0;
}

int make_text(struct made_run *m, const char *name, struct str text, struct err *err)
{
    struct buf clean CLEANUP_BUF;
    buf_init(&clean, text.n + 4096);
    buf_str(&clean, text);
    if (clean.failed)
        return err_memory(err, "%s", name);
    redact_text(&m->redaction.redact, clean.p, clean.n);
    return fs_create(m->spool.dir, name, buf_text(&clean), 0644, err);
}

void make_fact(struct made_run *m, const struct fact *fact)
{
    record_fact(&m->record, fact);
}

static void make_close_all(struct made_run *m)
{
    if (m->journal)
        journal_close(m->journal);
    m->journal = NULL;
    spool_close(&m->spool);
    record_deinit(&m->record);
    redaction_end(&m->redaction);
    arena_deinit(&m->texts);
}

void make_drop(struct made_run *m)
{
    spool_discard(&m->spool, NULL);
    make_close_all(m);
}

/* Renames the spool directory to the run's id: from then on it is a run. 0; 1: there is one of this
 * id; -1 with err. */
static int make_claim_id(struct made_run *m, struct err *err)
{
    struct spool *s = &m->spool;
    if (renameat2(s->root, s->name, s->root, m->record.id, RENAME_NOREPLACE)) {
        /* where the file system knows no such rename: a folder with a journal in it is not replaced either */
        bool plain = (errno == EINVAL || errno == ENOSYS) && renameat(s->root, s->name, s->root, m->record.id) == 0;
        if (!plain && (errno == EEXIST || errno == ENOTEMPTY))
            return 1;
        if (!plain)
            return err_sys(err, "spool: cannot move the run %s to its place", m->record.id);
    }
    snprintf(s->name, sizeof s->name, "%s", m->record.id);
    return 0;
}

int make_close(struct made_run *m, enum run_status status, const char *why, int64_t end_ms, struct err *err)
{
    if (why && *why)
        record_tag(&m->record, "benchwrap.ended", str_of(why));
    journal_ended(m->journal, end_ms, status, why ? why : "");
    int rc = journal_flush(m->journal, false, err);
    return rc > 0 ? err_set(err, ERR_SYSTEM, "the journal is incomplete") : rc;
}

int make_look(struct made_run *m, struct finished *ret, struct err *err)
{
    return finish_look(&m->spool, ret, err);
}

int make_publish(struct made_run *m, struct finished *ret, struct err *err)
{
    *ret = (struct finished){.verdict = "none", .reason = ""};
    int rc = make_claim_id(m, err);
    if (rc) {
        make_drop(m);
        return rc;
    }
    rc = finish_run(&m->spool, NULL, ret, err); /* the journal's lock is held, so no other process finishes the run */
    make_close_all(m);
    return rc;
}

int make_end(struct made_run *m, enum run_status status, const char *why, int64_t end_ms, struct finished *ret, struct err *err)
{
    *ret = (struct finished){.verdict = "none", .reason = ""};
    if (make_close(m, status, why, end_ms, err) == 0)
        return make_publish(m, ret, err);
    make_drop(m);
    return -1;
}

/* Syncs the tree's file system, then removes the spools of these ids whose runs are published. Skips an
 * id that has no spool or another user's. 0; -1 with err: the sync failed and none is removed, or a
 * spool could not be opened or removed and the others are. */
static int settle_published(const char *tree, const char *spool, char (*ids)[33], size_t count, struct err *err)
{
    CLEANUP_FD int root = place_open_folder(tree, 0);
    if (count == 0)
        return 0;
    if (root < 0)
        return err_sys(err, "tree: cannot open %s", tree);
    if (syncfs(root))
        return err_sys(err, "cannot sync %s", tree);
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        struct spool s;
        int got = spool_open(&s, spool, ids[i], err);
        if (got) {
            rc = got < 0 ? -1 : rc;
            continue;
        }
        if (spool_published_for(&s) != INT_MAX && spool_discard(&s, err))
            rc = -1;
        spool_close(&s);
    }
    return rc;
}

int make_batch_settle(struct make_batch *b, struct err *err)
{
    size_t count = b->count;
    b->count = 0;
    return settle_published(b->tree, b->spool, b->ids, count, err);
}

int make_batch_add(struct make_batch *b, const char *id, struct err *err)
{
    memcpy(b->ids[b->count++], id, sizeof *b->ids);
    return b->count == sizeof b->ids / sizeof *b->ids ? make_batch_settle(b, err) : 0;
}
