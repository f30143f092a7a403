/* cmd_doctor.c: `benchwrap doctor`: what is here, what is missing, what to do about it. Starts no other program. */
#include "base/fs.h"
#include "base/json_out.h"
#include "base/listing.h"
#include "benchmarks/rules.h"
#include "cmd/cmd.h"
#include "cmd/libraries.h"
#include "cmd/server_look.h"
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

enum state { GOOD, NOTE, MISSING, BAD }; /* as expected; optional and not there; optional and wanted; essential and broken */

struct doctor {
    struct cmd_context *c;
    struct listing listing;
    bool bad;
};

static void tell(struct doctor *d, enum state state, const char *area, const char *what, const char *found, const char *remedy)
{
    static const char *const names[] = {"ok", "-", "missing", "BROKEN"};
    listing_text(&d->listing, area);
    listing_text(&d->listing, what);
    listing_text(&d->listing, names[state]);
    listing_text(&d->listing, found ? found : "");
    listing_text(&d->listing, remedy ? remedy : "");
    d->bad = d->bad || state == BAD;
}

/* First executable of that name in PATH, or NULL. */
static const char *in_path(const char *name, struct arena *a)
{
    for (struct str rest = str_of(getenv("PATH")); rest.p;) {
        struct str dir = str_cut(&rest, ':');
        const char *path = arena_printf(a, STR_FMT "%s%s", STR_ARG(dir), dir.n ? "/" : "./", name);
        struct stat st;
        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

static void programs(struct doctor *d)
{
    struct arena *a = d->c->arena;
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    tell(d, n > 0 ? GOOD : BAD, "program", "core " BW_VERSION, self, n > 0 ? NULL : "mount /proc");
    char *slash = n > 0 ? strrchr(self, '/') : NULL; /* PREFIX/libexec/benchwrap/benchwrap-core */
    const char *launcher = slash ? arena_printf(a, "%.*s/../../bin/benchwrap", (int)(slash - self), self) : NULL;
    bool there = launcher && access(launcher, X_OK) == 0;
    char real[PATH_MAX];
    tell(d, there ? GOOD : BAD, "program", "launcher", there && realpath(launcher, real) ? real : launcher,
         there ? NULL : "install again: bin/ and libexec/ belong together");
    struct library libraries[LIBRARIES_MAX];
    size_t count = libraries_list(libraries, a);
    for (size_t i = 0; i < count; i++)
        tell(d, GOOD, "library", arena_printf(a, "%s %s", libraries[i].name, libraries[i].version), libraries[i].file, NULL);
}

static void catalogues(struct doctor *d, const struct catalogue *catalogue)
{
    struct arena *a = d->c->arena;
    size_t n = 0, good = 0, own = 0;
    struct catalogue_entry *e = catalogue_list(catalogue, a, &n);
    for (size_t i = 0; e && i < n; i++) {
        struct rules *rules = NULL;
        struct err err = {0};
        if (rules_load(&rules, e[i].path, &err))
            tell(d, e[i].from ? MISSING : BAD, "rules", e[i].name, arena_printf(a, "%s", err.text), "mend the file");
        else
            *(e[i].from ? &own : &good) += 1;
        rules_free(rules);
    }
    tell(d, good ? GOOD : BAD, "rules", "catalogue", arena_printf(a, "%zu compiled in, %zu of your own", good, own), NULL);
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

static void places(struct doctor *d, const struct plan *p)
{
    struct arena *a = d->c->arena;
    const char *where;
    bool tree = can_make(p->tree, &where, a);
    tell(d, tree ? GOOD : MISSING, "place", "tree",
         arena_printf(a, "%s (%s)%s", p->tree, p->tree_where, access(p->tree, F_OK) == 0 ? "" : ", not there yet"),
         tree ? NULL : arena_printf(a, "%s cannot be written: name another folder with --tree or BENCHWRAP_TREE", where));
    bool spool = can_make(p->spool, &where, a);
    bool fallback = p->spool_fallback && can_make(p->spool_fallback, &where, a);
    tell(d,
         spool      ? GOOD
         : fallback ? MISSING
                    : BAD,
         "place", "spool", p->spool,
         spool      ? NULL
         : fallback ? "the fallback is taken"
                    : "no run can be recorded: make one of the places writable");
    tell(d, fallback ? GOOD : MISSING, "place", "fallback spool", p->spool_fallback,
         fallback ? NULL : "set XDG_STATE_HOME to a folder that can be written");
    for (const struct plan_file *f = p->files; f; f = f->next)
        tell(d, f->found ? GOOD : NOTE, "options", opt_origin_name(f->origin), f->path, NULL);
    for (const struct plan_warning *w = p->warnings; w; w = w->next)
        tell(d, MISSING, "options", "warning", w->text, "mend it");
}

static void server(struct doctor *d, struct plan *p)
{
    bool good = false;
    const char *answer = p->server ? server_look(p, d->c->env, &good) : NULL;
    if (!p->server)
        tell(d, NOTE, "server", "MLflow", p->server_where, "--to or MLFLOW_TRACKING_URI names one");
    else
        tell(d, good ? GOOD : MISSING, "server", arena_printf(d->c->arena, "%s (%s)", p->server, p->server_where), answer,
             good ? NULL : "runs are recorded here; \"benchwrap sync\" sends them when it answers");
}

static void kernel(struct doctor *d)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    tell(d, fd >= 0 ? GOOD : NOTE, "kernel", "pidfd_open", fd >= 0 ? NULL : strerror(errno),
         fd >= 0 ? NULL : "signals and wait are used instead");
    if (fd >= 0)
        close(fd);
    fd = memfd_create("benchwrap-doctor", MFD_CLOEXEC);
    tell(d, fd >= 0 ? GOOD : BAD, "kernel", "memfd_create", fd >= 0 ? NULL : strerror(errno),
         fd >= 0 ? NULL : "nothing can be recorded: Linux 3.17 or newer is needed, or a sandbox forbids it");
    if (fd >= 0)
        close(fd);
    int same = (int)syscall(SYS_kcmp, getpid(), getpid(), 0, 1, 1);
    tell(d, same >= 0 ? GOOD : NOTE, "kernel", "kcmp", same >= 0 ? NULL : strerror(errno),
         same >= 0 ? NULL : "whether stdout and stderr are one file is told by their inodes");
    int subreaper = 0, got = prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    tell(d, got == 0 ? GOOD : NOTE, "kernel", "child subreaper", got == 0 ? NULL : strerror(errno),
         got == 0 ? NULL : "daemons left behind are not counted");
    fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    tell(d, fd >= 0 ? GOOD : NOTE, "kernel", "pseudo terminals", fd >= 0 ? NULL : strerror(errno),
         fd >= 0 ? NULL : "terminals of the program become pipes");
    if (fd >= 0)
        close(fd);
}

static void others(struct doctor *d)
{
    static const struct {
        const char *area, *names[6], *remedy;
    } rows[] = {
        {"scheduler", {"scontrol", "srun", "sbatch"}, NULL},
        {"scheduler", {"qstat", "qsub"}, NULL},
        {"scheduler", {"bjobs", "bsub"}, NULL},
        {"scheduler", {"flux"}, NULL},
        {"MPI", {"mpirun", "mpiexec"}, NULL},
        {"git", {"git"}, "to share results: install git"},
        {"viewer", {"mlflow"}, "to look at runs in a browser: pip install mlflow, then \"benchwrap ui\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (const char *const *name = rows[i].names; *name; name++) {
            const char *path = in_path(*name, d->c->arena);
            tell(d, path ? GOOD : NOTE, rows[i].area, *name, path, path ? NULL : rows[i].remedy);
        }
}

static int print(struct doctor *d)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!opt_on(&d->c->opts, "json")) {
        int status = listing_print(&d->listing, d->c->out);
        fprintf(d->c->out, "\n%s\n", d->bad ? "Something essential is BROKEN: see above." : "Runs can be recorded here.");
        return status;
    }
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

static int run(struct cmd_context *c)
{
    static const struct listing_column columns[] = {{"area", "AREA", false, 0},
                                                    {"what", "WHAT", false, 60},
                                                    {"state", "STATE", false, 0},
                                                    {"found", "FOUND", false, 100},
                                                    {"remedy", "WHAT TO DO", false, 0}};
    struct doctor d = {.c = c};
    struct plan p;
    char word[] = "benchwrap", option[PATH_MAX + 16], *argv[] = {word, option, NULL};
    const char *tree = opt_text(&c->opts, "tree");
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "takes no operands");
    snprintf(option, sizeof option, "--tree=%s", tree ? tree : "");
    if (plan_make(&p, tree ? 2 : 1, argv, c->env, c->err) < 0)
        return -1;
    listing_init(&d.listing, columns, sizeof columns / sizeof columns[0], c->arena);
    programs(&d);
    catalogues(&d, &p.catalogue);
    places(&d, &p);
    server(&d, &p);
    kernel(&d);
    others(&d);
    int status = d.listing.failed ? -1 : print(&d);
    listing_deinit(&d.listing);
    plan_deinit(&p);
    if (status < 0)
        return err_set(c->err, ERR_SYSTEM, "out of memory");
    return d.bad ? 1 : 0;
}

static const struct opt_row rows[] = {CMD_ROW_TREE, CMD_ROW_JSON};

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "Check the installation",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Looks at the program's parts and libraries, the catalogue of rules, the places where runs would be written, configuration files, the "
        "kernel's features, the MLflow server if one is named, and the programs that benchwrap works with. Starts none of them and writes nothing. The exit status is 1 when "
        "something essential is BROKEN; what is merely missing has a substitute, named beside it.",
    .examples = "$ benchwrap doctor\n"
                "A table.\n"
                "$ benchwrap doctor --json\n"
                "For a program to read.\n",
    .run = run,
};
