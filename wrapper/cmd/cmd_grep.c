/* cmd_grep.c: `benchwrap grep PATTERN`: search the stored output, job scripts and environments of runs. */
#include "base/json_out.h"
#include "base/screen.h"
#include "base/utf8.h"
#include "runs/runs_grep.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"

#include <string.h>

enum { GREP_SHOWN = 400, GREP_BEFORE = 120 /* bytes of a long line that are shown, and those before the match */ };

struct grep_output {
    struct cmd_context *c;
    struct screen screen;
    enum listing_form form;
    bool is_list;
    struct buf line; /* reused */
    size_t rows;
    bool failed; /* out of memory */
};

/* The part of a line around its match. */
static struct str part_shown(const struct grep_hit *hit, size_t *ret_from)
{
    size_t from = hit->text.n > GREP_SHOWN && hit->from > GREP_BEFORE ? hit->from - GREP_BEFORE : 0;
    *ret_from = from = utf8_cut(hit->text, from);
    return str_sub(hit->text, from, GREP_SHOWN);
}

static void put_grep_place(struct grep_output *o, const struct grep_hit *hit)
{
    buf_printf(&o->line, "%.8s ", hit->run->id);
    buf_puts(&o->line, "job ");
    buf_plain(&o->line, str_of(hit->job ? hit->job : "-"), 60);
    buf_putc(&o->line, ' ');
    buf_plain(&o->line, str_of(hit->file), 200);
}

static void put_grep_line(struct grep_output *o, const struct grep_hit *hit)
{
    size_t at;
    struct str part = part_shown(hit, &at);
    size_t from = hit->from - at < part.n ? hit->from - at : part.n, to = hit->to - at < part.n ? hit->to - at : part.n;
    screen_style_begin(&o->screen, STYLE_DIM, &o->line);
    put_grep_place(o, hit);
    buf_printf(&o->line, ":%llu: ", (unsigned long long)hit->line);
    screen_style_end(&o->screen, STYLE_DIM, &o->line);
    buf_puts(&o->line, at ? "…" : "");
    buf_plain(&o->line, str_sub(part, 0, from), 2 * GREP_SHOWN);
    screen_style_begin(&o->screen, STYLE_MAIN, &o->line);
    buf_plain(&o->line, str_sub(part, from, to - from), 2 * GREP_SHOWN);
    screen_style_end(&o->screen, STYLE_MAIN, &o->line);
    buf_plain(&o->line, str_sub(part, to, part.n), 2 * GREP_SHOWN);
    buf_puts(&o->line, at + part.n < hit->text.n ? "…\n" : "\n");
}

static void put_grep_json(struct grep_output *o, const struct grep_hit *hit)
{
    struct json_out j = {.to = &o->line, .layout = JSON_ROW};
    buf_puts(&o->line, o->rows ? ",\n  " : "[\n  ");
    json_open(&j, NULL, '{');
    json_text(&j, "run", hit->run->id);
    json_text(&j, "experiment", hit->run->experiment);
    json_text(&j, "job", hit->job);
    json_text(&j, "file", hit->file);
    if (!o->is_list) {
        json_uint(&j, "line", hit->line);
        json_str(&j, "text", hit->text);
    }
    json_close(&j, '}');
}

/* A row of CSV, JSON lines or Markdown, with its headings before the first one; hit NULL: the headings alone. */
static void print_grep_row(struct grep_output *o, const struct grep_hit *hit)
{
    enum { WITHOUT_LINE = 4 };
    static const struct listing_column columns[] = {{"run"}, {"experiment"}, {"job"}, {"file"}, {"line", .right = true}, {"text"}};
    struct listing l;
    struct arena a;
    arena_init(&a, 0);
    listing_init(&l, columns, o->is_list ? WITHOUT_LINE : sizeof columns / sizeof *columns, &a);
    l.bare = o->rows > 0;
    if (hit) {
        listing_text(&l, hit->run->id);
        listing_text(&l, hit->run->experiment);
        listing_text(&l, hit->job);
        listing_text(&l, hit->file);
    }
    if (hit && !o->is_list) {
        listing_integer(&l, (int64_t)hit->line);
        listing_str(&l, hit->text);
    }
    o->failed = listing_write(&l, o->form, o->c->out) < 0 || o->failed;
    listing_deinit(&l);
    arena_deinit(&a);
}

