/* repeat_plan.c: read from the options which runs to make, and build the command line of each. */
#include "repeat/repeat_plan.h"

#include "base/fs.h"
#include "benchmarks/interpreter.h"
#include "launch/options.h"
#include "launch/repeat.h"
#include "repeat/repeat_child.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Reads an option with a number from `least` to SERIES_RUNS_MAX; *ret is `otherwise` where it is
 * not set. 0; -1 with err. */
static int read_count(const struct plan *p, const char *name, size_t otherwise, size_t least, size_t *ret, struct err *err)
{
    *ret = otherwise;
    if (!opt_text(&p->opts, name))
        return 0;
    int64_t n = opt_integer(&p->opts, name);
    if (n < (int64_t)least || n > SERIES_RUNS_MAX)
        return err_set(err, ERR_USAGE, "--%s: expected a number from %zu to %d, got \"%.40s\"", name, least, SERIES_RUNS_MAX,
                       opt_text(&p->opts, name));
    *ret = (size_t)n;
    return 0;
}

/* Reads --until-stable as a fraction into s->until, which stays 0 without that option. 0; -1 with
 * err. */
static int read_until(struct repeat_plan *s, const struct plan *p, struct err *err)
{
    const char *text = opt_text(&p->opts, OPTION_UNTIL_STABLE);
    struct str number = str_of(text);
    double percent;
    if (!text)
        return opt_text(&p->opts, OPTION_MAX_REPEAT) ? err_set(err, ERR_USAGE, "--max-repeat: it requires --until-stable PERCENT") : 0;
    if (!str_ends(number, "%") || !str_double(str_sub(number, 0, number.n - 1), &percent) || !(percent > 0 && percent < 100))
        return err_set(err, ERR_USAGE, "--until-stable: expected a percentage between 0%% and 100%%, for example 2%%, got \"%.20s\"", text);
    s->until = percent / 100;
    return 0;
}

/* Reads the numbers of repetitions and warm-ups. 0; -1 with err where they contradict each other or
 * make more than SERIES_RUNS_MAX runs. */
static int read_repeat_counts(struct repeat_plan *s, const struct plan *p, struct err *err)
{
    if (read_until(s, p, err) || read_count(p, "repeat", s->until > 0 ? SERIES_LEAST_STABLE : 1, 1, &s->repeat, err) ||
        read_count(p, "warmup", 0, 0, &s->warmup, err) || read_count(p, "max-repeat", s->repeat > 30 ? s->repeat : 30, 1, &s->most, err))
        return -1;
    if (s->until > 0 && s->repeat < 3)
        return err_set(err, ERR_USAGE, "--repeat with --until-stable is the minimum number of repetitions: expected 3 or more");
    if (s->until > 0 && s->most < s->repeat)
        return err_set(err, ERR_USAGE, "--max-repeat: expected %zu or more, the minimum number of repetitions (--repeat), got %zu",
                       s->repeat, s->most);
    if (s->until == 0)
        s->most = s->repeat;
    if (s->sweep.points * (s->most + s->warmup) > SERIES_RUNS_MAX)
        return err_set(err, ERR_USAGE, "%zu point%s times %zu run%s: more than %d runs", s->sweep.points, str_plural(s->sweep.points),
                       s->most + s->warmup, str_plural(s->most + s->warmup), SERIES_RUNS_MAX);
    return 0;
}

/* Reads the --sweep options. 0; -1 with err where a value is wrong, the command does not use an
 * axis, or --param sets it too. */
