/* explain_text.c: an explanation as text and as JSON: the difference, the causes by rank, what is ruled out. */
#include "history/explain.h"
#include "history/run_lines.h"

#include "base/json_out.h"
#include "base/screen.h"
#include "base/show.h"
#include "runs/inherit.h"

#include <math.h>
#include <string.h>

static const char *command_text(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    const char *problem;
    struct json *detail = runs_detail(runs, run, &problem, a);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (const struct json *e = json_first(json_pointer(detail, "/run/argv")); e; e = json_next(e))
        buf_printf(&b, "%s%s", b.n ? " " : "", json_string(e, ""));
    json_free(detail);
    return b.failed ? NULL : arena_dup(a, b.p ? b.p : "", b.n);
}

/* Returns what follows the name in a line of an artifact. */
static const char *line_text(const struct runs *runs, const struct tree_run *run, const char *name, struct arena *a)
{
    char key[LINE_KEY_MAX];
    enum run_lines of = run_lines_of(name);
    struct str rest = run_lines_read(runs, run, of, a), value, text;
    while (run_lines_next(of, &rest, key, &value, &text))
        if (strcmp(key, name) == 0)
            return arena_dup(a, text.p, text.n);
    return NULL;
}

/* Returns the value of a fact in most runs of a side, as text in the arena; "-": these lack it. */
static const char *explain_value(const struct explanation *e, struct runs *runs, int side, uint32_t key, struct arena *a)
{
    const struct fact_key *k = &e->facts.keys[key];
    const struct explained_side *from = &e->sides[side];
    const struct facts_run *best = from->runs[0];
    size_t most = 0;
    for (size_t i = 0; i < from->count; i++) {
        size_t n = 0;
        for (size_t m = 0; m < from->count; m++)
            n += run_facts_value(from->runs[m], key) == run_facts_value(from->runs[i], key);
        if (n > most) {
            most = n;
            best = from->runs[i];
        }
    }
    if (!run_facts_value(best, key))
        return "-";
    if (strcmp(k->name, FACT_COMMAND) == 0)
        return command_text(runs, best->run, a);
    if (run_lines_of(k->name) != LINES_KINDS)
        return line_text(runs, best->run, k->name, a);
    const char *value = inherit_file(runs, best->run, arena_printf(a, "%s/%s", k->kind == FACT_TAG ? "tags" : "params", k->name), 8192, a);
    return value ? value : "-";
}

struct explain_printing {
    const struct explanation *e;
    struct runs *runs;
    struct screen screen;
    struct buf *to;
    struct arena *a;
};

static void put_explain_line(struct explain_printing *t, size_t first, size_t indent, struct buf *line)
{
    screen_wrap_plain(&t->screen, buf_text(line), first, indent, t->to);
    buf_clear(line);
}

static void put_explained_ratio(const struct change *c, struct buf *line)
{
    show_change(line, c->ratio);
    if (c->known) {
        buf_puts(line, " (95 %: ");
        show_change_interval(line, c->ratio, c->low, c->high);
        buf_putc(line, ')');
    }
}

/* Writes "rate is -21 % in B against A (95 %: -24 … -18 %): 790 instead of 1001 MB/s, 10 and 12
 * values". */
static void put_metric_answer(struct explain_printing *t)
{
    const struct explained_metric *m = &t->e->metric;
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    if (t->e->certain && !m->differs)
        buf_puts(&line, "No difference: ");
    show_metric(&line, m->key->name, m->key->unit);
    if (m->key->step >= 0)
        buf_printf(&line, " @%lld", (long long)m->key->step);
    buf_puts(&line, " is ");
    show_quantity(&line, m->median[1], m->key->unit);
    buf_puts(&line, " in B, ");
    show_quantity(&line, m->median[0], m->key->unit);
    buf_puts(&line, " in A");
    if (m->change.ratio > 0) {
        buf_puts(&line, ": ");
        put_explained_ratio(&m->change, &line);
    }
    buf_printf(&line, ", %zu and %zu value%s.", m->n[1], m->n[0], str_plural(m->n[0]));
    put_explain_line(t, 2, 4, &line);
    if (!t->e->certain) {
        buf_puts(&line,
                 m->change.known
                     ? "The values vary too much to be certain that A and B differ: more runs would show it."
                     : "Too few values to be certain that A and B differ: three runs on each side, or five more like A, would show it.");
        put_explain_line(t, 2, 4, &line);
    }
}

/* Appends "KEY A -> B" for up to NAMED facts of the cause, with long values clipped, then how many
 * more there are. */
static void put_cause_values(struct explain_printing *t, const struct possible_cause *c, struct buf *line)
{
    enum { NAMED = 3, VALUE_MAX = 48, HASH = 64, HASH_SHOWN = 11 };
    for (size_t i = 0; i < c->key_count && i < NAMED; i++) {
        const struct fact_key *k = &t->e->facts.keys[c->keys[i]];
        buf_printf(line, "%s%s ", i ? ", " : "", k->name);
        for (int s = 0; s < EXPLAIN_SIDES; s++) {
            buf_puts(line, s ? " -> " : "");
            if (k->kind == FACT_METRIC) {
                show_quantity(line, i == 0 ? c->median[s] : NAN, k->unit);
                continue;
            }
            CLEANUP_BUF struct buf cut;
            buf_init(&cut, 1 << 16);
            const char *value = explain_value(t->e, t->runs, s, c->keys[i], t->a);
            screen_clip_middle(&cut, str_of(value), value && strlen(value) == HASH ? HASH_SHOWN : VALUE_MAX);
            buf_str(line, buf_text(&cut));
        }
    }
    if (c->key_count > NAMED)
        buf_printf(line, " and %zu more", c->key_count - NAMED);
}

