/* cmd_doctor.c: `benchwrap doctor`: checks the installation, and names the step that adds what is missing. Starts no other
 * program than `scontrol ping`. */
#include "base/fs.h"
#include "base/json_out.h"
#include "base/library.h"
#include "base/listing.h"
#include "base/query.h"
#include "base/screen.h"
#include "base/search_path.h"
#include "benchmarks/rules.h"
#include "cmd/cmd.h"
#include "cmd/libraries.h"
#include "sync/server_look.h"
#include "ui/ui_server.h"
#include "plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum doctor_state { GOOD, NOTE, MISSING, BAD }; /* as expected; optional and not there; a substitute is used; essential and broken */

struct doctor {
    struct cmd_context *c;
    struct listing listing; /* every check, for --json */
    struct buf all, summary, lacks; /* lines: every check, for --all; what is here; what is not */
    struct screen screen;
    bool bad;
};

static const char *const state_names[] = {"ok", "-", "missing", "BROKEN"};
enum {
    LABEL = 15, /* columns before a row's text, short form */
    DETAIL = 44, /* with --all */
    INDENT = 11, /* with --all, on a line of its own */
    TOOLS_MAX = 4, /* of one row */
    PING_MS = 3000, /* slurmctld, which doctor waits for as for the MLflow server */
    PING_BYTES = 4096
};

static void text_line(struct doctor *d, struct buf *to, size_t indent, enum style style, const char *text)
{
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 64 << 10);
    buf_plain(&plain, str_of(text), SIZE_MAX);
    screen_style_begin(&d->screen, style, to);
    screen_wrap(&d->screen, buf_text(&plain), indent, indent, to);
    screen_style_end(&d->screen, style, to);
    buf_putc(to, '\n');
}

/* Area and name, padded; returns the columns. The name may be foreign text: an address, a name of rules. */
static size_t put_name(struct doctor *d, const char *area, const char *what)
{
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 64 << 10);
    buf_plain(&plain, str_of(what), SIZE_MAX);
    size_t width = screen_text_width(buf_text(&plain)), pad = width < DETAIL - 20 ? DETAIL - 20 - width : 1;
    buf_printf(&d->all, "%-11s" STR_FMT, area, STR_ARG(buf_text(&plain)));
    screen_fill(&d->all, pad);
    return 11 + width + pad;
}

/* Prints a text behind the state where each of its words fits there, else on its own line. used:
 * columns of the line that it may continue, 0: none. */
static void put_detail(struct doctor *d, size_t used, enum style style, const char *text)
{
    size_t widest = 0, at = DETAIL;
    for (struct str rest = str_of(text), word; (word = str_word(&rest)).n;)
        widest = screen_text_width(word) > widest ? screen_text_width(word) : widest;
    if (d->screen.width < DETAIL + widest || d->screen.width < 2 * DETAIL - 16)
        at = INDENT;
    if (used && (used > at || !widest)) {
        while (d->all.n && d->all.p[d->all.n - 1] == ' ')
            d->all.p[--d->all.n] = 0;
        buf_putc(&d->all, '\n');
        used = 0;
    }
    if (!widest)
        return;
    screen_fill(&d->all, at - used);
    text_line(d, &d->all, at, style, text);
}

/* Adds a result to the screen and to the listing. found, remedy: NULL for none. A result BAD also
 * sets d->bad. */
static void doctor_report(struct doctor *d, enum doctor_state state, const char *area, const char *what, const char *found,
                          const char *remedy)
{
    static const enum style styles[] = {STYLE_GOOD, STYLE_DIM, STYLE_WARN, STYLE_BAD};
    size_t before = put_name(d, area, what);
    screen_style_begin(&d->screen, styles[state], &d->all);
    buf_puts(&d->all, state_names[state]);
    screen_style_end(&d->screen, styles[state], &d->all);
    screen_fill(&d->all, 8 - strlen(state_names[state]));
    put_detail(d, before + 8, STYLE_PLAIN, found);
    put_detail(d, 0, STYLE_DIM, remedy);
    listing_text(&d->listing, area);
    listing_text(&d->listing, what);
    listing_text(&d->listing, state_names[state]);
    listing_text(&d->listing, found ? found : "");
    listing_text(&d->listing, remedy ? remedy : "");
    d->bad = d->bad || state == BAD;
}

/* A line of the short form: label, text, and below it the step, dim. */
static void doctor_summarize(struct doctor *d, struct buf *to, const char *label, enum style style, const char *text, const char *step)
{
    buf_printf(to, "  %-*s", LABEL - 2, label);
    text_line(d, to, LABEL, style, text);
    if (step) {
        screen_fill(to, LABEL);
        text_line(d, to, LABEL, STYLE_DIM, step);
    }
}

