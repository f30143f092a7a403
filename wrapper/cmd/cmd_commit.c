/* cmd_commit.c: `benchwrap commit`: the runs of the tree that are in no commit yet. */
#include "base/json_out.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "plan/results.h"
#include "results/commit_runs.h"

#include <unistd.h>

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    {.name = OPTION_REPO,
     .kind = OPT_TEXT,
     .arg = "DIR",
     .group = "Selection",
     .help = "Commit to this repository, bare or not (default: the one that contains the tree)"},
    {.name = OPTION_PRIVATE,
     .kind = OPT_FLAG,
     .group = "Selection",
     .help = "Into a public repository, also take runs that were recorded with the private profile"},
    {.name = OPTION_DRY_RUN,
     .letter = 'n',
     .kind = OPT_FLAG,
     .group = "Behaviour",
     .help = "Print what would be committed, and write nothing"},
    {.name = OPTION_WAIT,
     .letter = 'w',
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "60s",
     .group = "Behaviour",
     .help = "Wait this long for others who commit to the same repository"},
    CMD_ROW_JSON,
};

enum { COMMIT_NOTES_MAX = 16 << 20 };

struct telling {
    struct cmd_context *c;
    struct progress progress;
    struct buf notes;
    struct json_out list; /* of JSON texts, into notes */
    size_t count;
};

static void commit_note(void *context, const char *text)
{
    enum { SHOWN = 10 };
    struct telling *t = context;
    t->count++;
    json_text(&t->list, NULL, text);
    if (opt_on(&t->c->opts, OPTION_JSON) || t->count > SHOWN)
        return;
    progress_clear(&t->progress);
    fprintf(t->c->notes, "benchwrap: commit: %s\n", t->count == SHOWN ? "more runs stay out; --json lists them with the reasons" : text);
}

static void commit_show_progress(void *context, size_t done, size_t total)
{
    struct telling *t = context;
    t->progress.total = total;
    progress_show(&t->progress, done, NULL);
}

static void commit_print(struct telling *t, const struct results *s, const struct commit_done *d, bool dry)
{
    FILE *out = t->c->out;
    const char *branch = s->branch + strlen("refs/heads/");
    if (opt_on(&t->c->opts, OPTION_JSON)) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, COMMIT_NOTES_MAX + 4096);
        struct json_out j = json_begin(&b, JSON_TIGHT, '{');
        json_text(&j, "branch", branch);
        json_uint(&j, "runs", d->runs);
        json_uint(&j, "commits", d->commits);
        json_uint(&j, "bytes", d->bytes);
        json_uint(&j, "left_out", d->out);
        json_flag(&j, "repacked", d->repacked);
        json_flag(&j, "dry_run", dry);
        json_text(&j, "tip", d->tip[0] ? d->tip : NULL);
        json_open(&j, "notes", '[');
        json_members(&j, buf_text(&t->notes));
        json_close(&j, ']');
        json_close(&j, '}');
        fprintf(out, "%s\n", b.p ? b.p : "");
        return;
    }
    if (d->runs == 0)
        fprintf(out, "nothing to commit: %s\n", d->out ? "the runs that are new stay out" : "every run of the tree is in a commit");
    else if (dry)
        fprintf(out, "%zu run%s would be committed to %s\n", d->runs, str_plural(d->runs), branch);
    else
        fprintf(out, "%zu run%s committed to %s, %.12s\n", d->runs, str_plural(d->runs), branch, d->tip);
}

/* Commits the runs that no commit has, and prints them. 0; 1: some were left out; -1 with c->err. */
static int commit_pending(struct cmd_context *c, const struct plan *plan)
{
    struct results s;
    struct commit_done done;
    struct telling t = {.c = c};
    bool dry = opt_on(&c->opts, OPTION_DRY_RUN);
    if (plan_results(plan, opt_text(&c->opts, OPTION_REPO), !dry, c->arena, &s, c->err))
        return -1;
    buf_init(&t.notes, COMMIT_NOTES_MAX);
    t.list = (struct json_out){.to = &t.notes, .layout = JSON_TIGHT};
    progress_begin(&t.progress, c->notes, "committing run", 0);
    struct commit_wish wish = {.dry = dry,
                               .private_too = opt_on(&c->opts, OPTION_PRIVATE),
                               .prompt = isatty(STDIN_FILENO),
                               .wait_s = opt_seconds(&c->opts, OPTION_WAIT),
                               .note = commit_note,
                               .progress = commit_show_progress,
                               .context = &t};
    int rc = commit_runs(&s, &wish, &done, c->err);
    progress_clear(&t.progress);
    if (rc == 0)
        commit_print(&t, &s, &done, dry);
    buf_deinit(&t.notes);
    results_close(&s);
    return rc ? -1 : done.out ? 1 : 0;
}

static int commit_command(struct cmd_context *c)
{
    struct plan plan;
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected no operands, got \"%.60s\": all new runs of the tree are committed", c->argv[0]);
    if (plan_make_for(&plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    int rc = commit_pending(c, &plan);
    plan_deinit(&plan);
    return rc;
}

const struct cmd cmd_commit = {
    .name = "commit",
    .summary = "Commit new runs to the results repository",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description = "Runs recorded in a results repository (see \"benchwrap help init\") are committed by themselves when they are "
                   "recorded, one commit each, while their experiment has fewer than 1000 runs; after that a day's runs come together, "
                   "since each commit of a folder writes all of its names. This command commits at once all runs that are in no commit: "
                   "not on the branch of this clone, not in HEAD, not in the upstream's default branch.\n\n"
                   "The commit goes to the branch benchwrap/SITE/CLONE. HEAD, the index and the work tree are left alone, so it works with"
                   " any checkout and staged changes, in a worktree, a shallow clone or a bare repository (with --repo). The new objects "
                   "are one pack, synced before the branch moves: a kill or a full disk at any moment leaves the repository as it was, and"
                   " the next commit does what is missing.\n\n"
                   "Author and signature are git's own settings (user.name, commit.gpgSign, gpg.format, user.signingKey). In a public "
                   "repository the site is the author, and runs recorded with the private profile stay out.\n\n"
                   "Status 0: done. 1: some runs stay out, and the reasons are printed.",
    .examples = "$ benchwrap commit --dry-run --repo results\nHow many runs wait for a commit.\n",
    .run = commit_command,
};