static void put_others(const struct possible_cause *c, struct buf *line)
{
    if (!c->others[0] || !c->others[1]) {
        buf_puts(line, "No other runs differ only in this.");
        return;
    }
    buf_printf(line, "%zu and %zu other runs that differ only in this: ", c->others[0], c->others[1]);
    if (c->effect.known)
        put_explained_ratio(&c->effect, line);
    else
        buf_puts(line, "too few for an effect");
    buf_putc(line, '.');
}

/* Writes up to SHOWN causes with what other runs show about each, then those that other runs rule
 * out. */
static void put_causes(struct explain_printing *t)
{
    enum { SHOWN = 6 };
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    buf_putc(t->to, '\n');
    for (size_t i = 0; i < t->e->named && i < SHOWN; i++) {
        const struct possible_cause *c = &t->e->causes[i];
        buf_printf(&line, "%zu  %s%s: ", i + 1, c->state == CAUSE_SHOWN ? "shown by other runs: " : "", c->name);
        put_cause_values(t, c, &line);
        put_explain_line(t, 2, 5, &line);
        put_others(c, &line);
        put_explain_line(t, 5, 5, &line);
    }
    if (t->e->named > SHOWN) {
        buf_printf(&line, "and %zu more; --json has all", t->e->named - SHOWN);
        put_explain_line(t, 5, 5, &line);
    }
    if (!t->e->named) {
        buf_puts(&line, "Nothing that is recorded explains it.");
        put_explain_line(t, 2, 4, &line);
    }
    for (size_t i = t->e->named; i < t->e->cause_count; i++) {
        const struct possible_cause *c = &t->e->causes[i];
        buf_printf(&line, "Ruled out: %s. ", c->name);
        put_others(c, &line);
        put_explain_line(t, 2, 4, &line);
    }
}

int explain_write_text(const struct explanation *e, struct runs *runs, struct arena *a, FILE *out)
{
    CLEANUP_BUF struct buf to, line;
    buf_init(&to, 1u << 28);
    buf_init(&line, 1 << 16);
    struct explain_printing t = {.e = e, .runs = runs, .screen = screen_of_file(out), .to = &to, .a = a};
    put_metric_answer(&t);
    if (!e->certain || e->metric.differs)
        put_causes(&t);
    if (e->named && e->causes[0].state == CAUSE_POSSIBLE) {
        buf_puts(&line, "hint: repeat runs that differ only in the first cause; they show whether it is the one");
        buf_putc(&to, '\n');
        put_explain_line(&t, 2, 8, &line);
    }
    fwrite(to.p ? to.p : "", 1, to.n, out);
    return to.failed || a->failed ? -1 : 0;
}

/* ---- JSON ---- */

static void effect_json(struct json_out *j, const struct change *c)
{
    json_known(j, "ratio", c->ratio > 0 ? c->ratio : NAN);
    json_known(j, "ratio_low", c->known ? c->low : NAN);
    json_known(j, "ratio_high", c->known ? c->high : NAN);
    json_known(j, "p", c->known ? c->p : NAN);
}

static void cause_json(struct json_out *j, const struct explanation *e, struct runs *runs, const struct possible_cause *c, struct arena *a)
{
    json_open(j, NULL, '{');
    json_text(j, "cause", c->name);
    json_text(j, "state", cause_state_name(c->state));
    json_open(j, "facts", '[');
    for (size_t i = 0; i < c->key_count; i++) {
        const struct fact_key *k = &e->facts.keys[c->keys[i]];
        json_open(j, NULL, '{');
        json_text(j, "key", k->name);
        for (int s = 0; s < EXPLAIN_SIDES; s++) {
            const char *name = s ? "b" : "a";
            if (k->kind != FACT_METRIC)
                json_text(j, name, explain_value(e, runs, s, c->keys[i], a));
            else
                json_known(j, name, i == 0 ? c->median[s] : NAN);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "others", '{');
    json_int(j, "a", (int64_t)c->others[0]);
    json_int(j, "b", (int64_t)c->others[1]);
    effect_json(j, &c->effect);
    json_close(j, '}');
    json_close(j, '}');
}

int explain_write_json(const struct explanation *e, struct runs *runs, struct arena *a, FILE *out)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 28);
    struct json_out j = {.to = &b};
    const struct explained_metric *m = &e->metric;
    json_open(&j, NULL, '{');
    json_open(&j, "metric", '{');
    json_text(&j, "key", m->key->name);
    json_text(&j, "unit", m->key->unit);
    json_text(&j, "direction", *m->direction ? m->direction : NULL);
    json_double(&j, "a", m->median[0]);
    json_double(&j, "b", m->median[1]);
    json_int(&j, "n_a", (int64_t)m->n[0]);
    json_int(&j, "n_b", (int64_t)m->n[1]);
    effect_json(&j, &m->change);
    json_text(&j, "verdict", m->differs ? "differs" : e->certain ? "same" : "too few");
    json_close(&j, '}');
    json_open(&j, "causes", '[');
    for (size_t i = 0; i < e->cause_count; i++)
        cause_json(&j, e, runs, &e->causes[i], a);
    json_close(&j, ']');
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, out);
    return b.failed || a->failed ? -1 : 0;
}
