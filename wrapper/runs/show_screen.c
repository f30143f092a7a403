/* show_screen.c: one run on one screen: command, results, inputs, machine, warnings, files. */
#include "base/listing.h"
#include "base/shell_word.h"
#include "base/show.h"
#include "runs/entry_stats.h"
#include "runs/inputs.h"
#include "runs/row_words.h"
#include "runs/show.h"
#include "runs/code_functions.h"
#include "runs/stale.h"
#include "mlruns-format/key.h"
#include "mlruns-format/no_metrics.h"
#include "mlruns-format/verdict.h"
#include "plan/references.h"
#include "run/last_lines.h"
#include "series/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 12, RESULTS_MAX = 14, WARNINGS_MAX = 4, HEAD_WIDTH = 100, REPETITION_METRICS = 8, LINE_MAX_BYTES = 200 };

static const char *show_param(const struct show_state *s, const char *key)
{
    const char *own = runs_text(s->run->params, key, s->arena);
    return own ? own : runs_text(s->inherited, key, s->arena);
}

static const char *show_tag(const struct show_state *s, const char *key)
{
    const char *text = runs_text(s->run->tags, key, s->arena);
    return text && *text ? text : NULL;
}

/* "Label       text", broken where the screen is narrow; nothing for an empty text. */
static void show_put_line(const struct show_state *s, const char *label, enum style style, struct str text, struct buf *to)
{
    CLEANUP_BUF struct buf plain;
    size_t own = strlen(label), width = own ? LABEL : 0;
    buf_init(&plain, 64 << 10);
    buf_plain(&plain, text, 4000);
    if (!plain.n)
        return;
    screen_puts(&s->screen, style, label, to);
    screen_fill(to, width > own ? width - own : 0);
    screen_wrap(&s->screen, buf_text(&plain), width, width, to);
    buf_putc(to, '\n');
}

/* Appends "name value", three blanks between items. The name may be a key of a foreign run. */
static void put_item(struct buf *to, const char *name, const char *value)
{
    buf_puts(to, to->n ? "   " : "");
    buf_plain(to, str_of(name), KEY_MAX);
    buf_printf(to, "%s%s", *name && *value ? " " : "", value);
}

/* Items of put_item, broken between them where the screen is narrow, and inside one only where it is wider than a line. */
static void show_put_items(const struct show_state *s, struct str items, size_t first, size_t indent, struct buf *to)
{
    size_t used = first, begun = first;
    while (items.n) {
        const char *end = memmem(items.p, items.n, "   ", 3);
        struct str item = str_sub(items, 0, end ? (size_t)(end - items.p) : items.n);
        size_t width = screen_text_width(item), gap = used > begun ? 3 : 0;
        if (used > indent && (used > s->screen.width || gap + width > s->screen.width - used)) {
            buf_putc(to, '\n');
            screen_fill(to, indent);
            used = begun = indent;
            gap = 0;
        }
        screen_fill(to, gap);
        screen_wrap(&s->screen, item, used + gap, indent, to);
        used += gap + width;
        items = str_sub(items, item.n + (end ? 3 : 0), items.n);
    }
}

/* ---- head ---- */

/* "ior write                    finished, 12.3 s   run 1a2b3c4d" */
static void show_put_head(const struct show_state *s, struct buf *to)
{
    const struct tree_run *run = s->run;
    CLEANUP_BUF struct buf left, right;
    size_t columns = s->screen.width == SIZE_MAX ? 0 : s->screen.width < HEAD_WIDTH ? s->screen.width : HEAD_WIDTH;
    const char *status = runs_status(run);
    const struct tree_entry *wall = runs_entry(run->metrics, "series.wall_s");
    wall = wall ? wall : runs_entry(run->metrics, "run.wall_s");
    const struct tree_sample *seconds = wall ? tree_entry_latest(wall) : NULL;
    buf_init(&left, 4096);
    buf_init(&right, 256);
    const char *benchmark = show_tag(s, "benchmark"); /* the time of a made name follows below */
    buf_plain(&left, str_of(row_words_made_name(run->name, benchmark) ? benchmark : run->name), 200);
    for (const char *p = status; *p; p++)
        buf_putc(&right, str_lower(*p));
    size_t word = right.n;
    if (seconds) {
        buf_puts(&right, ", ");
        show_duration(&right, seconds->value);
    }
    buf_printf(&right, "   run %.8s", run->id);
    size_t used = screen_text_width(buf_text(&left)) + screen_text_width(buf_text(&right));
    screen_puts(&s->screen, STYLE_MAIN, left.p ? left.p : "", to);
    screen_fill(to, columns > used + 3 ? columns - used : 3);
    enum style style = strcmp(status, "FINISHED") == 0 || strcmp(status, "RUNNING") == 0 ? STYLE_PLAIN : STYLE_BAD;
    screen_style_begin(&s->screen, style, to);
    buf_add(to, right.p, word);
    screen_style_end(&s->screen, style, to);
    buf_puts(to, right.p + word);
    buf_puts(to, "\n\n");
}