/* Prints one hit in the form of the output. Returns true if this hit is enough for its file, as in
 * a list of files. */
static int print_hit(void *context, const struct grep_hit *hit)
{
    struct grep_output *o = context;
    buf_clear(&o->line);
    if (o->form == LISTING_JSON)
        put_grep_json(o, hit);
    else if (o->form != LISTING_TABLE)
        print_grep_row(o, hit);
    else if (o->is_list) {
        put_grep_place(o, hit);
        buf_putc(&o->line, '\n');
    } else
        put_grep_line(o, hit);
    o->rows++;
    fwrite(o->line.p ? o->line.p : "", 1, o->line.n, o->c->out);
    return o->is_list;
}

static void say_unsearched(struct cmd_context *c, const struct grep_search *s)
{
    if (s->unsearched)
        fprintf(c->notes, "benchwrap: grep: %zu line%s not or not completely searched: too long, or the pattern needs too many steps\n",
                s->unsearched, str_plural(s->unsearched));
}

/* Nothing found is no answer where nothing was searched. */
static void say_no_files(struct cmd_context *c, const struct grep_search *s)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(s->files ? s->files : ""), 200);
    fprintf(c->notes, s->files ? "benchwrap: grep: no run has a stored text \"%s\"\n" : "benchwrap: grep: no run has a stored text%s\n",
            b.p ? b.p : "");
}

static void say_grep_damage(struct cmd_context *c, const struct tree_run *run)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(run->problem), 400);
    fprintf(c->notes, "benchwrap: grep: %s: damaged: %s\n", run->path, b.p ? b.p : "");
}

/* Searches the chosen runs and prints the hits. 0; 1: no hit, or a run is damaged; -1 with c->err. */
static int grep_chosen(struct cmd_context *c, struct runs *runs, struct pattern *pattern)
{
    struct grep_output o = {.c = c, .screen = screen_of_file(c->out), .is_list = opt_on(&c->opts, OPTION_LIST)};
    struct grep_search s = {.runs = runs,
                            .pattern = pattern,
                            .files = opt_text(&c->opts, OPTION_FILE),
                            .most = (size_t)(opt_text(&c->opts, OPTION_LINES) ? opt_integer(&c->opts, OPTION_LINES) : 0),
                            .each = print_hit,
                            .context = &o,
                            .arena = c->arena};
    struct runs_filter filter;
    size_t last = opt_text(&c->opts, OPTION_LAST) ? (size_t)opt_integer(&c->opts, OPTION_LAST) : SIZE_MAX;
    bool damaged = false;
    if (row_output_form(c, &o.form) < 0 || selection_filter(c, &filter) < 0)
        return -1;
    filter.corrected = opt_on(&c->opts, OPTION_ALL);
    if (runs_load(runs, &filter, c->arena, c->err) < 0 || row_output_order(c, runs, last) < 0)
        return -1;
    buf_init(&o.line, 8u << 20);
    for (size_t i = 0; i < runs->count; i++) {
        int got = grep_run(&s, runs->all[i]);
        if (got < 0 || o.failed) {
            buf_deinit(&o.line);
            return err_memory(c->err, "searching the run %.8s", runs->all[i]->id);
        }
        runs->gone += got == 1;
        if (runs->all[i]->problem) {
            say_grep_damage(c, runs->all[i]);
            damaged = true;
        }
    }
    for (const struct tree_run *run = runs->unjudged; run; run = run->next, damaged = true)
        say_grep_damage(c, run);
    buf_deinit(&o.line);
    if (o.form == LISTING_JSON)
        fputs(o.rows ? "\n]\n" : "[]\n", c->out);
    else if (!o.rows && o.form != LISTING_TABLE)
        print_grep_row(&o, NULL);
    say_unsearched(c, &s);
    if (!runs->count)
        fprintf(c->notes, "benchwrap: grep: %s\n", runs_explain_none(runs, &filter, c->arena));
    else if (!s.files_found)
        say_no_files(c, &s);
    return s.hits && !damaged ? 0 : 1;
}

