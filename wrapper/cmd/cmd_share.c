/* cmd_share.c: `benchwrap share`: the runs that the target never had go to a branch of one's own, with one pull request. */
#include "base/json_out.h"
#include "base/listing.h"
#include "base/show.h"
#include "share/share.h"
#include "cmd/selection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct done {
    struct share_request request;
    enum share_pushed pushed;
    bool tried; /* something was to be pushed */
};

/* ---- what leaves the site ---- */

static const struct listing_column experiment_columns[] = {
    {"experiment", "EXPERIMENT", false, 60}, {"runs", "RUNS", true, 0},         {"files", "FILES", true, 0}, {"bytes", "SIZE", true, 0},
    {"redacted", "REDACTED", true, 0},       {"withheld", "WITHHELD", true, 0},
};
static const struct listing_column run_columns[] = {
    {"id", NULL, false, 0},      {"experiment", NULL, false, 0}, {"name", NULL, false, 0},   {"benchmark", NULL, false, 0},
    {"verdict", NULL, false, 0}, {"headline", NULL, false, 0},   {"files", NULL, true, 0},   {"bytes", NULL, true, 0},
    {"redacted", NULL, true, 0}, {"withheld", NULL, true, 0},    {"shared", NULL, false, 0}, {"why", NULL, false, 0},
};

static const char *experiment_name(const struct share_run *r)
{
    return r->run ? r->run->experiment : r->experiment;
}

static void add_sum(struct listing *l, const char *name, const struct share_run *sum, size_t runs)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, 100);
    show_size(&b, sum->bytes);
    listing_text(l, name);
    listing_number(l, (double)runs, NULL);
    listing_number(l, (double)sum->files, NULL);
    listing_number(l, (double)sum->bytes, b.p);
    listing_number(l, (double)sum->redacted, NULL);
    listing_number(l, (double)sum->withheld, NULL);
}

static void fill_experiments(const struct share *s, struct listing *l)
{
    struct share_run all = {0};
    size_t groups = 0;
    for (size_t i = 0; i < s->count;) {
        struct share_run sum = {0};
        size_t first = i, runs = 0;
        for (; i < s->count && strcmp(s->list[i].experiment, s->list[first].experiment) == 0; i++) {
            const struct share_run *r = &s->list[i];
            if (r->left_out)
                continue;
            runs++;
            sum.files += r->files, sum.bytes += r->bytes, sum.redacted += r->redacted, sum.withheld += r->withheld;
        }
        if (!runs)
            continue;
        add_sum(l, experiment_name(&s->list[first]), &sum, runs);
        all.files += sum.files, all.bytes += sum.bytes, all.redacted += sum.redacted, all.withheld += sum.withheld;
        groups++;
    }
    if (groups > 1)
        add_sum(l, "all", &all, s->shared);
}

static void fill_runs(const struct share *s, struct listing *l)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct share_run *r = &s->list[i];
        listing_text(l, r->id);
        listing_text(l, experiment_name(r));
        listing_text(l, r->run ? r->run->name : NULL);
        listing_text(l, r->benchmark);
        listing_text(l, r->verdict);
        listing_text(l, r->headline);
        listing_number(l, (double)r->files, NULL);
        listing_number(l, (double)r->bytes, NULL);
        listing_number(l, (double)r->redacted, NULL);
        listing_number(l, (double)r->withheld, NULL);
        listing_text(l, r->left_out ? "no" : "yes");
        listing_text(l, r->left_out);
    }
}

/* ---- what came of it ---- */

static const char *const outcomes[] = {"opened", "refreshed", "by hand", "closed by hand", "no forge", "failed"};

/* Prints runs and outcome as JSON. `d`: what was done; !d->tried: nothing was pushed. 0; -1: out of
 * memory, nothing is printed. */