/* The command line as a shell reads it back; where the record has no words, as the tag has it. */
static void put_command(const struct show_state *s, const char *tag, struct buf *to)
{
    CLEANUP_BUF struct buf line, plain;
    buf_init(&line, 64 << 10);
    buf_init(&plain, 64 << 10);
    for (const struct json *word = json_first(json_pointer(s->detail, "/run/argv")); word; word = json_next(word)) {
        if (line.n)
            buf_putc(&line, ' ');
        shell_word_put(&line, json_string(word, ""));
    }
    buf_puts(to, "  ");
    buf_plain(&plain, line.n ? buf_text(&line) : str_of(tag), 1000);
    screen_wrap(&s->screen, buf_text(&plain), 2, 6, to);
    buf_putc(to, '\n');
}

static void put_origin(const struct show_state *s, struct buf *to)
{
    const struct tree_run *run = s->run;
    CLEANUP_BUF struct buf b, plain;
    const char *host = json_string(json_get(json_get(s->detail, "run"), "host"), ""), *command = show_tag(s, "benchwrap.command");
    const char *who = run->user[0] ? run->user : show_tag(s, "site"); /* a public retraction has no user */
    buf_init(&b, 16 << 10);
    buf_init(&plain, 64 << 10);
    if (command)
        put_command(s, command, to);
    if (who)
        buf_puts(&b, who);
    if (*host)
        buf_printf(&b, "%s%s", who ? " on " : "", host);
    if (b.n)
        buf_puts(&b, ", ");
    show_time(&b, run->start_ms);
    buf_printf(&b, ", experiment %s", run->experiment);
    buf_puts(to, "  ");
    buf_clear(&plain);
    buf_plain(&plain, buf_text(&b), 1000);
    screen_wrap(&s->screen, buf_text(&plain), 2, 2, to);
    buf_putc(to, '\n');
}

static void put_damage(const struct show_state *s, struct buf *to)
{
    const char *problem = s->run->problem ? s->run->problem : s->detail_problem;
    if (problem)
        show_put_line(s, "damaged", STYLE_BAD, str_of(problem), to);
}

/* ---- results ---- */

/* Statistics that name what the value is spread over; the others follow from them. */
static const char *const spread[] = {"mean", "min", "p50", "p90", "p95", "p99", "p999", "max"};
/* Which statistic stands for a metric, the first that it has. "": the metric itself. */
static const char *const preferred[] = {"median", "", "mean", "p50", "max", "min"};

struct show_result {
    const char *stem, *unit, *of; /* key without statistic; of: the statistic that is the value */
    const char *shown_unit;
    double scale; /* of shown_unit */
    const struct tree_entry *value;
    const struct tree_entry *spread[sizeof spread / sizeof *spread];
};

static const struct tree_entry *show_find_metric(const struct show_state *s, const char *stem, const char *statistic)
{
    const char *key = statistic[0] ? arena_printf(s->arena, "%s.%s", stem, statistic) : stem;
    return key ? runs_entry(s->run->metrics, key) : NULL;
}

static bool is_show_headline(const struct show_state *s, const char *key)
{
    for (struct str rest = str_of(show_tag(s, "benchwrap.headline")), word; (word = str_word(&rest)).n > 0;)
        if (str_is(word, key))
            return true;
    return false;
}

/* Headline metrics come first. What a load generator reports about itself explains the results, and comes last. */
static int result_rank(const struct show_state *s, const char *key)
{
    return is_show_headline(s, key) ? 0 : show_metric_words(s, key) ? 2 : 1;
}