static int read_sweep(struct repeat_plan *s, struct plan *p, struct err *err)
{
    s->sweep.points = 1;
    for (const struct opt_value *v = opt_find(&p->opts, OPTION_SWEEP); v && v->text; v = v->next)
        if (sweep_add(&s->sweep, v->text, &p->arena, err))
            return -1;
    for (size_t i = 0; i < s->sweep.count; i++) {
        const char *name = s->sweep.axes[i].name;
        bool used = false;
        for (char *const *a = p->argv; *a; a++)
            used |= sweep_uses(&s->sweep, i, *a);
        if (!used)
            return err_set(err, ERR_USAGE, "--sweep %s: expected {%s} in the command, where the values belong", name, name);
        for (const struct opt_value *v = opt_find(&p->opts, OPTION_PARAM); v && v->text; v = v->next)
            if (strncmp(v->text, name, strlen(name)) == 0 && v->text[strlen(name)] == '=')
                return err_set(err, ERR_USAGE, "--param %s: this parameter is swept", name);
    }
    return 0;
}

int repeat_plan_make(struct repeat_plan *ret, struct plan *p, struct err *err)
{
    struct repeat_plan s = {.max_time = opt_text(&p->opts, OPTION_MAX_TIME) ? opt_seconds(&p->opts, OPTION_MAX_TIME) : 0,
                            .interleave = opt_on(&p->opts, OPTION_INTERLEAVE),
                            .shuffle = opt_text(&p->opts, OPTION_SEED) != NULL,
                            .keep_going = opt_on(&p->opts, OPTION_KEEP_GOING),
                            .quiet = opt_on(&p->opts, OPTION_QUIET),
                            .gate = opt_on(&p->opts, OPTION_GATE),
                            .input = opt_text(&p->opts, OPTION_INPUT)};
    const char *as = opt_text(&p->opts, OPTION_AS);
    s.steps = as && strcmp(as, "steps") == 0;
    s.seed = s.shuffle ? (uint64_t)opt_integer(&p->opts, OPTION_SEED) : 0;
    if (s.shuffle && !s.interleave)
        return err_set(err, ERR_USAGE, "--seed: it requires --interleave, whose order it sets");
    CLEANUP_FD int input = s.input ? repeat_input_open(s.input, err) : -1;
    if (s.input && input < 0)
        return -1;
    if (read_sweep(&s, p, err) || read_repeat_counts(&s, p, err))
        return -1;
    *ret = s;
    return 0;
}

bool repeat_is_requested(const struct plan *p)
{
    static const char *const whether[] = {"repeat", "warmup", "until-stable", "sweep"};
    for (size_t i = 0; i < sizeof whether / sizeof *whether; i++)
        if (opt_text(&p->opts, whether[i]))
            return true;
    return false;
}

const char *repeat_order_words(const struct repeat_plan *s)
{
    return s->shuffle ? "interleaved, points shuffled in each round" : s->interleave ? "interleaved" : "point by point";
}

/* ---- a run's line ---- */

struct launcher_line {
    char **words;
    size_t count, room;
    struct arena *a;
};

static void line_add(struct launcher_line *l, const char *word)
{
    if (!word)
        l->a->failed = true;
    else if (l->count < l->room)
        l->words[l->count++] = (char *)word;
}

/* Returns the path of the installed launcher, derived from that of this program. NULL: it is not
 * known, or out of memory. */
static const char *launcher_path(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return NULL;
    path[n] = 0;
    for (int up = 0; up < 3; up++) { /* <prefix>/libexec/benchwrap/benchwrap-core */
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = 0;
    }
    return arena_printf(a, "%s/bin/benchwrap", path);
}

/* Passes on what the caller typed, in one word each; tags and params also from configuration files,
 * since those of the line replace them. */
static void line_add_options(struct launcher_line *l, const struct plan *p, bool scratch)
{
    static const char *const left_out[] = {"name", "quiet", "gate"};
    for (size_t i = 0; i < p->opts.count; i++) {
        const struct opt_row *row = &p->opts.rows[i];
        const struct opt_value *v = &p->opts.values[i];
        bool skip = options_is_series(row) || (v->origin != OPT_COMMAND_LINE && strcmp(row->name, "tag") && strcmp(row->name, "param"));
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            skip |= strcmp(row->name, left_out[k]) == 0;
        if (skip || (scratch && (strcmp(row->name, "tree") == 0 || strcmp(row->name, "experiment") == 0)))
            continue;
        for (; v && v->text; v = v->next)
            line_add(l, row->kind == OPT_FLAG ? arena_printf(l->a, "--%s", row->name) : arena_printf(l->a, "--%s=%s", row->name, v->text));
    }
}