static int share_print_json(const struct share *s, const struct done *d, FILE *out)
{
    struct buf b CLEANUP_BUF, part CLEANUP_BUF;
    struct listing l;
    char hex[REPO_HEX] = "";
    buf_init(&b, 1u << 30);
    buf_init(&part, 1u << 30);
    listing_init(&l, run_columns, sizeof run_columns / sizeof *run_columns, s->arena);
    fill_runs(s, &l);
    listing_json(&l, &part);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_text(&j, "site", s->site);
    json_text(&j, "branch", s->branch);
    json_text(&j, "remote", s->to);
    json_text(&j, "target", arena_printf(s->arena, "%s/%s", s->remote, s->base));
    json_int(&j, "shared", (int64_t)s->shared);
    json_int(&j, "left_out", (int64_t)(s->count - s->shared));
    json_int(&j, "refused", (int64_t)s->refused);
    json_text(&j, "no_check", s->no_check);
    json_raw(&j, "runs", buf_text(&part));
    json_flag(&j, "dry_run", s->dry);
    json_flag(&j, "pushed", d->tried && d->pushed == SHARE_PUSHED);
    if (d->tried)
        repo_id_hex(&s->tip, hex);
    json_text(&j, "commit", d->tried ? hex : NULL);
    json_text(&j, "pull_request", d->tried ? outcomes[d->request.outcome] : NULL);
    json_text(&j, "number", d->request.pull.number ? arena_printf(s->arena, "%llu", (unsigned long long)d->request.pull.number) : NULL);
    json_text(&j, "url", d->request.pull.number ? d->request.pull.url : d->request.link);
    json_text(&j, "remark", d->request.remark);
    json_close(&j, '}');
    bool bad = l.failed || b.failed || part.failed;
    if (!bad)
        fputs(b.p, out);
    listing_deinit(&l);
    return bad ? -1 : 0;
}

static void share_print_line(FILE *out, const char *text)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, 8192);
    buf_plain(&b, str_of(text), 2000);
    fprintf(out, "%s\n", b.p ? b.p : "");
}

/* Lists the pseudonyms and the names that they replace. */
static void print_replaced(const struct share *s, FILE *out)
{
    size_t places = 0;
    for (size_t i = 0; i < s->count; i++)
        places += s->list[i].left_out ? 0 : s->list[i].redacted;
    if (places && s->results.public_profile)
        share_print_line(out, "REDACTED: uuu1 stands for a user, hhh2 for a host, /ddd3 for a home folder; a secret is [redacted]");
}

/* The table counts a correction as a run. */
static void print_corrections(const struct share *s, FILE *out)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct share_run *r = &s->list[i];
        if (r->annotates && !r->left_out)
            share_print_line(out, arena_printf(s->arena, "annotation: %.8s annotates the run %.8s", r->id, r->annotates));
        if (r->corrects && !r->left_out)
            share_print_line(
                out, arena_printf(s->arena, r->retracts ? "retraction: %.8s retracts the run %.8s" : "amendment: %.8s amends the run %.8s",
                                  r->id, r->corrects));
    }
}

/* Each finding that does not keep a run here, once: the pull request shows them all. */
static void print_warnings(const struct share *s, FILE *out)
{
    bool printed[CHECK_KINDS] = {false};
    for (const struct check_finding *f = s->check.first; s->shared && f; f = f->next) {
        size_t n = 0;
        if (s->check.severity[f->id] != CHECK_WARNING || printed[f->id])
            continue;
        printed[f->id] = true;
        for (const struct check_finding *x = f; x; x = x->next)
            n += x->id == f->id;
        const char *more = n > 1 ? arena_printf(s->arena, " (and %zu more)", n - 1) : "";
        share_print_line(out, arena_printf(s->arena, "warning: %s: %s: %s%s", check_kinds[f->id].word, f->path, f->text, more));
    }
}

static void print_other_sites(const struct share *s, FILE *out)
{
    struct buf names CLEANUP_BUF;
    buf_init(&names, 4096);
    size_t runs = share_other_sites(s, &names);
    if (runs)
        share_print_line(out, arena_printf(s->arena, "remark: %zu run%s bear%s another site's name: %s", runs, str_plural(runs),
                                           runs == 1 ? "s" : "", names.p ? names.p : ""));
}