/* A check that the short form shows only when something is missing. */
static void doctor_report_check(struct doctor *d, enum doctor_state state, const char *area, const char *what, const char *found,
                                const char *remedy)
{
    doctor_report(d, state, area, what, found, remedy);
    if (state == MISSING || state == BAD)
        doctor_summarize(
            d, &d->lacks, area, state == BAD ? STYLE_BAD : STYLE_WARN,
            arena_printf(d->c->arena, "%s%s%s%s", what, state == BAD ? " is BROKEN" : "", found && *found ? ": " : "", found ? found : ""),
            remedy);
}

static void check_own_programs(struct doctor *d)
{
    struct arena *a = d->c->arena;
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    doctor_report_check(d, n > 0 ? GOOD : BAD, "program", "core " BW_VERSION, self, n > 0 ? NULL : "mount /proc");
    char *slash = n > 0 ? strrchr(self, '/') : NULL; /* PREFIX/libexec/benchwrap/benchwrap-core */
    const char *launcher = slash ? arena_printf(a, "%.*s/../../bin/benchwrap", (int)(slash - self), self) : NULL;
    bool there = launcher && access(launcher, X_OK) == 0;
    char real[PATH_MAX];
    doctor_report_check(d, there ? GOOD : BAD, "program", "launcher", there && realpath(launcher, real) ? real : launcher,
                        there ? NULL : "install again: bin/ and libexec/ belong together");
    struct library libraries[LIBRARIES_MAX];
    size_t count = libraries_list(libraries, a);
    for (size_t i = 0; i < count; i++)
        if (strcmp(libraries[i].version, "not installed") != 0) /* those are among the parts */
            doctor_report(d, GOOD, "library", arena_printf(a, "%s %s", libraries[i].name, libraries[i].version), libraries[i].file, NULL);
}

/* What is loaded when it is needed, and what this build was made without. GPU libraries are missing on most machines. */
static void check_build_parts(struct doctor *d)
{
    struct arena *a = d->c->arena;
    struct build_part built[BUILD_PARTS_MAX];
    size_t count = libraries_build_parts(built, a);
    for (enum library_id id = 0; id < LIBRARY_IDS; id++) {
        const struct library_about *l = library_describe(id);
        bool is_there = library_open(id) != NULL, is_gpu = id == LIBRARY_NVML || id == LIBRARY_ROCM || id == LIBRARY_AMD_SMI;
        bool is_useless = id == LIBRARY_MICROHTTPD && !built[BUILD_AGENTS].is_there;
        enum doctor_state state = is_there ? GOOD : is_gpu || is_useless ? NOTE : MISSING;
        if (is_there && (id == LIBRARY_CURL || id == LIBRARY_GIT2))
            continue; /* listed with its version */
        const char *step = is_there ? NULL : arena_printf(a, "install the package %s (Debian) or %s", l->debian, l->elsewhere);
        doctor_report_check(d, state, "library", l->name, is_there ? NULL : arena_printf(a, "not installed: cannot %s", l->purpose), step);
    }
    for (size_t i = 0; i < count; i++)
        doctor_report_check(d, built[i].is_there ? GOOD : MISSING, "build", built[i].what, built[i].is_there ? NULL : built[i].lacks,
                            built[i].is_there ? NULL : built[i].step);
}

/* Reports how many rule files are compiled in and how many are the user's own, and each that is not
 * valid. */
static void check_catalogues(struct doctor *d, const struct catalogue *catalogue)
{
    struct arena *a = d->c->arena;
    size_t n = 0, good = 0, own = 0;
    struct catalogue_entry *e = catalogue_list(catalogue, a, &n);
    for (size_t i = 0; e && i < n; i++) {
        struct rules *rules = NULL;
        struct err err = {0};
        if (rules_load(&rules, e[i].path, &err))
            doctor_report_check(d, e[i].from ? MISSING : BAD, "rules", e[i].name, arena_printf(a, "%s", err.text), "correct the file");
        else
            *(e[i].from ? &own : &good) += 1;
        rules_free(rules);
    }
    doctor_report_check(d, good ? GOOD : BAD, "rules", "catalogue", arena_printf(a, "%zu compiled in, %zu of your own", good, own), NULL);
    doctor_summarize(d, &d->summary, "benchmarks", STYLE_PLAIN,
                     own ? arena_printf(a, "%zu known, and %zu rule file%s of your own", good, own, str_plural(own))
                         : arena_printf(a, "%zu known", good),
                     NULL);
}

