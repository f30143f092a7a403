/* show_screen.c: one run on one screen: command, results, inputs, machine, warnings, files. */
#include "base/listing.h"
#include "base/shell_word.h"
#include "base/show.h"
#include "runs/entry_stats.h"
#include "runs/inputs.h"
#include "runs/row_words.h"
#include "runs/server_copies.h"
#include "runs/show.h"
#include "runs/code_functions.h"
#include "runs/stale.h"
#include "mlruns-format/key.h"
#include "mlruns-format/no_metrics.h"
#include "series/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 12, WARNINGS_MAX = 4, HEAD_WIDTH = 100, REPETITION_METRICS = 8 };

static const char *show_param(const struct show_state *s, const char *key)
{
    const char *own = runs_text(s->run->params, key, s->arena);
    return own ? own : runs_text(s->inherited, key, s->arena);
}

const char *show_tag(const struct show_state *s, const char *key)
{
    const char *text = runs_text(s->run->tags, key, s->arena);
    return text && *text ? text : NULL;
}

/* "Label       text", broken where the screen is narrow; nothing for an empty text. */
void show_put_line(const struct show_state *s, const char *label, enum style style, struct str text, struct buf *to)
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
void show_put_items(const struct show_state *s, struct str items, size_t first, size_t indent, struct buf *to)
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

/* Writes the command line as a shell reads it back; where the record has no words, as the tag has
 * it. */
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

/* Writes the inputs: names as the reader types them in compare --by, a size as people write it. */
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
        double value = entry_stats_median(s->run, e);
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

/* Appends the line of the code profile: the functions with most samples, or why it is missing. */
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

/* Appends a number that is a text, with its noun. */
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
    show_put_fact(&b, "", scheduler, "");
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

/* Appends up to WARNINGS_MAX warnings. Those about missing metrics are left out for a failed run,
 * whose last lines explain more. */
static void show_put_warnings(const struct show_state *s, struct buf *to)
{
    size_t n = 0;
    char more[60];
    for (const struct json *w = json_first(json_get(s->detail, "warnings")); w; w = json_next(w)) {
        const char *text = json_string(json_get(w, "text"), "");
        if (show_has_failed(s) && no_metrics_in(str_of(text)).p) /* its last lines explain more */
            continue;
        if (n++ < WARNINGS_MAX)
            show_put_line(s, n == 1 ? "Warnings" : "        ", STYLE_WARN, str_of(text), to);
    }
    snprintf(more, sizeof more, "and %zu more", n - WARNINGS_MAX);
    if (n > WARNINGS_MAX)
        show_put_line(s, "        ", STYLE_PLAIN, str_of(more), to);
}

/* Appends the line of the run's folder, with stdout.log, else its first artifact. */
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

/* Appends a line for each server that has the run: its id there is another one than here. */
static void put_servers(const struct show_state *s, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8192);
    for (const struct sent_note *note = server_copies_of(s->runs, s->run, s->arena); note; note = note->next) {
        buf_clear(&b);
        sent_note_link(note, &b);
        show_put_line(s, "Server", STYLE_PLAIN, buf_text(&b), to);
    }
}

/* Explains pseudonyms where a public run may have them. */
static void put_replaced(const struct show_state *s, struct buf *to)
{
    if (show_tag(s, "benchwrap.identities_replaced"))
        show_put_line(s, "Names", STYLE_PLAIN, STR("replaced in this public run: uuu1 is a user, hhh2 a host, /ddd3 a home folder"), to);
}

/* Writes the description, and what annotations have changed since the run was recorded. */
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

/* Appends the hint to --all with how much it shows besides; `more`: metrics that are not shown
 * here. */
static void put_hint(const struct show_state *s, size_t more, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    size_t machine = 0, facts = 0, missing = json_count(json_get(s->detail, "missing"));
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next)
        machine += !key_is_result(e->key);
    for (const struct tree_entry *e = s->run->params; e; e = e->next)
        facts += inputs_of_machine(e->key);
    for (const struct tree_entry *e = s->inherited; e; e = e->next)
        facts++;
    buf_init(&b, 1024);
    buf_puts(&b, "hint: benchwrap show --all   ");
    if (more)
        buf_printf(&b, "%zu more metric%s, ", more, str_plural(more));
    buf_printf(&b, "%zu machine metric%s, %zu fact%s", machine, str_plural(machine), facts, str_plural(facts));
    if (missing)
        buf_printf(&b, ", %zu not available here", missing);
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
        status = show_put_results(s, &more, &to);
    bool has_results = to.n > before;
    if (!has_results)
        buf_puts(&to, "  no metrics\n");
    show_put_last_lines(s, &to);
    show_put_verdict(s, has_results, &to);
    show_put_inputs(s, &to);
    buf_putc(&to, '\n');
    put_process(s, &to);
    put_functions(s, &to);
    show_put_machine(s, &to);
    show_put_warnings(s, &to);
    put_annotated(s, &to);
    put_replaced(s, &to);
    show_put_files(s, &to);
    put_servers(s, &to);
    put_hint(s, more, &to);
    fwrite(to.p ? to.p : "", 1, to.n, s->out);
    return to.failed ? -1 : status;
}