/* Each reason once, with how many runs it is about. */
static void print_left_out(const struct share *s, FILE *out)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t runs = 0;
        bool told = false;
        for (size_t k = 0; s->list[i].left_out && k < s->count; k++) {
            bool same = s->list[k].left_out && strcmp(s->list[k].left_out, s->list[i].left_out) == 0;
            told = told || (same && k < i);
            runs += same;
        }
        if (runs && !told)
            share_print_line(out, arena_printf(s->arena, "left out: %zu run%s (%.8s%s): %s", runs, str_plural(runs), s->list[i].id,
                                               runs > 1 ? " …" : "", s->list[i].left_out));
    }
}

static void print_request(const struct share *s, const struct share_request *q, FILE *out)
{
    struct arena *a = s->arena;
    unsigned long long number = q->pull.number;
    if (q->outcome == SHARE_OPENED)
        share_print_line(out, arena_printf(a, "pull request #%llu opened: %s", number, q->pull.url));
    if (q->outcome == SHARE_REFRESHED)
        share_print_line(out, arena_printf(a, "pull request #%llu is up to date: %s", number, q->pull.url));
    if (q->outcome == SHARE_FAILED && q->link)
        share_print_line(out, arena_printf(a, "the pull request can be opened by hand: %s", q->link));
    if (q->outcome == SHARE_BY_HAND && q->link)
        share_print_line(out, arena_printf(a, "no token: open the pull request by hand: %s", q->link));
    else if (q->outcome == SHARE_BY_HAND || q->outcome == SHARE_NO_FORGE) {
        share_print_line(out, arena_printf(a, "no forge known: open a pull request from %s to %s of %s,", s->branch, s->base, s->remote));
        share_print_line(out, arena_printf(a, "or merge the branch in a clone of %s, after git pull:", s->base));
        share_print_line(out, arena_printf(a, "  benchwrap check --range %s..%s/%s", s->base, s->remote, s->branch));
        share_print_line(out, arena_printf(a, "  git merge %s/%s && git push", s->remote, s->branch));
    }
    if (q->remark)
        share_print_line(out, arena_printf(a, "remark: %s", q->remark));
}

static int print_table(const struct share *s, const struct done *d, FILE *out)
{
    struct listing l;
    listing_init(&l, experiment_columns, sizeof experiment_columns / sizeof *experiment_columns, s->arena);
    fill_experiments(s, &l);
    int bad = listing_print(&l, out);
    listing_deinit(&l);
    print_replaced(s, out);
    print_corrections(s, out);
    print_left_out(s, out);
    print_other_sites(s, out);
    print_warnings(s, out);
    if (!s->shared)
        share_print_line(out,
                         arena_printf(s->arena, "nothing to share: %s/%s already has %zu of %zu local run%s%s", s->remote, s->base,
                                      s->known, s->local, str_plural(s->local), s->count ? "; the others are left out (see above)" : ""));
    else if (s->dry)
        share_print_line(out, arena_printf(s->arena, "would go to %s of %s, for %s/%s", s->branch, s->to, s->remote, s->base));
    else if (d->tried) {
        share_print_line(out, arena_printf(s->arena, "%s %s of %s, for %s/%s",
                                           d->pushed == SHARE_PUSHED ? "pushed to" : "all runs are already in", s->branch, s->to, s->remote,
                                           s->base));
        print_request(s, &d->request, out);
    }
    return bad ? -1 : 0;
}

/* ---- the story ---- */

static int closed_by_hand(const struct forge_pull *pull, struct err *err)
{
    return err_set(
        err, ERR_INPUT,
        "pull request #%llu of this branch was closed without being merged (%.200s): nothing was pushed. To open another: benchwrap share --reopen",
        (unsigned long long)pull->number, pull->url);
}

/* The branch without runs that check refuses: those are known only when the branch exists. */
static int share_build_checked(struct share *s, struct err *err)
{
    int rc = 1;
    while (rc == 1 && s->shared)
        rc = share_build(s, err) ? -1 : share_check(s, err);
    return rc < 0 ? -1 : 0;
}