/* Can something be made in the folder, or in the nearest one above it that exists? */
static bool can_make(const char *path, const char **ret_where, struct arena *a)
{
    char *at = arena_dup(a, path, strlen(path));
    while (at && access(at, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(at, '/');
        if (!slash || slash == at)
            at = arena_dup(a, "/", 1);
        else
            *slash = 0;
    }
    *ret_where = at;
    struct stat st;
    return at && stat(at, &st) == 0 && S_ISDIR(st.st_mode) && access(at, W_OK | X_OK) == 0;
}

/* "./mlruns" for a folder below the working directory. */
static const char *from_here(const char *path, struct arena *a)
{
    char here[PATH_MAX];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return n > 1 && strncmp(path, here, n) == 0 && path[n] == '/' ? arena_printf(a, ".%s", path + n) : path;
}

/* Reports whether tree, spool and fallback spool can be written, which option files exist, and the
 * warnings of the plan. The check fails only where both spools cannot be written. */
static void check_places(struct doctor *d, const struct plan *p)
{
    struct arena *a = d->c->arena;
    const char *where;
    bool tree = can_make(p->tree, &where, a);
    doctor_report_check(d, tree ? GOOD : MISSING, "place", "tree",
                        arena_printf(a, "%s (%s)%s", p->tree, p->tree_where, access(p->tree, F_OK) == 0 ? "" : ", not there yet"),
                        tree ? NULL : arena_printf(a, "%s cannot be written: name another folder with --tree or BENCHWRAP_TREE", where));
    bool spool = can_make(p->spool, &where, a);
    bool fallback = p->spool_fallback && can_make(p->spool_fallback, &where, a);
    doctor_report_check(d,
                        spool      ? GOOD
                        : fallback ? MISSING
                                   : BAD,
                        "place", "spool", p->spool,
                        spool      ? NULL
                        : fallback ? "runs use the fallback"
                                   : "no run can be recorded: make one of the places writable");
    doctor_report_check(d, fallback ? GOOD : MISSING, "place", "fallback spool", p->spool_fallback,
                        fallback ? NULL : "set XDG_STATE_HOME to a folder that can be written");
    if (tree)
        doctor_summarize(d, &d->summary, "runs", STYLE_PLAIN, from_here(p->tree, a), NULL);
    for (const struct plan_file *f = p->files; f; f = f->next)
        doctor_report_check(d, f->found ? GOOD : NOTE, "options", opt_origin_name(f->origin), f->path, NULL);
    for (const struct plan_warning *w = p->warnings; w; w = w->next)
        doctor_report_check(d, MISSING, "options", "warning", w->text, "correct it");
}

static void check_server(struct doctor *d, struct plan *p)
{
    bool good = false;
    const char *answer = p->server ? server_look(p, d->c->env, &good) : NULL;
    if (!p->server)
        doctor_report(d, NOTE, "server", "MLflow", p->server_where, "--to or MLFLOW_TRACKING_URI names one");
    else
        doctor_report_check(d, good ? GOOD : MISSING, "server", arena_printf(d->c->arena, "%s (%s)", p->server, p->server_where), answer,
                            good ? NULL : "runs are recorded here; \"benchwrap sync\" sends them when it answers");
    if (good || !p->server)
        doctor_summarize(d, &d->summary, "server", STYLE_PLAIN, p->server ? arena_printf(d->c->arena, "%s: %s", p->server, answer) : "none",
                         p->server ? NULL : "to send runs to MLflow: set MLFLOW_TRACKING_URI or use --to");
}

/* Tries the kernel features that benchwrap uses. Only memfd_create is required; for others the
 * report has what is used instead. */
static void check_kernel(struct doctor *d)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    doctor_report_check(d, fd >= 0 ? GOOD : NOTE, "kernel", "pidfd_open", fd >= 0 ? NULL : strerror(errno),
                        fd >= 0 ? NULL : "signals and wait are used instead");
    if (fd >= 0)
        close(fd);
    fd = memfd_create("benchwrap-doctor", MFD_CLOEXEC);
    doctor_report_check(d, fd >= 0 ? GOOD : BAD, "kernel", "memfd_create", fd >= 0 ? NULL : strerror(errno),
                        fd >= 0 ? NULL : "nothing can be recorded: Linux 3.17 or newer is needed, or a sandbox forbids it");
    if (fd >= 0)
        close(fd);
    int same = (int)syscall(SYS_kcmp, getpid(), getpid(), 0, 1, 1);
    doctor_report_check(d, same >= 0 ? GOOD : NOTE, "kernel", "kcmp", same >= 0 ? NULL : strerror(errno),
                        same >= 0 ? NULL : "benchwrap compares inodes to detect that stdout and stderr are one file");
    int subreaper = 0, got = prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    doctor_report_check(d, got == 0 ? GOOD : NOTE, "kernel", "child subreaper", got == 0 ? NULL : strerror(errno),
                        got == 0 ? NULL : "daemons left behind are not counted");
    fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    doctor_report_check(d, fd >= 0 ? GOOD : NOTE, "kernel", "pseudo terminals", fd >= 0 ? NULL : strerror(errno),
                        fd >= 0 ? NULL : "terminals of the program become pipes");
    if (fd >= 0)
        close(fd);
}

