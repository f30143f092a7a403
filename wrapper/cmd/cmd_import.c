/* cmd_import.c: `benchwrap import`: make runs of existing outputs. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/listing.h"
#include "base/show.h"
#include "cmd/cmd.h"
#include "import/import.h"
#include "run/commit.h"
#include "run/leftovers.h"
#include "run/make.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, SETTLED_S = 60, PROGRESS_FROM = 20, PROGRESS_MS = 100 };

struct import_work {
    struct cmd_context *c;
    struct importer im;
    struct listing list;
    struct make_batch batch; /* published, not safe yet */
    size_t files, done, there, unknown, refused, failed;
    size_t passed_over; /* found in folders, and of no known program */
    int64_t told_ms;
    bool progress, told;
};

/* ---- progress ---- */

static void import_clear_progress(struct import_work *w)
{
    if (w->told)
        fputs("\r\033[K", w->c->notes);
    w->told = false;
}

static void import_show_progress(struct import_work *w)
{
    int64_t now = clock_wall_ms();
    if (!w->progress || w->files < PROGRESS_FROM || now - w->told_ms < PROGRESS_MS)
        return;
    fprintf(w->c->notes, "\r\033[K%zu files read, %zu imported", w->files, w->done);
    fflush(w->c->notes);
    w->told_ms = now;
    w->told = true;
}

static void import_note(void *context, const char *text)
{
    struct import_work *w = context;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(text), 900);
    import_clear_progress(w);
    fprintf(w->c->notes, "benchwrap: import: %s\n", b.p ? b.p : "");
}

/* ---- one file ---- */

static const struct listing_column columns[] = {
    {"file", "FILE", false, 0},
    {"result", "RESULT", false, 0},
    {"benchmark", "BENCHMARK", false, 16},
    {"id", NULL, false, 0},
    {"short", "RUN", false, 0},
    {"status", NULL, false, 0},
    {"verdict", "VERDICT", false, 0},
    {"start", NULL, false, 0},
    {"start_local", "STARTED", false, 0},
    {"time_source", "TIME FROM", false, 0},
    {"path", NULL, false, 0},
    {"why", "WHY", false, 100},
};

static void import_add_row(struct import_work *w, const char *name, const struct imported *got)
{
    static const char *const results[] = {"imported", "already there", "not recognised", "refused"};
    struct listing *l = &w->list;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 200);
    bool would = w->im.dry && got->result == IMPORT_DONE;
    listing_text(l, name);
    listing_text(l, would ? "would import" : results[got->result]);
    listing_text(l, got->benchmark);
    listing_text(l, got->id[0] ? got->id : NULL);
    listing_text(l, got->id[0] ? arena_printf(w->c->arena, "%.8s", got->id) : NULL);
    listing_text(l, got->status);
    listing_text(l, got->verdict);
    if (got->start_ms)
        show_time_utc(&b, got->start_ms);
    listing_text(l, b.n ? b.p : NULL);
    buf_clear(&b);
    if (got->start_ms)
        show_time(&b, got->start_ms);
    listing_text(l, b.n ? b.p : NULL);
    listing_text(l, got->time_source);
    listing_text(l, got->place);
    listing_text(l, got->why && *got->why ? got->why : NULL);
}

struct taken { /* the file that is being imported */
    struct import_work *w;
    bool found; /* in a folder */
};

/* Counts and lists the result of one output. Outputs of no known program that were only found in a
 * folder are counted in w->passed_over. A run that is not safe yet is added to the batch. */
static void take_output(void *context, const char *name, const struct imported *got)
{
    const struct taken *t = context;
    struct import_work *w = t->w;
    import_show_progress(w);
    if (t->found && got->result == IMPORT_UNKNOWN) {
        w->passed_over++;
        return;
    }
    w->done += got->result == IMPORT_DONE;
    w->there += got->result == IMPORT_THERE;
    w->unknown += got->result == IMPORT_UNKNOWN;
    w->refused += got->result == IMPORT_REFUSED;
    w->failed += got->result == IMPORT_DONE && got->verdict && strcmp(got->verdict, "fail") == 0;
    import_add_row(w, name, got);
    if (got->result != IMPORT_DONE || w->im.dry)
        return;
    if (w->im.root < 0) /* made with the first run */
        w->im.root = place_open_folder(w->im.plan->tree, 0);
    struct err err = {0};
    if (make_batch_add(&w->batch, got->id, &err))
        import_note(w, err.text); /* the next run, or sync, does it */
}

static void take_file(struct import_work *w, int dir, const char *path, const char *name, bool found)
{
    struct taken t = {w, found};
    w->files++;
    import_file(&w->im, dir, path, name, w->c->arena, take_output, &t);
}

/* ---- folders: links inside are not followed, hidden names and trees of runs not entered ---- */

