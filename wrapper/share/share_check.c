/* share_check.c: what the reviewer's check finds in the branch, before it leaves the site. */
#include "benchmarks/catalogue.h"
#include "check/range.h"
#include "check/check_report.h"
#include "share/share.h"

#include "base/progress.h"

static void share_show_progress(void *context, size_t done, size_t total)
{
    struct progress *p = context;
    p->total = total;
    progress_show(p, done, NULL);
}

/* Returns the shared run of the finding; NULL: the finding is about none that is shared. */
static struct share_run *share_run_of(struct share *s, const char *path, const char **ret_file)
{
    struct str experiment, id;
    bool named = check_report_run(s->results.prefix, path, &experiment, &id, ret_file);
    for (size_t i = 0; named && i < s->count; i++)
        if (str_is(id, s->list[i].id) && str_is(experiment, s->list[i].experiment))
            return &s->list[i];
    return NULL;
}

/* Leaves out what belongs to a run that is left out. Returns 1 if there was something. */
static int leave_out_more(struct share *s)
{
    size_t more = share_leave_out_related(s);
    s->shared -= more;
    return more > 0;
}

/* Returns 1 if a run was left out. */
static int share_leave_out_refused(struct share *s, struct err *err)
{
    int rc = 0;
    for (const struct check_finding *f = s->check.first; f; f = f->next) {
        const struct check_finding_kind *kind = &check_kinds[f->id];
        const char *file = "";
        if (s->check.severity[f->id] != CHECK_ERROR)
            continue;
        struct share_run *r = share_run_of(s, f->path, &file);
        if (!r)
            return err_set(err, ERR_INPUT, "check refuses the branch %s: %s: %.200s: %.300s; %s. Nothing was pushed", s->branch, kind->word,
                           f->path, f->text, kind->remedy);
        if (r->left_out)
            continue;
        r->left_out =
            arena_printf(s->arena, "check refuses it (%s): %s%s%s; %s", kind->word, file, *file ? ": " : "", f->text, kind->remedy);
        if (!r->left_out)
            return err_memory(err, "the check of runs");
        s->shared--;
        s->refused++;
        rc = 1;
    }
    leave_out_more(s);
    return rc;
}

/* Returns -1 with err where a filter of git's (LFS) would store something else than the bytes of a
 * run, and show it as changed in every clone. */
static int refuse_filters(struct share *s, struct err *err)
{
    char from[REPO_HEX], to[REPO_HEX];
    const char *const names[] = {"diff-tree", "-r", "-z", "--name-only", from, to, NULL}, *const attributes[] = {"check-attr", "-z",
                                                                                                                 "--stdin", "filter", NULL};
    struct program_end files = {0}, end = {0};
    repo_id_hex(&s->target, from);
    repo_id_hex(&s->tip, to);
    int rc = share_git(s, 120, names, (struct str){0}, &files, err);
    if (rc == 0)
        rc = files.status ? program_err(&files, err, "listing the files of the runs")
                          : share_git(s, 120, attributes, buf_text(&files.out), &end, err);
    if (rc == 0 && end.status)
        rc = program_err(&end, err, "reading git's attributes");
    for (struct str rest = buf_text(&end.out); rc == 0 && rest.n;) {
        struct str path = str_cut(&rest, 0), value = (str_cut(&rest, 0), str_cut(&rest, 0));
        if (!value.n || str_is(value, "unspecified") || str_is(value, "unset"))
            continue;
        err_set(err, ERR_INPUT, "git's filter \"%.*s\" would change %.*s, and runs are stored as they are",
                (int)(value.n < 40 ? value.n : 40), value.p, (int)(path.n < 200 ? path.n : 200), path.p);
        rc = err_hint(err, "end .gitattributes with the line \"mlruns/** -text -merge -filter\"");
    }
    program_end_deinit(&files);
    program_end_deinit(&end);
    return rc;
}

int share_check(struct share *s, struct err *err)
{
    if (leave_out_more(s)) /* one could not be committed */
        return 1;
    if (refuse_filters(s, err))
        return -1;
    struct catalogue ours = {.folders = 0};
    struct check_state *k = &s->check;
    struct progress p;
    check_begin(k, s->arena);
    k->has_remote = true;
    k->now_ms -= s->ahead_ms; /* the forge's job has another clock than this machine */
    k->catalogue = &ours;
    k->progress = share_show_progress;
    k->context = &p;
    progress_begin(&p, s->notes, "checking run", 0);
    int rc = check_range(k, s->repo, &s->target, &s->tip, s->results.prefix, err);
    progress_clear(&p);
    check_end(k);
    if (rc)
        return err_wrap(err, "checking the branch %s", s->branch);
    if (k->by_severity[CHECK_ERROR] && s->behind) { /* what a run refers to may have been merged since */
        s->renew = true;
        return 1;
    }
    return s->no_check ? 0 : share_leave_out_refused(s, err);
}