/* The first of a NULL-terminated list of tools that are in PATH decides; all are checks of their own. */
static void check_tools(struct doctor *d, const char *area, const char *label, const char *const *names, const char *missing,
                        const char *step)
{
    CLEANUP_BUF struct buf found;
    const char *const *first = names;
    buf_init(&found, 4096);
    for (; *names; names++) {
        const char *path = search_path_find(getenv("PATH"), *names, false, d->c->arena);
        doctor_report(d, path ? GOOD : NOTE, area, *names, path, path ? NULL : step);
        if (path)
            buf_printf(&found, "%s%s", found.n ? ", " : "", *names);
    }
    const char *list = arena_printf(d->c->arena, STR_FMT, STR_ARG(buf_text(&found)));
    if (found.n && strcmp(area, *first) != 0) /* "git git" has no meaning */
        doctor_summarize(d, &d->summary, area, STYLE_PLAIN, label ? arena_printf(d->c->arena, "%s (%s)", label, list) : list, NULL);
    else if (!found.n && missing)
        doctor_summarize(d, &d->summary, area, STYLE_PLAIN, missing, step);
}

/* Is there a slurmctld behind Slurm's commands? Without its answers a run lacks the allocation. */
static void check_slurmctld(struct doctor *d)
{
    static char scontrol[] = "scontrol", ping[] = "ping", *const line[] = {scontrol, ping, NULL};
    static const char step[] = "runs in jobs lack what only slurmctld knows of the allocation: see \"scontrol ping\"";
    struct query q;
    char found[300];
    if (!search_path_find(getenv("PATH"), scontrol, false, d->c->arena) || query_start(&q, line, d->c->env, PING_BYTES, PING_MS, 0, NULL))
        return;
    enum query_end end = query_wait(&q, PING_MS);
    bool good = end == QUERY_DONE && q.status == 0 && str_has(buf_text(&q.text), " is UP");
    struct str words = str_trim(buf_text(q.text.n ? &q.text : &q.why)), first = str_cut(&words, '\n');
    if (good)
        snprintf(found, sizeof found, "slurmctld answers");
    else if (end != QUERY_DONE)
        snprintf(found, sizeof found, "slurmctld: no answer within %d s", PING_MS / 1000);
    else
        snprintf(found, sizeof found, "slurmctld does not answer%s" STR_FMT, first.n ? ": " : "", STR_ARG(str_sub(first, 0, 200)));
    query_close(&q);
    doctor_report(d, good ? GOOD : NOTE, "scheduler", "slurmctld", found, good ? NULL : step);
    doctor_summarize(d, &d->summary, "", good ? STYLE_PLAIN : STYLE_WARN, found, good ? NULL : step);
}