static int grep_command(struct cmd_context *c)
{
    struct runs runs;
    struct pattern *pattern;
    if (c->argc != 1)
        return err_set(c->err, ERR_USAGE, "expected one pattern, got %d words; write a pattern with blanks in quotes", c->argc);
    if (opt_text(&c->opts, OPTION_LAST) && opt_integer(&c->opts, OPTION_LAST) < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected an integer >= 1, got \"%.40s\"", opt_text(&c->opts, OPTION_LAST));
    if (opt_text(&c->opts, OPTION_LINES) && opt_integer(&c->opts, OPTION_LINES) < 1)
        return err_set(c->err, ERR_USAGE, "--lines: expected an integer >= 1, got \"%.40s\"", opt_text(&c->opts, OPTION_LINES));
    if (grep_pattern(&pattern, c->argv[0], opt_on(&c->opts, OPTION_FIXED), opt_on(&c->opts, OPTION_ANY_CASE), c->err) < 0) {
        c->err->kind = ERR_USAGE;
        return err_wrap(c->err, "the pattern");
    }
    int status = selection_open(&runs, c, c->err) < 0 ? -1 : 0;
    if (status == 0) {
        status = grep_chosen(c, &runs, pattern);
        runs_close(&runs);
    }
    pattern_free(pattern);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_LAST,
     .letter = 'n',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Selection",
     .help = "Search the N newest runs (default: all)"},
    {.name = OPTION_ALL, .letter = 'a', .kind = OPT_FLAG, .group = "Selection", .help = "Also search runs that others amend or retract"},
    ROW_OUTPUT_SORT,
    {.name = OPTION_FILE,
     .kind = OPT_TEXT,
     .arg = "GLOB",
     .group = "Search",
     .help = "Search the artifacts with such names (default: output, job scripts, environments, and other logs and texts)"},
    {.name = OPTION_ANY_CASE, .letter = 'i', .kind = OPT_FLAG, .group = "Search", .help = "Ignore the case of letters"},
    {.name = OPTION_FIXED, .letter = 'F', .kind = OPT_FLAG, .group = "Search", .help = "The pattern is a text, not a regular expression"},
    {.name = OPTION_LINES, .letter = 'm', .kind = OPT_INT, .arg = "N", .group = "Output", .help = "Print at most N lines of each file"},
    {.name = OPTION_LIST,
     .letter = 'l',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Print each file with a match once, without the lines"},
    ROW_OUTPUT_FORMAT,
    CMD_ROW_JSON,
};

const struct cmd cmd_grep = {
    .name = "grep",
    .summary = "Search the stored output, job scripts and environments of runs",
    .usage = "[OPTIONS] PATTERN",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Prints each line that matches the regular expression (PCRE2), with the run, the job, the file and the line number. The newest run comes first, or the one that --sort names. "
        "It searches what the run has stored: secrets are not in it, and in the public profile neither are names of people and hosts. Of output that was cut "
        "only the stored part is searched.\n\n"
        "--filter chooses the runs, also by a variable of the job's environment: \"env.SLURM_JOB_PARTITION = 'gpu'\".\n\n"
        "The exit status is 0 if a line matched, and 1 if none did or a run is damaged.",
    .examples = "$ benchwrap grep a\n"
                "Every line with an a.\n"
                "benchwrap grep -i 'error|timeout' --filter \"status = 'FAILED'\"\n"
                "Failed runs: the lines that may say why.\n"
                "benchwrap grep CUDA_VISIBLE_DEVICES --file environment.txt --last 10\n"
                "A variable in the environments of the newest runs.\n",
    .run = grep_command,
};
