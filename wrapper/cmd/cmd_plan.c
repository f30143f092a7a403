/* cmd_plan.c: `benchwrap plan [OPTIONS] -- PROGRAM …`: what would be done and who decided it; runs nothing. */
#include "base/env.h"
#include "base/json_out.h"
#include "base/listing.h"
#include "base/search_path.h"
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "sync/server_look.h"
#include "plan/plan.h"
#include "plan/server.h"
#include "repeat/repeat_plan.h"

#include <string.h>
#include <unistd.h>

/* Removes `--json` from the words before `--`. True if it was there. */
static bool take_json(int *argc, char **argv)
{
    bool found = false, open = true;
    int n = 0;
    for (int i = 0; i < *argc; i++) {
        open = open && strcmp(argv[i], "--") != 0;
        if (open && strcmp(argv[i], "--json") == 0)
            found = true;
        else
            argv[n++] = argv[i];
    }
    argv[ *argc = n] = NULL;
    return found;
}

static const char *line_of(char *const *words, char *const *end, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8192); /* a longer line is cut: this is for reading */
    for (; words != end && *words; words++) {
        if (b.n)
            buf_putc(&b, ' ');
        help_quote(&b, *words);
    }
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static void plan_row(struct listing *l, const char *what, const char *value, const char *why)
{
    listing_text(l, what);
    listing_text(l, value);
    listing_text(l, why);
}

/* A file that was found, not named, is read when the run has ended; what is wrong with it can be
 * reported now. */
static void check_references(struct cmd_context *c, const struct plan *p)
{
    for (size_t i = 0; i < p->references.count; i++) {
        struct references *refs = NULL;
        struct err err = {0};
        if (references_load(&refs, p->references.path[i], &err) < 0)
            fprintf(c->notes, "benchwrap: plan: %s; the file would be ignored\n", err.text);
        references_free(refs);
    }
}

/* How many runs, in which order, and the first and the last point's command. */
static void print_series(struct listing *l, const struct plan *p, const struct repeat_plan *s, struct arena *a)
{
    const char *most = s->until > 0 ? arena_printf(a, "%zu to %zu", s->repeat, s->most) : arena_printf(a, "%zu", s->repeat);
    plan_row(l, "repetitions", most, s->until > 0 ? "--until-stable" : "of each point");
    if (s->warmup)
        plan_row(l, "warm-up", arena_printf(a, "%zu", s->warmup), "of each point");
    if (!s->sweep.count)
        return;
    plan_row(l, "points", arena_printf(a, "%zu", s->sweep.points), repeat_order_words(s));
    for (size_t i = 0; i<s->sweep.points; i += s->sweep.points> 1 ? s->sweep.points - 1 : 1) {
        char **words = repeat_program_words(s, p, i, a);
        plan_row(l, i ? "last point" : "first point", words ? line_of(words, NULL, a) : NULL, "--sweep");
    }
}

static void print_server(struct listing *l, const struct plan *p, const char *server)
{
    plan_row(l, "server", p->server, p->server_where);
    if (server)
        plan_row(l, "", server, "asked now");
    if (p->server_run)
        plan_row(l, "appended to", p->server_run, "MLFLOW_RUN_ID");
    else if (opt_on(&p->opts, OPTION_SHARE_RUN))
        plan_row(l, "shared", p->server ? "the program gets the run by MLFLOW_RUN_ID" : "the program's MLflow client gets a private store",
                 opt_find(&p->opts, OPTION_SHARE_RUN)->where);
}