/* Returns an upper bound of the number of words of a launcher's command line. */
static size_t line_words_max(const struct plan *p)
{
    size_t n = 64 + SWEEP_AXES_MAX;
    for (size_t i = 0; i < p->opts.count; i++)
        for (const struct opt_value *v = &p->opts.values[i]; v; v = v->next)
            n++;
    for (char *const *a = p->argv; *a; a++)
        n++;
    return n;
}

/* Returns the name of a run: --name, the benchmark or the program, then the point and "#2" or
 * "warm-up 2". Name and point are cut to 100 and 120 bytes. In the arena; NULL: out of memory. */
static const char *repetition_name(const struct repeat_plan *s, const struct plan *p, const struct series_repetition *run, struct arena *a)
{
    CLEANUP_BUF struct buf label;
    const char *given = opt_text(&p->opts, OPTION_NAME), *program = p->program[0] ? interpreter_name(p->program) : "run";
    buf_init(&label, SWEEP_AXES_MAX * (SWEEP_VALUE_MAX + 256));
    sweep_label(&s->sweep, run->point, &label);
    return arena_printf(a, "%.100s%s%.120s %s%zu",
                        given && *given ? given
                        : p->benchmark  ? p->benchmark
                                        : program,
                        label.n ? " " : "", label.n ? label.p : "", run->warmup ? "warm-up " : "#", run->repetition);
}

char **repeat_program_words(const struct repeat_plan *s, const struct plan *p, size_t point, struct arena *a)
{
    struct launcher_line l = {.room = line_words_max(p), .a = a};
    CLEANUP_BUF struct buf word;
    buf_init(&word, 64 << 20);
    l.words = arena_get(a, (l.room + 1) * sizeof *l.words);
    for (char *const *arg = p->argv; l.words && *arg; arg++) {
        buf_clear(&word);
        sweep_replace(&s->sweep, point, *arg, &word);
        line_add(&l, word.failed ? NULL : arena_dup(a, word.p ? word.p : "", word.n));
    }
    return a->failed ? NULL : l.words;
}

char **repeat_launcher_line(const struct repeat_plan *s, const struct plan *p, const struct series_repetition *run, const char *scratch,
                            char *const *program, struct arena *a)
{
    struct launcher_line l = {.room = line_words_max(p), .a = a};
    for (char *const *word = program; word && *word; word++)
        l.room++;
    l.words = arena_get(a, (l.room + 1) * sizeof *l.words);
    if (!l.words)
        return NULL;
    line_add(&l, launcher_path(a));
    line_add(&l, arena_printf(a, SERIES_CHILD "%s", run->id));
    line_add(&l, "--quiet");
    line_add_options(&l, p, scratch);
    if (scratch) {
        line_add(&l, arena_printf(a, "--tree=%s", scratch));
        line_add(&l, "--experiment=series");
        line_add(&l, "--no-export"); /* the run of the series is delivered */
    }
    line_add(&l, arena_printf(a, "--name=%s", repetition_name(s, p, run, a)));
    line_add(&l, arena_printf(a, "--tag=benchwrap.%s=%zu", run->warmup ? "warmup" : "repetition", run->repetition));
    line_add(&l, arena_printf(a, "--tag=benchwrap.order=%zu", run->order));
    for (size_t i = 0; i < s->sweep.count; i++)
        line_add(&l, arena_printf(a, "--param=%s=%s", s->sweep.axes[i].name, sweep_value(&s->sweep, run->point, i)));
    line_add(&l, "--");
    char *const *words = program ? program : repeat_program_words(s, p, run->point, a);
    for (size_t i = 0; words && words[i]; i++)
        line_add(&l, words[i]);
    return a->failed ? NULL : l.words;
}