static struct show_result show_result_of(const struct show_state *s, const char *stem)
{
    struct show_result r = {.stem = stem, .of = "", .scale = 1};
    for (size_t i = 0; !r.value && i < sizeof spread / sizeof *spread; i++) { /* a rule has this one as headline metric */
        const struct tree_entry *e = show_find_metric(s, stem, spread[i]);
        if (e && is_show_headline(s, e->key)) {
            r.value = e;
            r.of = spread[i];
        }
    }
    bool chosen = r.value != NULL;
    for (size_t i = 0; !r.value && i < sizeof preferred / sizeof *preferred; i++)
        if ((r.value = show_find_metric(s, stem, preferred[i])))
            r.of = preferred[i];
    for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) {
        const struct tree_entry *e = show_find_metric(s, stem, spread[i]);
        if (!r.value && e) {
            r.value = e;
            r.of = spread[i];
        } else if (e && e != r.value && (i || chosen)) { /* the mean only where another one is the value */
            r.spread[i] = e;
        }
    }
    r.unit = r.shown_unit = r.value ? show_metric_unit(s, r.value->key) : "";
    if (r.value)
        r.scale = show_scale(entry_stats_median(r.value), &r.shown_unit);
    return r;
}

/* The values around the one of the row; for a count that its name does not explain what it counts. */
static void put_spread(const struct show_state *s, const struct show_result *r, struct buf *to)
{
    const struct tree_entry *e = r->value;
    const char *words = show_metric_words(s, r->stem);
    if (e->count > 1) {
        double min = INFINITY, max = -INFINITY;
        for (size_t i = 0; i < e->count; i++) {
            min = fmin(min, e->samples[i].value);
            max = fmax(max, e->samples[i].value);
        }
        buf_printf(to, "median of %zu, ", e->count);
        show_value(to, min * r->scale);
        buf_puts(to, " … ");
        show_value(to, max * r->scale);
    }
    for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) {
        const struct tree_sample *last = r->spread[i] ? tree_entry_latest(r->spread[i]) : NULL;
        if (!last || !isfinite(last->value))
            continue;
        buf_printf(to, "%s%s ", to->n ? "   " : "", spread[i]);
        show_value(to, last->value * r->scale);
    }
    if (!to->n)
        buf_puts(to, words ? words : "");
}

/* Returns the result of the references for one of the metric's keys; NULL: none. */
static const struct json *reference_of(const struct show_state *s, const struct show_result *r)
{
    size_t n = strlen(r->stem);
    for (const struct json *m = json_first(json_get(s->detail, "references")); m; m = json_next(m)) {
        const char *key = json_string(json_get(m, "metric"), "");
        if (strncmp(key, r->stem, n) == 0 && (!key[n] || key[n] == '.') &&
            strcmp(json_string(json_get(m, "verdict"), ""), "no reference") != 0)
            return m;
    }
    return NULL;
}

static void put_reference(const struct show_state *s, struct listing *l, const struct show_result *r)
{
    const struct json *m = reference_of(s, r);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    if (!m) {
        listing_text(l, "");
        return;
    }
    const char *verdict = json_string(json_get(m, "verdict"), "");
    bool fails = json_bool(json_get(m, "fails"), false);
    buf_printf(&b, "%s, reference ", fails || strcmp(verdict, "pass") == 0 ? verdict : "better");
    run_reference_range(m, r->scale, &b);
    listing_text(l, b.p);
    listing_style(l, fails ? STYLE_BAD : STYLE_GOOD);
}

static void result_row(const struct show_state *s, struct listing *l, const struct show_result *r)
{
    CLEANUP_BUF struct buf b;
    double value = entry_stats_median(r->value);
    buf_init(&b, 4096);
    show_metric(&b, r->stem, r->unit);
    if (*r->of && strcmp(r->of, "median") != 0)
        buf_printf(&b, "%c%s", r->of[0] == 'p' ? '.' : ' ', r->of); /* percentiles are spelled as in the key */
    listing_text(l, b.p);
    buf_clear(&b);
    show_value(&b, value * r->scale);
    listing_number(l, value, b.p);
    listing_style(l, STYLE_MAIN);
    buf_clear(&b);
    show_unit(&b, r->shown_unit);
    listing_text(l, b.p ? b.p : "");
    put_reference(s, l, r);
}