/* Prints the plan and its options as two tables. Arguments as plan_print_json. -1: out of memory. */
static int plan_print_text(struct cmd_context *c, const struct plan *p, const struct repeat_plan *s, const char *server)
{
    static const struct listing_column columns[] = {
        {"what", "WHAT", false, 0}, {"value", "VALUE", false, 0}, {"why", "DECIDED BY", .wrap = true}};
    static const struct listing_column option_columns[] = {
        {"option", "OPTION", false, 0}, {"value", "VALUE", false, 60}, {"from", "FROM", false, 0}};
    struct arena *a = c->arena;
    struct listing l;
    listing_init(&l, columns, 3, a);
    plan_row(&l, "program", p->program[0] ? line_of(p->program, NULL, a) : NULL, p->program[0] ? "what is measured" : "none was given");
    if (p->program != p->argv)
        plan_row(&l, "started by", line_of(p->argv, p->program, a), "seen through");
    if (s)
        print_series(&l, p, s, a);
    plan_row(&l, "experiment", p->experiment, p->experiment_where);
    plan_row(&l, "rules", p->rules, p->rules_why);
    for (size_t i = 0; i < p->references.count; i++)
        plan_row(&l, "references", p->references.path[i], p->references_where[i]);
    if (!p->references.count)
        plan_row(&l, "references", NULL, "none was named or found");
    plan_row(&l, "tree", p->tree, p->tree_where);
    print_server(&l, p, server);
    for (const struct exporter_config *x = p->exporters; x; x = x->next)
        plan_row(&l, "exporter",
                 !exporter_is_enabled(x) || opt_on(&p->opts, OPTION_NO_EXPORT) ? arena_printf(a, "%s (off)", x->name)
                                                                               : arena_printf(a, "%s", x->name),
                 x->where);
    plan_row(&l, "spool", p->spool, access(p->tree, F_OK) == 0 ? "next to the tree" : "next to the tree, which does not exist yet");
    plan_row(&l, "fallback", p->spool_fallback, "if the spool cannot be written");
    for (size_t i = 0; i < p->catalogue.folders; i++)
        plan_row(&l, "catalogue", p->catalogue.folder[i],
                 access(p->catalogue.folder[i], F_OK) == 0 ? "before the shipped one" : "not there");
    for (const struct plan_file *f = p->files; f; f = f->next)
        plan_row(&l, "options file", f->path, f->found ? "read" : "not there");
    int status = listing_print(&l, c->out);
    listing_deinit(&l);
    fputc('\n', c->out);
    listing_init(&l, option_columns, 3, a);
    for (size_t i = 0; i < p->opts.count; i++)
        for (const struct opt_value *v = &p->opts.values[i]; v && v->text; v = v->next)
            plan_row(&l, p->opts.rows[i].name,
                     p->opts.rows[i].kind == OPT_FLAG ? (opt_on(&p->opts, p->opts.rows[i].name) ? "yes" : "no") : v->text, v->where);
    status |= listing_print(&l, c->out);
    listing_deinit(&l);
    check_references(c, p);
    for (const struct plan_warning *w = p->warnings; w; w = w->next)
        fprintf(c->notes, "benchwrap: plan: %s\n", w->text);
    return status;
}

static void words_json(struct json_out *j, const char *key, char *const *words)
{
    json_open(j, key, '[');
    for (; *words; words++)
        json_text(j, NULL, *words);
    json_close(j, ']');
}