/* Builds and pushes the branch, and opens or updates the pull request. d->tried: the branch is at
 * the remote, also where the request then failed. 0; -1 with err. */
static int send_runs(struct share *s, struct done *d, struct err *err)
{
    struct share_forge *forge;
    if (share_forge_open(s, &forge, &d->request, err)) {
        err_wrap(err, "nothing was pushed");
        return err->hint[0] ? -1 : err_hint(err, "to push without a request: benchwrap share --no-pull-request");
    }
    int rc = d->request.outcome == SHARE_CLOSED_BY_HAND ? closed_by_hand(&d->request.pull, err) : share_build_checked(s, err);
    if (rc == 0 && s->shared)
        rc = share_push(s, &d->pushed, err);
    d->tried = rc == 0 && s->shared;
    if (d->tried && forge)
        rc = share_forge_request(s, forge, &d->request, err);
    share_forge_close(forge);
    return rc ? -1 : 0;
}

/* Shares the new runs and prints what was done, also where only the pull request failed. 0; -1 with
 * the command's error, also where check refuses runs. */
static int share_new_runs(struct share *s, struct cmd_context *c)
{
    struct err *err = c->err;
    struct done d = {0};
    if (share_find_places(s, err) || share_find_runs(s, err))
        return -1;
    share_measure(s);
    int rc = !s->shared ? 0 : s->dry ? share_build_checked(s, err) : send_runs(s, &d, err);
    if (rc && !d.tried)
        return rc;
    struct err kept = *err; /* pushed, but the pull request is not: both are reported */
    if (opt_on(&c->opts, OPTION_JSON) ? share_print_json(s, &d, c->out) : print_table(s, &d, c->out))
        return err_memory(err, "the list of runs");
    if (rc)
        *err = kept;
    else if (s->refused)
        rc = err_set(err, ERR_INPUT, "check refuses %zu run%s, left out above: correct what it found, or send them with --no-check REASON",
                     s->refused, str_plural(s->refused));
    return rc;
}

static int share_open_tree(struct share *s, struct cmd_context *c)
{
    struct err err = {0};
    if (selection_open(&s->runs, c, &err) == 0 || err.sys == 0) /* no tree here: a bare repository has its runs in the branch */
        return 0;
    *c->err = err;
    return -1;
}

/* git and libgit2 report a full disk as text alone. Messages about the remote's disk are the
 * remote's own, and get no hint. */
static void hint_at_full_disk(const struct share *s, struct err *err)
{
    if (s->dir && !err->hint[0] && err->kind != ERR_REMOTE && (strstr(err->text, strerror(ENOSPC)) || strstr(err->text, strerror(EDQUOT))))
        err_hint(err, "free space in %.200s, then run benchwrap share again", s->dir);
}

