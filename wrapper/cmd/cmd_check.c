/* cmd_check.c: `benchwrap check`: the reviewer's gate, the same on a desk and in a forge's machine. */
#include "check/range.h"
#include "cmd/cmd.h"
#include "check/check_report.h"
#include "share/range_text.h"

#include "base/fs.h"
#include "base/progress.h"
#include "benchmarks/catalogue.h"
#include "git/partial.h"
#include "plan/paths.h"
#include "plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RANGE_RUNS = 20000, /* of a pull request: a few minutes */
    LARGEST_RUNS = 64, /* so many of the largest size are read in one check */
    SUMMARY_MAX = 900 << 10, /* GitHub accepts summaries of 1 MiB */
    REPORT_MAX = 1 << 30
};

struct asked {
    struct cmd_context *c;
    struct check_state *k;
    struct check_subject subject;
    struct progress progress;
    struct buf brings; /* of --markdown: what the range brings */
    const char *hint; /* what to do where the range could not be read; NULL: none */
};

static void check_show_progress(void *context, size_t done, size_t total)
{
    struct asked *x = context;
    x->progress.total = total;
    progress_show(&x->progress, done, NULL);
}

/* ---- a tree on disk ---- */

/* The repository that the tree is stored in may be public, and may have a policy. up: "" or "../", from dir to it. */
static int take_repository(struct check_state *k, int dir, bool up, struct err *err)
{
    CLEANUP_BUF struct buf b;
    struct err none = {0};
    buf_init(&b, 1 << 20);
    fs_read(dir, up ? "../benchwrap.yaml" : "benchwrap.yaml", 64 << 10, FS_LINKS, &b, NULL);
    if (check_is_public(buf_text(&b), k->has_remote))
        k->public_profile = true;
    buf_clear(&b);
    if (fs_read(dir, up ? "../" CHECK_POLICY_FILE : CHECK_POLICY_FILE, 64 << 10, FS_LINKS, &b, &none) < 0 && none.sys != ENOENT &&
        none.sys != ENOTDIR) {
        *err = none;
        return -1;
    }
    return check_policy(k, buf_text(&b), err);
}

/* PATH: mlruns, or a folder that holds it, or one run. */
static int check_path(struct asked *x, const char *path, struct err *err)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "opening %s", path);
    CLEANUP_FD int below = openat(fd, "mlruns", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    char *whole = realpath(path, NULL);
    x->k->has_remote = whole && plan_has_remote(whole);
    free(whole);
    struct folder folder = folder_disk(below >= 0 ? below : fd);
    if (take_repository(x->k, fd, below < 0, err))
        return -1;
    if (below < 0 && record_is_id(str_of(str_base_name(path)))) {
        char *real = realpath(path, NULL), *up = real ? strrchr(real, '/') : NULL;
        const char *experiment = up ? (*up = 0, str_base_name(real)) : "";
        check_run(x->k, &folder, arena_printf(x->c->arena, "mlruns/%s/%s", experiment, str_base_name(path)));
        free(real);
        return 0;
    }
    return check_tree(x->k, &folder, "mlruns", err);
}

/* ---- a range of commits ---- */

static int resolve_commit(struct repo *repo, struct str name, struct arena *a, struct repo_id *ret, struct err *err)
{
    const char *text = name.n ? arena_dup(a, name.p, name.n) : "HEAD"; /* as git: an empty side is HEAD */
    if (!text)
        return err_memory(err, "the findings");
    int rc = repo_resolve(repo, text, REPO_COMMIT, ret, err);
    const char *slash = strchr(text, '/'), *url;
    const char *remote = slash ? arena_dup(a, text, (size_t)(slash - text)) : NULL;
    if (rc == 1 && remote && repo_remote_url(repo, remote, false, a, &url, NULL) == 0)
        err_hint(err, "git fetch %.100s", remote);
    return rc ? err_wrap(err, "--range") : 0;
}

static bool has_remotes(const struct asked *x, struct repo *repo)
{
    const char **list;
    return repo_remotes(repo, x->c->arena, &list, NULL) == 0 && list[0];
}

/* Nothing of a partial clone may pass unread. */
static int require_objects(struct asked *x, struct repo *repo, const struct repo_id *from, const struct repo_id *to, struct err *err)
{
    size_t missing = 0;
    if (!partial_remote(repo, x->c->arena))
        return 0;
    if (partial_missing(repo, from, to, &missing, NULL, err))
        return -1;
    if (!missing)
        return 0;
    char old[REPO_HEX], new[REPO_HEX];
    repo_id_hex(from, old);
    repo_id_hex(to, new);
    /* the commits by their names: the remote's branches may not lead to a pull request */
    x->hint = arena_printf(x->c->arena, "git fetch --refetch --no-filter %s %s %s", partial_remote(repo, x->c->arena), old, new);
    return err_set(err, ERR_INPUT, "this partial clone lacks objects of the range");
}