static void options_json(struct json_out *j, const struct opt_set *set)
{
    json_open(j, "options", '{');
    for (size_t i = 0; i < set->count; i++) {
        const struct opt_value *v = &set->values[i];
        if (!v->text)
            continue;
        json_open(j, set->rows[i].name, '{');
        if (opt_repeats(&set->rows[i])) {
            json_open(j, "value", '[');
            for (const struct opt_value *one = v; one; one = one->next)
                json_text(j, NULL, one->text);
            json_close(j, ']');
        } else if (set->rows[i].kind == OPT_FLAG) {
            json_flag(j, "value", opt_on(set, set->rows[i].name));
        } else {
            json_text(j, "value", v->text);
        }
        json_text(j, "origin", opt_origin_name(v->origin));
        json_text(j, "where", v->where);
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void series_json(struct json_out *j, const struct plan *p, const struct repeat_plan *s, struct arena *a)
{
    json_open(j, "series", '{');
    json_int(j, "repeat", (int64_t)s->repeat);
    json_int(j, "most", (int64_t)s->most);
    json_int(j, "warmup", (int64_t)s->warmup);
    json_text(j, "order", repeat_order_words(s));
    json_open(j, "points", '[');
    for (size_t i = 0; i < s->sweep.points; i++) {
        char **words = repeat_program_words(s, p, i, a);
        if (words)
            words_json(j, NULL, words);
    }
    json_close(j, ']');
    json_close(j, '}');
}

/* Prints the plan as JSON. s: of repetitions, or NULL. server: whether the server answers, or NULL.
 * -1: out of memory. */
static int plan_print_json(struct cmd_context *c, const struct plan *p, const struct repeat_plan *s, const char *server)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20); /* a command line has at most a few MiB */
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    words_json(&j, "argv", p->argv);
    words_json(&j, "program", p->program);
    if (s)
        series_json(&j, p, s, c->arena);
    json_text(&j, "experiment", p->experiment);
    json_text(&j, "experiment_where", p->experiment_where);
    json_text(&j, "benchmark", p->benchmark);
    json_text(&j, "rules", p->rules);
    json_text(&j, "rules_why", p->rules_why);
    json_open(&j, "references", '[');
    for (size_t i = 0; i < p->references.count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "path", p->references.path[i]);
        json_text(&j, "where", p->references_where[i]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_text(&j, "tree", p->tree);
    json_text(&j, "tree_where", p->tree_where);
    json_text(&j, "server", p->server);
    json_text(&j, "server_where", p->server_where);
    json_text(&j, "server_answer", server);
    json_text(&j, "server_run", p->server_run);
    json_text(&j, "repository", p->repository);
    json_text(&j, "spool", p->spool);
    json_text(&j, "spool_fallback", p->spool_fallback);
    json_open(&j, "catalogue", '[');
    for (size_t i = 0; i < p->catalogue.folders; i++)
        json_text(&j, NULL, p->catalogue.folder[i]);
    json_close(&j, ']');
    json_open(&j, "files", '[');
    for (const struct plan_file *f = p->files; f; f = f->next) {
        json_open(&j, NULL, '{');
        json_text(&j, "path", f->path);
        json_text(&j, "origin", opt_origin_name(f->origin));
        json_flag(&j, "found", f->found);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    options_json(&j, &p->opts);
    json_open(&j, "warnings", '[');
    for (const struct plan_warning *w = p->warnings; w; w = w->next)
        json_text(&j, NULL, w->text);
    json_close(&j, ']');
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    return b.failed ? -1 : 0;
}

/* The first word of each point's command line must be a program. */
static void check_program(struct cmd_context *c, struct plan *p, const struct repeat_plan *s)
{
    for (size_t i = 0; i < (s ? s->sweep.points : 1); i++) {
        char *const *words = s ? repeat_program_words(s, p, i, c->arena) : p->argv;
        if (!words || !words[0] || search_path_find(env_get(c->env, "PATH"), words[0], false, c->arena))
            continue;
        CLEANUP_BUF struct buf shown;
        buf_init(&shown, 300);
        buf_plain(&shown, str_of(words[0]), 60);
        plan_warn(p,
                  arena_printf(c->arena,
                               strchr(words[0], '/') ? STR_FMT ": there is no such program" : STR_FMT ": there is no such program in PATH",
                               STR_ARG(buf_text(&shown))));
        return;
    }
}

/* Executes `benchwrap plan`: reads its line as that of a run, since it shows the plan of one. 0; -1
 * with c->err. */
static int plan_command(struct cmd_context *c)
{
    struct plan p;
    char **argv = arena_get(c->arena, ((size_t)c->argc + 2) * sizeof *argv);
    if (!argv)
        return err_memory(c->err, "the plan");
    memcpy(argv + 1, c->argv, ((size_t)c->argc + 1) * sizeof *argv);
    argv[0] = argv[1]; /* not read */
    int words = c->argc;
    bool json = take_json(&words, argv + 1);
    if (plan_make(&p, words + 1, argv, c->env, c->err) < 0) {
        if (c->err->kind == ERR_INPUT) /* a rule file that was named: the recorded run would end so, too */
            c->err->kind = ERR_USAGE;
        return -1;
    }
    struct repeat_plan series;
    bool several = p.argv[0] && repeat_is_requested(&p);
    if (several && repeat_plan_make(&series, &p, c->err)) {
        plan_deinit(&p);
        return -1;
    }
    check_program(c, &p, several ? &series : NULL);
    bool good;
    const char *server = p.server ? server_look(&p, c->env, &good) : NULL;
    int status = json ? plan_print_json(c, &p, several ? &series : NULL, server) : plan_print_text(c, &p, several ? &series : NULL, server);
    plan_deinit(&p);
    return status < 0 ? err_memory(c->err, "the plan") : 0;
}

static const struct opt_row rows[] = {
    CMD_ROW_JSON,
#define OPTION(name, letter, kind, arg, env, value, group, help, flags) {name, letter, kind, arg, env, value, group, help, flags},
#include "launch/options.def"
#undef OPTION
};

const struct cmd cmd_plan = {
    .name = "plan",
    .summary = "Show what would be recorded; run nothing",
    .usage = "[OPTIONS] -- PROGRAM [ARGUMENTS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Reads the command line of a run and prints which program would be measured (launchers such as srun, env or "
        "numactl are seen through), where the run would be written, which rules would read its output, and for every option its value and "
        "where that came from. Nothing is started and nothing is written; if an MLflow server is named, plan checks that it answers.\n\n"
        "From weak to strong: defaults, /etc/benchwrap.yaml, ~/.config/benchwrap/config.yaml, the results repository's benchwrap.yaml, "
        "environment variables, the command line.",
    .examples = "$ benchwrap plan -- true\n"
                "Nothing special.\n"
                "$ benchwrap plan --json -e io --timeout 5m -- env LANG=C ior -a POSIX\n"
                "As JSON, for a program started by env.\n",
    .raw = true,
    .run = plan_command,
};