/* The table, and behind each row the spread of its metric, on lines of its own where the screen is narrow: it is never left out. */
static int put_rows(const struct show_state *s, const struct listing *l, const struct show_result *rows, struct buf *to)
{
    enum { GAP = 2, INDENT = 6 };
    struct screen plain = s->screen;
    CLEANUP_BUF struct buf styled, measured, spread_;
    size_t widest = 0;
    plain.has_colour = false;
    buf_init(&styled, 1 << 20);
    buf_init(&measured, 1 << 20);
    buf_init(&spread_, 4096);
    if (listing_render(l, &s->screen, &styled) < 0 || listing_render(l, &plain, &measured) < 0)
        return -1;
    for (struct str rest = buf_text(&measured), line; rest.n && (line = str_cut(&rest, '\n')).p;)
        widest = screen_text_width(line) > widest ? screen_text_width(line) : widest;
    struct str lines = buf_text(&styled), widths = buf_text(&measured);
    for (const struct show_result *r = rows; lines.n; r++) {
        size_t used = screen_text_width(str_cut(&widths, '\n'));
        buf_str(to, str_cut(&lines, '\n'));
        buf_clear(&spread_);
        put_spread(s, r, &spread_);
        struct str text = buf_text(&spread_);
        if (text.n && screen_text_width(text) + widest + GAP <= s->screen.width) {
            screen_fill(to, widest + GAP - used);
            buf_str(to, text);
        } else if (text.n) {
            buf_putc(to, '\n');
            screen_fill(to, INDENT);
            show_put_items(s, text, INDENT, INDENT, to);
        }
        buf_putc(to, '\n');
    }
    return 0;
}

/* Prints a row for each metric of the program, headline metrics first. *ret_more: those that are
 * left out. */
static int put_results(const struct show_state *s, size_t *ret_more, struct buf *to)
{
    static const struct listing_column columns[] = {{"metric", "", false, 50, .whole = true},
                                                    {"value", "", true, 0},
                                                    {"unit", "", false, 0, .whole = true, .tight = true, .no_empty = true},
                                                    {"reference", "", false, 0, .whole = true, .no_empty = true}};
    struct show_result *rows = arena_get(s->arena, RESULTS_MAX * sizeof *rows);
    const char **seen = NULL;
    size_t n = 0, room = 0;
    struct listing l;
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next)
        room++;
    seen = arena_get(s->arena, (room + 1) * sizeof *seen);
    listing_init(&l, columns, sizeof columns / sizeof *columns, s->arena);
    l.bare = true;
    l.indent = 2;
    *ret_more = 0;
    for (int rank = 0; seen && rank <= 2; rank++)
        for (const struct tree_entry *e = s->run->metrics; e; e = e->next) {
            const char *stem = arena_dup(s->arena, e->key, key_stem(e->key));
            bool known = !stem || !key_is_result(e->key) || result_rank(s, e->key) != rank;
            for (size_t i = 0; stem && i < n; i++)
                known = known || strcmp(seen[i], stem) == 0;
            if (known)
                continue;
            seen[n++] = stem;
            if (listing_rows(&l) == RESULTS_MAX) { /* of thousands of metrics only the first ones are read */
                ++*ret_more;
                continue;
            }
            struct show_result r = show_result_of(s, stem);
            if (rows && r.value && r.value->count) {
                rows[listing_rows(&l)] = r;
                result_row(s, &l, &r);
            } else
                ++*ret_more;
        }
    int status = rows ? put_rows(s, &l, rows, to) : -1;
    listing_deinit(&l);
    return seen ? status : -1;
}

/* Is one of the results a guess of the generic reader? Not what the program logged itself. */
static bool has_guessed_metrics(const struct show_state *s)
{
    for (const struct json *m = json_first(json_get(s->detail, "metrics")); m; m = json_next(m))
        if (key_is_result(json_key(m)) && strncmp(json_string(json_get(m, "source"), ""), "rule:generic:", strlen("rule:generic:")) == 0)
            return true;
    return false;
}

static bool has_failed(const struct show_state *s)
{
    return s->run->status == RUN_FAILED || s->run->status == RUN_KILLED;
}