/* Checks the commits A..B of a repository, or A...B, where the common ancestor counts in both. 0;
 * -1 with err: the range cannot be read, or the clone lacks objects of it. */
static int check_commits(struct asked *x, const char *range, const char *place, struct err *err)
{
    struct str text = str_of(range);
    ptrdiff_t dots = str_find(text, STR(".."));
    struct repo *repo = NULL;
    struct repo_id from, to;
    if (dots < 0)
        return err_set(err, ERR_USAGE, "--range: expected two commits A..B, for example origin/main..HEAD, got \"%.100s\"", range);
    if (repo_open(&repo, place, 0, err))
        return -1;
    x->k->has_remote = has_remotes(x, repo);
    bool three = str_starts(str_sub(text, (size_t)dots, text.n), "...");
    int rc = resolve_commit(repo, str_sub(text, 0, (size_t)dots), x->c->arena, &from, err);
    if (rc == 0)
        rc = resolve_commit(repo, str_sub(text, (size_t)dots + (three ? 3 : 2), text.n), x->c->arena, &to, err);
    if (rc == 0)
        rc = require_objects(x, repo, &from, &to, err);
    if (rc == 0)
        rc = check_range(x->k, repo, &from, &to, opt_text(&x->c->opts, OPTION_FOLDER), err);
    if (rc == 0 && opt_on(&x->c->opts, OPTION_MARKDOWN))
        rc = range_text(repo, &from, &to, opt_text(&x->c->opts, OPTION_FOLDER), x->k, SUMMARY_MAX / 2, &x->brings, x->c->arena, err);
    if (rc)
        err_wrap(err, "%s", range);
    if (rc && repo_is_shallow(repo))
        x->hint = "the clone is shallow; run \"git fetch --unshallow\", or in a forge's job set fetch-depth: 0 (GitLab: GIT_DEPTH: 0)";
    repo_close(repo);
    return rc ? -1 : 0;
}

/* ---- the report ---- */

/* Prints the findings in the form that the options choose. 0; -1 with err: out of memory. */
static int check_print_report(struct asked *x, struct err *err)
{
    struct cmd_context *c = x->c;
    CLEANUP_BUF struct buf b;
    int rc = 0;
    buf_init(&b, REPORT_MAX);
    if (check_report_sort(x->k) < 0)
        return err_memory(err, "the findings");
    if (opt_on(&c->opts, OPTION_SARIF))
        check_report_sarif(x->k, &b);
    else if (opt_on(&c->opts, OPTION_JSON))
        check_report_json(x->k, &x->subject, &b);
    else if (opt_on(&c->opts, OPTION_MARKDOWN)) {
        check_report_markdown(x->k, &x->subject, SUMMARY_MAX / 2, &b);
        buf_puts(&b, x->brings.n ? "\n" : "");
        buf_str(&b, buf_text(&x->brings));
    } else
        rc = check_report_table(x->k, c->out, c->arena);
    if (b.n)
        fwrite(b.p, 1, b.n, c->out);
    return rc < 0 || b.failed ? err_memory(err, "the findings") : 0;
}

static int check_subject_named(struct asked *x, struct err *err)
{
    struct cmd_context *c = x->c;
    const char *path = c->argc ? c->argv[0] : NULL, *tree, *range = opt_text(&c->opts, OPTION_RANGE);
    if (range) {
        x->subject = (struct check_subject){"range", range};
        return check_commits(x, range, path ? path : ".", err);
    }
    if (!path) {
        if (plan_tree(NULL, c->env, c->arena, &tree, err) < 0)
            return -1;
        path = tree;
    }
    x->subject = (struct check_subject){"tree", path};
    return check_path(x, path, err);
}

/* Executes `benchwrap check`. 0; 1: findings at or above --fail-on; 2: not all could be checked; -1
 * with c->err: wrong options. */