static int share_command(struct cmd_context *c)
{
    struct share s = {.arena = c->arena,
                      .env = c->env,
                      .notes = c->notes,
                      .options = {.remote = opt_text(&c->opts, OPTION_REMOTE),
                                  .to = opt_text(&c->opts, OPTION_TO),
                                  .base = opt_text(&c->opts, OPTION_BASE),
                                  .token_file = opt_text(&c->opts, OPTION_TOKEN_FILE),
                                  .no_verify = opt_on(&c->opts, OPTION_NO_VERIFY),
                                  .no_pull_request = opt_on(&c->opts, OPTION_NO_PULL_REQUEST),
                                  .reopen = opt_on(&c->opts, OPTION_REOPEN),
                                  .private = opt_on(&c->opts, OPTION_PRIVATE)},
                      .runs = {.root = -1},
                      .dry = opt_on(&c->opts, OPTION_DRY_RUN),
                      .no_check = opt_text(&c->opts, OPTION_NO_CHECK)};
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected no operands, got \"%.60s\"", c->argv[0]);
    if (s.no_check && !str_trim(str_of(s.no_check)).n)
        return err_set(c->err, ERR_USAGE, "--no-check: expected a reason, got an empty text");
    if (plan_make_for(&s.plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    int rc = share_open_tree(&s, c) || share_new_runs(&s, c) ? -1 : 0;
    if (rc)
        hint_at_full_disk(&s, c->err);
    results_close(&s.results);
    runs_close(&s.runs);
    free(s.list);
    plan_deinit(&s.plan);
    return rc;
}

static const struct opt_row rows[] = {
    {.name = OPTION_REMOTE,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Where",
     .help = "Share with this remote (default: benchwrap.remote of git's configuration, upstream, origin)"},
    {.name = OPTION_BASE,
     .letter = 'b',
     .kind = OPT_TEXT,
     .arg = "BRANCH",
     .group = "Where",
     .help = "Propose the runs for this branch (default: benchwrap.base, the remote's main branch)"},
    {.name = OPTION_TO,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Where",
     .help = "Push to this remote, a fork of yours (default: remote.pushDefault, origin)"},
    {.name = OPTION_PRIVATE,
     .kind = OPT_FLAG,
     .group = "What",
     .help = "Into a public repository, also take runs that were recorded with the private profile"},
    {.name = OPTION_NO_CHECK,
     .kind = OPT_TEXT,
     .arg = "REASON",
     .group = "What",
     .help = "Send runs that \"benchwrap check\" refuses, too; the pull request shows the reason"},
    {.name = OPTION_NO_VERIFY, .kind = OPT_FLAG, .group = "What", .help = "Skip the clone's pre-push hook"},
    {.name = OPTION_TOKEN_FILE,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Forge",
     .help = "Read the token from this file (default: the forge's variables, the file tokens, git's credential helper)"},
    {.name = OPTION_NO_PULL_REQUEST, .kind = OPT_FLAG, .group = "Forge", .help = "Push only, and print the link"},
    {.name = OPTION_REOPEN,
     .kind = OPT_FLAG,
     .group = "Forge",
     .help = "Open a pull request again, even if the last one was closed without being merged"},
    CMD_ROW_TREE,
    {.name = OPTION_DRY_RUN,
     .letter = 'n',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Fetch, print what would leave the site, and push nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_share = {
    .name = "share",
    .summary = "Send new runs as a pull request",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "In a results repository (see init): fetches the target, makes the branch benchwrap/SITE/CLONE of the target and the local runs that never were in it, checks it as \"benchwrap check\" does, prints what "
        "leaves the site (runs, files, size, redacted places), pushes the branch with your git, and opens one pull request, or refreshes the text of the one that is open.\n\n"
        "Whether a run is new is decided by its folder in the target, not by commits: after a merge, a squash or a rebase the next share has new runs only. A run that was "
        "taken out of the target is not offered again. Sharing again does no harm.\n\n"
        "A run that check refuses stays here: share prints the finding, sends the other runs, and ends with status 1. --no-check REASON sends it all the same.\n\n"
        "The push replaces only what was pushed from this clone; it stops when the branch has changes of others. Nothing local is changed but the branch: "
        "no checkout, no index.\n\n"
        "The forge is known by the remote's address, or by git config benchwrap.forge (github, gitlab, gitea, forgejo) and benchwrap.forgeUrl. The token comes from "
        "--token-file, GH_TOKEN or GITHUB_TOKEN, GITLAB_TOKEN, FORGEJO_TOKEN or GITEA_TOKEN, from the file tokens in the folder of config.yaml (lines \"HOST TOKEN\", mode 600), or from "
        "git credential. Without one it prints the link.\n\n"
        "Status 1: something could not be done; what was recorded stays, and share can be called again.",
    .examples = "$ benchwrap share --dry-run\nPrint what would leave the site, and what check would refuse.\n"
                "$ benchwrap share\nPush the new runs and open one pull request, or refresh the open one.\n"
                "$ benchwrap share --to fork\nPush to the remote \"fork\", and open a pull request in the upstream repository.\n",
    .run = share_command,
};