/* Prints "pass" only where a value was compared with a reference. */
static void put_verdict(const struct show_state *s, bool has_results, struct buf *to)
{
    const char *verdict = show_tag(s, "benchwrap.verdict"), *reason = show_tag(s, "benchwrap.reason"), *rules = show_tag(s, "benchmark");
    const char *version = show_tag(s, "benchwrap.rules_version");
    CLEANUP_BUF struct buf b;
    size_t judged = verdict_judged(s->detail);
    buf_init(&b, 8192);
    if (verdict && strcmp(verdict, "fail") == 0) {
        failure_reason(str_of(reason ? reason : "no reason is recorded"), has_failed(s), &b);
        show_put_line(s, "Failed", STYLE_BAD, buf_text(&b), to);
    } else if (verdict && strcmp(verdict, "pass") == 0 && judged) {
        buf_printf(&b, "%zu metric%s within the references", judged, str_plural(judged));
        show_put_line(s, "Pass", STYLE_GOOD, buf_text(&b), to);
    } else if (verdict && strcmp(verdict, "pass") == 0) {
        buf_puts(&b, "Output valid");
        if (rules && version)
            buf_printf(&b, " (rules %s %s)", rules, version);
        buf_puts(&b, ". No reference to judge the values by.");
        show_put_line(s, "", STYLE_PLAIN, buf_text(&b), to);
    } else if (reason) {
        show_put_line(s, "Not judged", STYLE_PLAIN, str_of(reason), to);
    }
    if (has_results && has_guessed_metrics(s))
        show_put_line(s, "", STYLE_PLAIN, STR("Metrics guessed from the output, as no rule file describes this program."), to);
}

/* Why the program failed is often what it printed last. */
static void put_last_lines(const struct show_state *s, struct buf *to)
{
    const char *name = "";
    struct folder tree = runs_tree(s->runs, s->run);
    struct str lines[LAST_LINES_MAX];
    char path[256];
    CLEANUP_FOLDER struct folder in = {0};
    CLEANUP_BUF struct buf kept;
    buf_init(&kept, 64 << 10);
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(s->run));
    if (!has_failed(s) || folder_enter(&tree, path, &in) < 0)
        return;
    size_t n = last_lines(&in, &kept, &name, lines);
    for (size_t i = 0; i < n; i++)
        show_put_line(s, i == 0 ? name : "        ", STYLE_PLAIN, str_sub(lines[i], 0, LINE_MAX_BYTES), to);
}

/* ---- inputs, machine, files ---- */

/* Prints a value on one line with its key; `show --all` has more of it. */
static void put_short(const struct show_state *s, size_t key, struct str value, struct buf *to)
{
    enum { MOST = 48, LEAST = 12, INDENT = 2 };
    CLEANUP_BUF struct buf plain;
    size_t left = s->screen.width > key + INDENT + 1 + LEAST ? s->screen.width - key - INDENT - 1 : LEAST;
    buf_init(&plain, 64 << 10);
    buf_plain(&plain, value, 1000);
    screen_clip_middle(to, buf_text(&plain), left < MOST ? left : MOST);
}

/* Names as the reader types them in compare --by; a size as people write it. */
static void show_put_inputs(const struct show_state *s, struct buf *to)
{
    CLEANUP_BUF struct buf b, value;
    buf_init(&b, 64 << 10);
    buf_init(&value, 8192);
    for (const struct tree_entry *e = s->run->params; e; e = e->next) {
        const char *unit = key_unit(e->key, s->arena);
        double number;
        if (strncmp(e->key, "series.", 7) == 0 || inputs_of_machine(e->key) ||
            !inputs_matter(e->key, inputs_source(s->detail, e->key), NULL))
            continue;
        buf_clear(&value);
        if (strcmp(unit, "B") == 0 && str_double(e->value, &number) && number >= 0 && number < 1e18)
            show_size(&value, (uint64_t)number);
        else if (*unit && str_double(e->value, &number))
            show_quantity(&value, number, unit);
        else
            put_short(s, strlen(e->key), e->value, &value);
        put_item(&b, e->key, value.p ? value.p : "");
    }
    if (b.n) {
        show_heading_to(s, "Inputs", to);
        buf_puts(to, "  ");
        show_put_items(s, buf_text(&b), 2, 2, to);
        buf_putc(to, '\n');
    }
}

static void put_process(const struct show_state *s, struct buf *to)
{
    static const struct {
        const char *key, *name, *unit;
    } rows[] = {
        {"run.wall_s", "wall", "s"}, {"run.user_s", "user", "s"}, {"run.system_s", "system", "s"}, {"run.max_rss_MiB", "max RSS", "MiB"}};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tree_entry *e = runs_entry(s->run->metrics, rows[i].key);
        double value = e ? entry_stats_median(e) : NAN;
        if (!isfinite(value))
            continue;
        put_item(&b, rows[i].name, "");
        buf_putc(&b, ' ');
        if (strcmp(rows[i].unit, "s") == 0)
            show_duration(&b, value);
        else
            show_quantity(&b, value, rows[i].unit);
    }
    if (b.n && s->notes)
        buf_puts(&b, "   (medians)");
    if (!b.n)
        return;
    buf_printf(to, "%-*s", LABEL, "Process");
    show_put_items(s, buf_text(&b), LABEL, LABEL, to);
    buf_putc(to, '\n');
}