static int check_command(struct cmd_context *c)
{
    struct check_state k;
    struct asked x = {.c = c, .k = &k};
    struct catalogue ours = {.folders = 0};
    const char *fail_on = opt_text(&c->opts, OPTION_FAIL_ON);
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one PATH, got \"%.60s\" too", c->argv[1]);
    check_begin(&k, c->arena);
    k.public_profile = opt_on(&c->opts, OPTION_PUBLIC);
    k.signers = opt_text(&c->opts, OPTION_ALLOWED_SIGNERS);
    k.catalogue = &ours;
    for (const struct opt_value *v = opt_find(&c->opts, OPTION_RULES); v && v->text; v = v->next)
        catalogue_add(&ours, v->text);
    if (k.signers && access(k.signers, R_OK) != 0)
        return err_set(c->err, ERR_USAGE, "--allowed-signers: %s cannot be read", k.signers);
    k.limits.file_B = opt_bytes(&c->opts, OPTION_MAX_FILE);
    k.limits.run_B = opt_bytes(&c->opts, OPTION_MAX_RUN);
    k.limits.all_B = k.limits.run_B < UINT64_MAX / LARGEST_RUNS ? k.limits.run_B * LARGEST_RUNS : UINT64_MAX;
    int64_t most = opt_text(&c->opts, OPTION_MAX_RUNS) ? opt_integer(&c->opts, OPTION_MAX_RUNS)
                   : opt_text(&c->opts, OPTION_RANGE)  ? RANGE_RUNS
                                                       : 0;
    if (most < 0 || (most == 0 && opt_text(&c->opts, OPTION_MAX_RUNS)))
        return err_set(c->err, ERR_USAGE, "--max-runs: expected an integer >= 1");
    if (most)
        k.limits.runs = (size_t)most;
    buf_init(&x.brings, SUMMARY_MAX);
    k.progress = check_show_progress;
    k.context = &x;
    progress_begin(&x.progress, c->notes, "checking run", 0);
    int rc = check_subject_named(&x, c->err);
    progress_clear(&x.progress);
    if (rc == 0)
        rc = check_print_report(&x, c->err);
    bool bad = k.by_severity[CHECK_ERROR] || (strcmp(fail_on, "warning") == 0 && k.by_severity[CHECK_WARNING]);
    check_end(&k);
    buf_deinit(&x.brings);
    if (rc < 0 && c->err->kind == ERR_USAGE)
        return -1;
    if (rc < 0) { /* what was not checked is neither good nor bad */
        cmd_complain(c->notes, "check", c->err);
        if (x.hint)
            fprintf(c->notes, "hint: %s\n", x.hint);
        return 2;
    }
    return bad;
}

static const struct opt_row rows[] = {
    {.name = OPTION_RANGE,
     .letter = 'r',
     .kind = OPT_TEXT,
     .arg = "A..B",
     .group = "Selection",
     .help = "Check what the commits of B bring to A, in the repository of PATH (default: here)"},
    {.name = OPTION_FOLDER,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .value = "mlruns",
     .group = "Selection",
     .help = "With --range: path of the tree in the repository"},
    {.name = OPTION_PUBLIC,
     .kind = OPT_FLAG,
     .group = "Selection",
     .help = "Report personal data in a run as an error (default: where the repository is public by benchwrap.yaml, in a range that of A)"},
    {.name = OPTION_ALLOWED_SIGNERS,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Selection",
     .help = "Require for every run a signature by a key that this file (as of ssh-keygen) allows its site"},
    {.name = OPTION_RULES,
     .kind = OPT_LIST,
     .arg = "DIR",
     .group = "Selection",
     .help = "Trust these rule files too: DIR/<name>/rules.yaml; may be repeated"},
    {.name = OPTION_MAX_FILE, .kind = OPT_SIZE, .arg = "SIZE", .value = "64M", .group = "Limits", .help = "Refuse larger files"},
    {.name = OPTION_MAX_RUN, .kind = OPT_SIZE, .arg = "SIZE", .value = "64M", .group = "Limits", .help = "Refuse larger runs"},
    {.name = OPTION_MAX_RUNS,
     .kind = OPT_INT,
     .arg = "N",
     .group = "Limits",
     .help = "Check at most N runs, refuse more (default: 20000 of a range)"},
    {.name = OPTION_FAIL_ON,
     .kind = OPT_CHOICE,
     .arg = "error|warning",
     .value = "error",
     .group = "Output",
     .help = "Exit 1 from this severity on"},
    CMD_ROW_JSON,
    {.name = OPTION_SARIF, .kind = OPT_FLAG, .group = "Output", .help = "Print SARIF 2.1.0, which forges show next to the changed files"},
    {.name = OPTION_MARKDOWN, .kind = OPT_FLAG, .group = "Output", .help = "Markdown, as for the summary of a forge's job"},
};

const struct cmd cmd_check = {
    .name = "check",
    .summary = "Verify the runs of a pull request",
    .usage = "[OPTIONS] [PATH | --range A..B]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Checks the runs of a tree, or those that a range of commits adds. In a range only additions of runs are allowed, in "
                   "the end and in each commit. Of each run: names, types and sizes of files; what MLflow would make of it; the record and"
                   " the manifest against the files; that the id is new and no other run has the same values; times; that the stored "
                   "output leads to the values and the verdict by the run's own rules; bounds of the recorded hardware; secrets, and in "
                   "public repositories personal data; with --allowed-signers the site's signature over the manifest "
                   "(artifacts/manifest.json.sig, ssh-keygen -Y sign -n benchwrap).\n\n"
                   "PATH is mlruns, a folder that holds it, or a run's folder; with --range it is any folder of the repository. All that "
                   "is read counts as hostile: nothing of it is executed, followed or checked out, nothing is written, and every bound "
                   "that is reached is a finding. Each finding has a name, a file, what is wrong and what to do.\n\n"
                   "The exit status is 0 without errors, 1 with errors, 2 when the check could not run.",
    .examples = "$ benchwrap check --range origin/main..HEAD\n"
                "What a pull request brings.\n"
                "$ benchwrap check --json mlruns\n"
                "All runs of a tree, for a program to read.\n",
    .run = check_command,
};