/* Imports all files of a folder and of those below it, except hidden names, links and folders
 * mlruns. A folder that cannot be read is noted and counted as refused. */
static void take_folder(struct import_work *w, int at, const char *path, const char *name, int depth)
{
    struct fs_names list;
    struct err err = {0};
    CLEANUP_FD int dir = depth ? place_open(at, path, O_RDONLY | O_DIRECTORY, 0) : place_open_folder(path, 0);
    if (depth > DEPTH_MAX || dir < 0 || fs_list(dir, ".", &list, &err)) {
        w->refused++;
        import_note(w, arena_printf(w->c->arena, "%s: %s", name, depth > DEPTH_MAX ? "too many levels of folders" : err_words(errno)));
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        const char *entry = list.names[i], *slash = name[strlen(name) - 1] == '/' ? "" : "/";
        struct stat st;
        if (entry[0] == '.' || fstatat(dir, entry, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        const char *full = arena_printf(w->c->arena, "%s%s%s", name, slash, entry);
        if (S_ISDIR(st.st_mode) && strcmp(entry, "mlruns") != 0)
            take_folder(w, dir, entry, full ? full : entry, depth + 1);
        else if (S_ISREG(st.st_mode) && st.st_size > 0)
            take_file(w, dir, entry, full ? full : entry, true);
    }
    fs_names_deinit(&list);
}

static void take_operand(struct import_work *w, const char *name)
{
    struct stat st;
    if (opt_on(&w->c->opts, OPTION_RECURSIVE) && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        take_folder(w, AT_FDCWD, name, name, 0);
    else
        take_file(w, AT_FDCWD, name, name, false);
}

/* ---- all of an import ---- */

static int import_print(struct import_work *w)
{
    struct cmd_context *c = w->c;
    bool json = opt_on(&c->opts, OPTION_JSON);
    import_clear_progress(w);
    if (listing_write(&w->list, json ? LISTING_JSON : LISTING_TABLE, c->out) < 0)
        return err_memory(c->err, "the list of files");
    if (json)
        return 0;
    fprintf(c->out, "%zu %s (%zu with verdict fail), %zu already there, %zu not recognised, %zu refused\n", w->done,
            w->im.dry ? "would be imported" : "imported", w->failed, w->there, w->unknown + w->passed_over, w->refused);
    return 0;
}

static int read_time(struct cmd_context *c, int64_t *ret)
{
    static const char *const formats[] = {
        "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "@%s", "%s"};
    const char *text = opt_text(&c->opts, OPTION_TIME);
    *ret = 0;
    for (size_t i = 0; text && !*ret && i < sizeof formats / sizeof *formats; i++)
        rules_time(str_of(text), str_of(formats[i]), ret);
    return !text || *ret
               ? 0
               : err_set(
                     c->err, ERR_USAGE,
                     "--time: expected a time from 1990 to now (2026-11-20T17:03:12Z, \"2026-11-20 17:03\" or seconds since 1970), got \"%.60s\"",
                     text);
}

static int import_plan_for(struct cmd_context *c, struct plan *plan)
{
    return plan_make_for(plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE, OPTION_EXPERIMENT, OPTION_ARTIFACT_MAX);
}

/* Sets up the importer from the options and loads its rules. 0; -1 with c->err: the caller frees
 * w->im also then. */
static int import_begin(struct import_work *w, const struct plan *plan)
{
    struct cmd_context *c = w->c;
    const char *rules = opt_text(&c->opts, OPTION_RULES);
    struct importer *im = &w->im;
    w->batch = (struct make_batch){.tree = plan->tree, .spool = plan->spool};
    *im = (struct importer){.plan = plan,
                            .root = place_open_folder(plan->tree, 0),
                            .experiment = opt_find(&plan->opts, OPTION_EXPERIMENT)->text ? plan->experiment : NULL,
                            .dry = opt_on(&c->opts, OPTION_DRY_RUN),
                            .whole = opt_on(&c->opts, OPTION_WHOLE),
                            .exit_status = opt_text(&c->opts, OPTION_EXIT_STATUS) ? (int)opt_integer(&c->opts, OPTION_EXIT_STATUS) : -1,
                            .streams = opt_text(&c->opts, OPTION_SOURCE),
                            .stream_given = opt_find(&c->opts, OPTION_SOURCE)->origin == OPT_COMMAND_LINE,
                            .params = opt_find(&c->opts, OPTION_PARAM),
                            .tags = opt_find(&c->opts, OPTION_TAG),
                            .max = opt_bytes(&plan->opts, OPTION_ARTIFACT_MAX)};
    if (read_time(c, &im->time_ms))
        return -1;
    return rules ? import_rules(im, rules, c->arena, c->err) : import_catalogue(im, c->arena, import_note, w, c->err);
}

/* Executes `benchwrap import`. 0: all files are in the tree; 1: some are not; -1 with c->err. */
static int import_command(struct cmd_context *c)
{
    struct plan plan;
    struct leftovers_count swept;
    struct import_work w = {.c = c, .progress = isatty(fileno(c->notes))};
    if (!c->argc)
        return err_set(c->err, ERR_USAGE, "expected the files to import");
    if (opt_text(&c->opts, OPTION_EXIT_STATUS) &&
        (opt_integer(&c->opts, OPTION_EXIT_STATUS) < 0 || opt_integer(&c->opts, OPTION_EXIT_STATUS) > 255))
        return err_set(c->err, ERR_USAGE, "--exit-status: expected a number from 0 to 255, got \"%.40s\"",
                       opt_text(&c->opts, OPTION_EXIT_STATUS));
    if (import_plan_for(c, &plan))
        return -1;
    listing_init(&w.list, columns, sizeof columns / sizeof *columns, c->arena);
    int rc = import_begin(&w, &plan);
    if (rc == 0 && !w.im.dry) /* what an import that was killed left is finished first */
        finish_leftovers(plan.spool, NULL, SETTLED_S, NULL, NULL, &swept);
    for (int i = 0; rc == 0 && i < c->argc; i++)
        take_operand(&w, c->argv[i]);
    struct err unsafe = {0};
    if (make_batch_settle(&w.batch, &unsafe))
        import_note(&w, unsafe.text);
    if (!w.im.dry)
        run_commit_made(&plan, "import", c->notes);
    if (rc == 0)
        rc = import_print(&w);
    listing_deinit(&w.list);
    import_deinit(&w.im);
    plan_deinit(&plan);
    return rc ? -1 : w.unknown || w.refused ? 1 : 0;
}

static const struct opt_row rows[] = {
    CMD_ROW_RULES("Read the outputs by these rules (default: by their content)"),
    {.name = OPTION_RECURSIVE,
     .letter = 'R',
     .kind = OPT_FLAG,
     .group = "Input",
     .help = "Import all files below the folders; skip outputs that no rules know"},
    {.name = OPTION_SOURCE,
     .kind = OPT_CHOICE,
     .arg = "stdout|stderr|merged",
     .value = "stdout",
     .group = "Input",
     .help = "Stream of the program that the files hold, if their names do not show it"},
    {.name = OPTION_EXIT_STATUS,
     .kind = OPT_INT,
     .arg = "N",
     .group = "Input",
     .help = "Set the exit status of the programs (default: not known)"},
    {.name = OPTION_TIME,
     .kind = OPT_TEXT,
     .arg = "TIME",
     .group = "Input",
     .help = "Set when they ran (default: the time in the output, else the file's)"},
    {.name = OPTION_WHOLE, .kind = OPT_FLAG, .group = "Input", .help = "Read each file as one output, even if it has the form of several"},
    CMD_ROW_EXPERIMENT("Record", "Set the experiment of the runs (default: the benchmark's name)"),
    {.name = OPTION_PARAM,
     .letter = 'p',
     .kind = OPT_PAIR,
     .arg = "KEY=VALUE",
     .group = "Record",
     .help = "Add a parameter to the runs; may be repeated"},
    {.name = OPTION_TAG, .kind = OPT_PAIR, .arg = "KEY=VALUE", .group = "Record", .help = "Add a tag to the runs; may be repeated"},
    CMD_ROW_ARTIFACT_MAX("Refuse larger files (default: 64M)"),
    CMD_ROW_TREE_FOR("Record", "Write into this mlruns folder"),
    {.name = OPTION_DRY_RUN, .letter = 'n', .kind = OPT_FLAG, .group = "Output", .help = "Print what would be imported, and write nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_import = {
    .name = "import",
    .summary = "Import existing benchmark outputs as runs",
    .usage = "[OPTIONS] FILE...",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Each output becomes a run: its rules are found by its content, its params and metrics are read, and the output is kept as an artifact. "
        "A file that holds several outputs, one after the other, becomes several runs. "
        "The time is the one in the output, else the file's (the tag benchwrap.time_source names which). A file whose outputs "
        "cannot be separated is refused with the reason.\n\n"
        "The same output is never imported twice: the run's id follows from the file's content and the rules' name, so importing again, under "
        "another name or at another site, finds the run there. Better rules are applied to it by \"benchwrap reparse\".\n\n"
        "Status 0: all files are in the tree now. 1: some are not, and the list has the reasons (files that -R found and no rules know do not count).",
    .examples = "$ benchwrap import slurm-*.out\nMake runs of all outputs that benchwrap recognises.\n"
                "$ benchwrap import -R --dry-run ~/results\nWhat would be imported from a folder.\n"
                "$ benchwrap import --rules ./mine.yaml -e campaign2024 --param nodes=16 old/*.log\nBy rules of one's own.\n",
    .run = import_command,
};