static void put_functions(const struct show_state *s, struct buf *to)
{
    enum { FUNCTIONS_FEW = 6 };
    struct code_profile profile;
    const char *why = code_functions_missing(s->detail);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    code_functions_read(s->runs, s->run, s->arena, &profile);
    size_t more = code_functions_words(&profile, FUNCTIONS_FEW, &b);
    if (more)
        buf_printf(&b, " and %zu more", more);
    if (b.n)
        buf_printf(&b, "; %llu samples", (unsigned long long)profile.samples);
    else if (why)
        buf_printf(&b, "missing: %s", why);
    show_put_line(s, "Profile", STYLE_PLAIN, buf_text(&b), to);
}

static void show_put_fact(struct buf *to, const char *before, const char *value, const char *after)
{
    if (value)
        buf_printf(to, "%s%s%s%s", to->n ? ", " : "", before, value, after);
}

/* A number that is a text, with its noun. */
static void show_put_number(struct buf *to, const char *value, const char *noun)
{
    if (value)
        buf_printf(to, "%s%s %s%s", to->n ? ", " : "", value, noun, strcmp(value, "1") == 0 ? "" : "s");
}

static void show_put_machine(const struct show_state *s, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    const char *gpus = show_param(s, "gpu.count"), *model = show_param(s, "gpu.model"), *virtual = show_param(s, "machine.virtualization");
    const char *scheduler = show_param(s, "job.scheduler"), *job = show_tag(s, "job.id");
    buf_init(&b, 8192);
    show_put_number(&b, show_param(s, "cpu.threads"), "processor");
    show_put_fact(&b, "", show_param(s, "cpu.model"), "");
    show_put_fact(&b, "", show_param(s, "memory.total_GiB"), " GiB");
    if (gpus && strcmp(gpus, "0") != 0)
        show_put_number(&b, gpus, model ? model : "GPU");
    show_put_fact(&b, "", show_param(s, "fs.type"), "");
    show_put_fact(&b, "", show_param(s, "os.name"), "");
    show_put_fact(&b, "", virtual && strcmp(virtual, "none") != 0 ? virtual : NULL, "");
    show_put_line(s, "Machine", STYLE_PLAIN, buf_text(&b), to);
    buf_clear(&b);
    if (!scheduler || strcmp(scheduler, "none") == 0)
        return;
    show_put_fact(&b, "", scheduler, job ? "" : "");
    show_put_fact(&b, "job ", job, "");
    show_put_number(&b, show_param(s, "job.nodes"), "node");
    show_put_number(&b, show_param(s, "job.tasks"), "task");
    show_put_fact(&b, "partition ", show_param(s, "job.partition"), "");
    show_put_line(s, "Job", STYLE_PLAIN, buf_text(&b), to);
    buf_clear(&b);
    show_put_number(&b, show_param(s, "step.nodes"), "node");
    show_put_number(&b, show_param(s, "step.tasks"), "task");
    show_put_line(s, "Step", STYLE_PLAIN, buf_text(&b), to);
}

static void show_put_warnings(const struct show_state *s, struct buf *to)
{
    size_t n = 0;
    char more[60];
    for (const struct json *w = json_first(json_get(s->detail, "warnings")); w; w = json_next(w)) {
        const char *text = json_string(json_get(w, "text"), "");
        if (has_failed(s) && no_metrics_in(str_of(text)).p) /* its last lines explain more */
            continue;
        if (n++ < WARNINGS_MAX)
            show_put_line(s, n == 1 ? "Warnings" : "        ", STYLE_WARN, str_of(text), to);
    }
    snprintf(more, sizeof more, "and %zu more", n - WARNINGS_MAX);
    if (n > WARNINGS_MAX)
        show_put_line(s, "        ", STYLE_PLAIN, str_of(more), to);
}