static void check_other_commands(struct doctor *d)
{
    static const struct {
        const char *area, *label, *names[TOOLS_MAX], *missing, *step;
        void (*and_then)(struct doctor *d); /* a further check of this area; NULL: none */
    } rows[] = {
        {"scheduler", "Slurm commands", {"scontrol", "srun", "sbatch"}, NULL, NULL, check_slurmctld},
        {"scheduler", "PBS commands", {"qstat", "qsub"}, NULL, NULL, NULL},
        {"scheduler", "LSF commands", {"bjobs", "bsub"}, NULL, NULL, NULL},
        {"scheduler", "Flux commands", {"flux"}, NULL, NULL, NULL},
        {"MPI", NULL, {"mpirun", "mpiexec"}, NULL, NULL, NULL},
        {"git", NULL, {"git"}, "none", "to keep and share runs in a repository: install git", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_tools(d, rows[i].area, rows[i].label, rows[i].names, rows[i].missing, rows[i].step);
        if (rows[i].and_then)
            rows[i].and_then(d);
    }
}

/* The MLflow that `ui` starts, also one that `ui --install` made. */
static void check_viewer(struct doctor *d)
{
    static const char step[] = "to see runs in a browser: benchwrap ui --install, or pip install mlflow";
    const char *path = ui_find_mlflow(d->c->env, d->c->arena);
    doctor_report(d, path ? GOOD : NOTE, "viewer", "mlflow", path, path ? NULL : step);
    doctor_summarize(d, &d->summary, "viewer", STYLE_PLAIN, path ? path : "none", path ? "to see runs in a browser: benchwrap ui" : step);
}

static int doctor_print_text(struct doctor *d, bool all)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    buf_puts(&b, "benchwrap " BW_VERSION " ");
    screen_puts(&d->screen, d->bad ? STYLE_BAD : STYLE_GOOD, d->bad ? "cannot record here." : "can record here.", &b);
    buf_puts(&b, "\n\n");
    buf_str(&b, buf_text(all ? &d->all : &d->summary));
    if (!all) {
        buf_puts(&b, d->lacks.n ? "\n" : "");
        buf_str(&b, buf_text(&d->lacks));
        buf_putc(&b, '\n');
        text_line(d, &b, 0, STYLE_DIM, "hint: benchwrap doctor --all lists libraries, kernel features and paths");
    }
    fwrite(b.p ? b.p : "", 1, b.n, d->c->out);
    return b.failed || d->all.failed || d->summary.failed || d->lacks.failed ? -1 : 0;
}

static int doctor_print(struct doctor *d)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!opt_on(&d->c->opts, OPTION_JSON))
        return doctor_print_text(d, opt_on(&d->c->opts, OPTION_ALL));
    struct json_out j = {.to = &b};
    CLEANUP_BUF struct buf rows;
    buf_init(&rows, 64 << 20);
    listing_json(&d->listing, &rows);
    json_open(&j, NULL, '{');
    json_flag(&j, "ok", !d->bad);
    json_raw(&j, "checks", buf_text(&rows));
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, d->c->out);
    return b.failed || rows.failed ? -1 : 0;
}

/* Executes `benchwrap doctor`. Returns 0; 1: nothing can be recorded here; -1 with c->err. */
static int doctor_command(struct cmd_context *c)
{
    static const struct listing_column columns[] = {{"area", "AREA", false, 0},
                                                    {"what", "WHAT", false, 60},
                                                    {"state", "STATE", false, 0},
                                                    {"found", "FOUND", false, 100},
                                                    {"remedy", "WHAT TO DO", false, 0}};
    struct doctor d = {.c = c, .screen = screen_of_file(c->out)};
    struct plan p;
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%s\"", c->argv[0]);
    if (plan_make_for(&p, &c->opts, c->env, c->arena, c->err, OPTION_TREE) < 0)
        return -1;
    listing_init(&d.listing, columns, sizeof columns / sizeof columns[0], c->arena);
    buf_init(&d.all, 1 << 20);
    buf_init(&d.summary, 256 << 10);
    buf_init(&d.lacks, 256 << 10);
    check_own_programs(&d);
    check_build_parts(&d);
    check_places(&d, &p);
    check_catalogues(&d, &p.catalogue);
    check_server(&d, &p);
    check_other_commands(&d);
    check_viewer(&d);
    check_kernel(&d);
    int status = d.listing.failed ? -1 : doctor_print(&d);
    listing_deinit(&d.listing);
    buf_deinit(&d.all);
    buf_deinit(&d.summary);
    buf_deinit(&d.lacks);
    plan_deinit(&p);
    if (status < 0)
        return err_memory(c->err, "the report");
    return d.bad ? 1 : 0;
}

static const struct opt_row rows[] = {{.name = OPTION_ALL,
                                       .letter = 'a',
                                       .kind = OPT_FLAG,
                                       .group = "Output",
                                       .help = "List every check, with libraries, kernel features and paths"},
                                      CMD_ROW_TREE,
                                      CMD_ROW_JSON};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "Check the installation",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Reports whether runs can be recorded here, where they are stored, and what benchwrap found: scheduler, MPI, MLflow server and viewer. Anything "
        "else appears only when it is missing, with the step that adds it: a library that is loaded when it is needed, or a part that this build was made "
        "without.\n"
        "\n"
        "doctor starts no program but \"scontrol ping\", where that is in PATH, and writes nothing. The exit status is 1 when an essential part is BROKEN. For a part that is only missing there is a "
        "substitute, or the feature is not available.",
    .examples = "$ benchwrap doctor\n"
                "The answer, and what is missing.\n"
                "$ benchwrap doctor --all\n"
                "Every check.\n"
                "$ benchwrap doctor --json\n"
                "Every check, for a program.\n",
    .run = doctor_command,
};