static void show_put_files(const struct show_state *s, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    const struct show_artifact *main = s->artifact_count ? &s->artifacts[0] : NULL;
    for (size_t i = 0; i < s->artifact_count; i++)
        if (strcmp(s->artifacts[i].path, "stdout.log") == 0)
            main = &s->artifacts[i];
    buf_init(&b, 8192);
    if (main) {
        buf_printf(&b, "%s ", main->path);
        show_size(&b, main->size);
        if (s->artifact_count > 1)
            buf_printf(&b, " and %zu more", s->artifact_count - 1);
        buf_puts(&b, " in ");
    }
    buf_puts(&b, s->run->path);
    show_put_line(s, "Files", STYLE_PLAIN, buf_text(&b), to);
}

/* Explains pseudonyms where a public run may have them. */
static void put_replaced(const struct show_state *s, struct buf *to)
{
    if (show_tag(s, "benchwrap.identities_replaced"))
        show_put_line(s, "Names", STYLE_PLAIN, STR("replaced in this public run: uuu1 is a user, hhh2 a host, /ddd3 a home folder"), to);
}

/* The description, and what annotations have changed since the run was recorded. */
static void put_annotated(const struct show_state *s, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    const char *note = show_tag(s, "mlflow.note.content");
    buf_init(&b, 64 << 10);
    if (note)
        show_put_line(s, "Note", STYLE_PLAIN, str_of(note), to);
    for (const struct tree_entry *e = s->run->annotated; e; e = e->next) {
        if (strcmp(e->key, STALE_TAG) == 0) /* no annotation */
            continue;
        const char *name = strcmp(e->key, "mlflow.note.content") == 0 ? "note" : strcmp(e->key, "mlflow.runName") == 0 ? "name" : NULL;
        buf_printf(&b, "%s%s%s", b.n ? ", " : "", e->value.p ? "" : "without ", name ? name : e->key);
        if (e->value.p && !name) {
            buf_putc(&b, '=');
            buf_plain(&b, e->value, 200);
        }
    }
    show_put_line(s, "Annotated", STYLE_PLAIN, buf_text(&b), to);
}

static void put_hint(const struct show_state *s, size_t more, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    size_t machine = 0, facts = 0, tags = 0, missing = json_count(json_get(s->detail, "missing"));
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next)
        machine += !key_is_result(e->key);
    for (const struct tree_entry *e = s->run->params; e; e = e->next)
        facts += inputs_of_machine(e->key);
    for (const struct tree_entry *e = s->inherited; e; e = e->next)
        facts++;
    for (const struct tree_entry *e = s->run->tags; e; e = e->next)
        tags++;
    buf_init(&b, 1024);
    buf_puts(&b, "hint: benchwrap show --all   ");
    if (more)
        buf_printf(&b, "%zu more metric%s, ", more, str_plural(more));
    buf_printf(&b, "%zu machine metric%s, %zu fact%s, %zu tag%s, %zu missing", machine, str_plural(machine), facts, str_plural(facts), tags,
               str_plural(tags), missing);
    buf_putc(to, '\n');
    screen_style_begin(&s->screen, STYLE_DIM, to);
    screen_wrap(&s->screen, buf_text(&b), 0, 0, to);
    screen_style_end(&s->screen, STYLE_DIM, to);
    buf_putc(to, '\n');
}

int show_screen(const struct show_state *s)
{
    CLEANUP_BUF struct buf to;
    size_t more = 0;
    int status = 0;
    buf_init(&to, 64 << 20);
    show_put_head(s, &to);
    put_origin(s, &to);
    put_damage(s, &to);
    show_heading_to(s, "Results", &to);
    size_t before = to.n;
    if (s->notes)
        series_table(s->notes, series_figures(s->notes), false, REPETITION_METRICS, &s->screen, &to);
    else
        status = put_results(s, &more, &to);
    bool has_results = to.n > before;
    if (!has_results)
        buf_puts(&to, "  no metrics\n");
    put_last_lines(s, &to);
    put_verdict(s, has_results, &to);
    show_put_inputs(s, &to);
    buf_putc(&to, '\n');
    put_process(s, &to);
    put_functions(s, &to);
    show_put_machine(s, &to);
    show_put_warnings(s, &to);
    put_annotated(s, &to);
    put_replaced(s, &to);
    show_put_files(s, &to);
    put_hint(s, more, &to);
    fwrite(to.p ? to.p : "", 1, to.n, s->out);
    return to.failed ? -1 : status;
}
