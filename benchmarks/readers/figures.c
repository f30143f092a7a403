/* figures.c: results in lines of a program that no rules know (figure.h). One `figure` is a row
 * with the cells name, value, unit (as the record knows it; absent: none), dimension (without a
 * unit "time" or "none"), form ("value", or "series" for a row of a table with a step) and step. */
#include "benchmarks/figure.h"
#include "base/utf8.h"
#include "benchmarks/figure_words.h"
#include "benchmarks/load.h"

#include <stdio.h>
#include <string.h>

static const char *const cell_names[] = {"name", "value", "unit", "dimension", "form", "step"};
enum { NAME, VALUE, UNIT, DIMENSION, FORM, STEP, CELLS };

struct figures {
    int cell[CELLS]; /* -1: no metric names it */
};

static int figures_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {NULL};
    r->data = ARENA_NEW(&rules->arena, struct figures);
    return r->data ? load_keys(spec, keys, rules, err) : load_no_memory(rules, err);
}

/* Finds the cells that the reader has. Returns 0, or another value with *err for an unknown one. */
static int figures_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct figures *x = r->data;
    (void)spec;
    for (size_t k = 0; k < CELLS; k++)
        x->cell[k] = -1;
    for (size_t i = 0; i < r->cells; i++) {
        size_t k = 0;
        while (k < CELLS && !str_is(r->cell[i], cell_names[k]))
            k++;
        if (k == CELLS)
            return rules_complain(r->cell_at[i], rules, err, "figures have the cells name, value, unit, dimension, form and step");
        x->cell[k] = (int)i;
    }
    return 0;
}

/* A time without a name ("0.029 seconds") is the result where the output ends with it. At most so many lines follow, none with a number. */
enum { BEHIND_LONE_MAX = 2 };

/* They wait for the end: only then is it known what a comma means in this output, and whether a
 * name comes with different values. */
enum { HELD_MAX = 160, LATEST_MAX = 32 };

struct held_figure {
    struct figure figure;
    char heading[HEADING_LEVELS][FIGURE_HEADING_MAX]; /* above it; empty: none */
    struct figure_round round; /* of the loop that contains it: "3" below "Epoch 3" */
    bool is_taken;
};
struct figures_state {
    struct figure_context context;
    struct held_figure held[HELD_MAX];
    size_t helds;
    struct figure latest[LATEST_MAX]; /* of the scores of rounds, each name's last one; without a step where it is no result */
    size_t latests;
    bool is_full; /* what comes now is passed on at once */
    struct held_figure lone; /* the first one */
    size_t lones, behind; /* lines behind it; above BEHIND_LONE_MAX: it does not count */
};

static void figure_take(struct rules_run *run, struct source *source, const struct reader *r, const struct figure *f, const char *name)
{
    const struct figures *x = r->data;
    struct str cells[CELLS_MAX] = {{NULL, 0}}, none = {NULL, 0};
    const struct unit *u = f->unit;
    const struct str texts[CELLS] = {str_of(name),
                                     str_of(f->value),
                                     u ? str_of(u->name) : none,
                                     str_of(u                                         ? u->dimension
                                            : figure_ends_in_time(str_of(name), NULL) ? "time"
                                                                                      : "none"),
                                     str_of(f->step[0] ? "series" : "value"),
                                     f->step[0] ? str_of(f->step) : none};
    for (size_t k = 0; k < CELLS; k++)
        if (x->cell[k] >= 0)
            cells[x->cell[k]] = texts[k];
    row_take(run, source, r, cells, NULL, -1);
}

static bool line_has_digit(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= '0' && text.p[i] <= '9')
            return true;
    return false;
}

static void line_copy(char to[100], struct str text)
{
    size_t n = utf8_cut(text, 99);
    memcpy(to, text.p, n);
    to[n] = 0;
}

static bool line_is_text(struct str text)
{
    enum { INSPECTED = 4096 };
    text.n = utf8_cut(text, INSPECTED);
    for (size_t i = 0; i < text.n; i++)
        if (((unsigned char)text.p[i] < ' ' && text.p[i] != '\t') || text.p[i] == 0x7f)
            return false;
    return str_valid_utf8(text);
}

/* Notes a line in the form of a result that is none for this reader. */
static void ignored_note(struct ignored_lines *to, struct str text, bool size)
{
    text = str_trim(text);
    if (to->lines++ < IGNORED_LINES_SHOWN)
        line_copy(to->line[to->lines - 1], text);
    if (size && !to->size[0])
        line_copy(to->size, text);
}

/* ---- names that come with different values ---- */

/* What may distinguish results of one name, in the order in which it is tried. */
enum apart { APART_LINE, APART_ROUND, APART_PART, APART_TEST, APARTS };

static enum heading_level heading_level_of(enum apart by)
{
    return by == APART_PART ? HEADING_PART : HEADING_TEST;
}

/* The text that distinguishes a result. One result of a name may have the name alone. */
static struct str apart_text(const struct held_figure *h, enum apart by)
{
    if (by == APART_LINE)
        return str_of(h->figure.variant[0] ? h->figure.variant : h->figure.name);
    if (by == APART_ROUND)
        return str_of(h->round.number);
    return str_of(h->heading[heading_level_of(by)]);
}

static bool is_of_same_metric(const struct held_figure *a, const struct held_figure *b)
{
    const struct unit *u = a->figure.unit, *v = b->figure.unit;
    bool units = u && v ? !strcmp(u->dimension, v->dimension) : u == v;
    return !a->is_taken && !b->is_taken && units && !strcmp(a->figure.name, b->figure.name) && !a->figure.step[0] == !b->figure.step[0];
}

static bool is_same_step(const struct figure *a, const struct figure *b)
{
    return a->unit == b->unit && !strcmp(a->name, b->name) && !strcmp(a->step, b->step) && !strcmp(a->value, b->value);
}

/* The same line again: "[20] rmse: 5.1", and behind the last round "Best: [20] rmse: 5.1". */
static bool is_repeated(const struct figures_state *s, size_t i)
{
    for (size_t k = 0; k < i && s->held[i].figure.step[0]; k++)
        if (is_same_step(&s->held[i].figure, &s->held[k].figure))
            return true;
    return false;
}

static bool is_of_same_value(const struct held_figure *a, const struct held_figure *b)
{
    return a->figure.unit == b->figure.unit && !strcmp(a->figure.value, b->figure.value);
}

/* True if a heading is behind the last result: these lines may be below what they name. */
static bool is_footed(const struct figures_state *s, enum heading_level level)
{
    const char *last = figure_heading(&s->context, level);
    return s->helds && last[0] && strcmp(last, s->held[s->helds - 1].heading[level]) != 0;
}

/* True if all results of the name of held[first] have such a text, a different one where the values
 * differ. */
static bool can_be_told_apart(const struct figures_state *s, size_t first, enum apart by)
{
    bool differ = false;
    if ((by == APART_PART || by == APART_TEST) && is_footed(s, heading_level_of(by)))
        return false;
    for (size_t i = first; i < s->helds; i++) {
        if (!is_of_same_metric(&s->held[first], &s->held[i]))
            continue;
        if (!apart_text(&s->held[i], by).n || s->held[i].figure.step[0])
            return false;
        for (size_t k = first; k < i; k++) {
            if (!is_of_same_metric(&s->held[i], &s->held[k]) || is_of_same_value(&s->held[i], &s->held[k]))
                continue;
            if (str_eq(apart_text(&s->held[i], by), apart_text(&s->held[k], by)))
                return false;
            differ = true;
        }
    }
    return differ;
}

/* A ratio, a count or a share: of a loop's rounds the last one is the result. Of times and rates none is. */
static bool is_score(const struct figure *f)
{
    return !f->unit || !strcmp(f->unit->name, "percent");
}

static bool is_later_step(const struct figure *f, const struct figure *than)
{
    int64_t a, b;
    return str_int(str_of(f->step), &a) && str_int(str_of(than->step), &b) && a > b;
}

static bool is_held(const struct figures_state *s, const struct figure *f)
{
    size_t i = 0;
    while (i < s->helds && !is_same_step(&s->held[i].figure, f))
        i++;
    return i < s->helds;
}

/* Notes the score of a round. There is no last one where the rounds begin again (which loop counts is not known), and where a value of
 * the same name without a round is the result itself. An earlier line that comes again names the best round. */
static void latest_note(struct figures_state *s, const struct figure *f)
{
    size_t i = 0;
    while (i < s->latests && (s->latest[i].unit != f->unit || strcmp(s->latest[i].name, f->name) != 0))
        i++;
    if (f->is_score_of_round && i < LATEST_MAX) {
        bool over = i < s->latests && (!s->latest[i].is_score_of_round || (!is_later_step(f, &s->latest[i]) && !is_held(s, f)));
        s->latest[i] = *f;
        s->latest[i].is_score_of_round = !over;
        s->latests += i == s->latests;
    } else if (!f->step[0] && i < s->latests) {
        s->latest[i].is_score_of_round = false;
    }
}

/* Notes the names of values that may be settings: a time or a rate followed them. */
static void early_names_note(struct figures_state *s)
{
    for (size_t i = 0; i < s->helds && (s->context.has_part || s->is_full); i++)
        if (s->held[i].figure.is_early)
            figure_doubt_note(&s->context, s->held[i].figure.name);
}

/* May a value without a unit be a setting, or has its name another one that may be one? */
static bool is_doubted_figure(const struct figures_state *s, const struct figure *f)
{
    return f->is_computed && figure_is_doubted(&s->context, f->name);
}

/* Passes on the scores of the last rounds as the results of their loops. */
static void latest_take(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s)
{
    for (size_t i = 0; i < s->latests; i++) {
        struct figure *f = &s->latest[i];
        f->step[0] = 0;
        if (f->is_score_of_round && !f->more_rounds && !f->unsure && !is_doubted_figure(s, f))
            figure_take(run, source, r, f, f->name);
    }
    s->latests = 0;
}

static void take_of_step(struct rules_run *run, struct source *source, const struct reader *r, const struct figure *f, const char *name)
{
    char of_step[FIGURE_NAME_MAX + 2 * FIGURE_HEADING_MAX + 20];
    snprintf(of_step, sizeof of_step, "%s of each step", name);
    figure_take(run, source, r, f, of_step);
}

static void take_told_apart(struct rules_run *run, struct source *source, const struct reader *r, const struct held_figure *h,
                            enum apart by)
{
    char name[FIGURE_NAME_MAX + 2 * FIGURE_HEADING_MAX];
    const char *heading = by == APART_PART || by == APART_TEST ? h->heading[heading_level_of(by)] : "";
    struct figure figure = h->figure;
    snprintf(name, sizeof name, "%s%s%s", heading, heading[0] ? " " : "", by == APART_LINE ? apart_text(h, by).p : h->figure.name);
    if (by == APART_ROUND)
        memcpy(figure.step, h->round.number, sizeof figure.step);
    if (figure.is_score_of_round || (by == APART_ROUND && is_score(&figure)))
        take_of_step(run, source, r, &figure, name);
    else
        figure_take(run, source, r, &figure, name);
}

/* Which of what was held is passed on: what words show to be results comes before what its digits alone show. */
enum held_kind { HELD_KNOWN, HELD_COMPUTED, HELD_KINDS };

/* Passes on what was held of one kind, under names that distinguish different values where the output has
 * the words for it. */
static void held_kind_take(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s,
                           enum held_kind kind)
{
    for (size_t i = 0; i < s->helds; i++) {
        enum apart by = 0;
        if (s->held[i].is_taken || s->held[i].figure.is_computed != (kind == HELD_COMPUTED))
            continue;
        while (by < APARTS && (s->is_full || !can_be_told_apart(s, i, by)))
            by++;
        struct held_figure first = s->held[i];
        const struct held_figure *last = &first;
        for (size_t k = i; k < s->helds; k++)
            if (is_of_same_metric(&first, &s->held[k])) {
                take_told_apart(run, source, r, &s->held[k], by);
                s->held[k].is_taken = true;
                last = &s->held[k];
            }
        if (by == APART_ROUND && is_score(&last->figure) && !last->round.more)
            figure_take(run, source, r, &last->figure, last->figure.name);
    }
}

/* "MFLOPS" of a rehearsal next to "MFLOPS measured": only the latter is the result. */
static bool has_measured_one(const struct figures_state *s, const struct figure *f)
{
    static const char *const ends[] = {" measured", " achieved", " actual", " final"};
    size_t n = strlen(f->name);
    for (size_t i = 0; i < s->helds && f->unit; i++) {
        const struct figure *o = &s->held[i].figure;
        if (!o->unit || strcmp(o->unit->dimension, f->unit->dimension) != 0 || strncmp(o->name, f->name, n) != 0)
            continue;
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (!strcmp(o->name + n, ends[k]))
                return true;
    }
    return false;
}

static void held_take(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s)
{
    bool point = s->context.has_point && !s->context.has_decimal_comma;
    early_names_note(s);
    for (size_t i = 0; i < s->helds; i++)
        s->held[i].is_taken = (s->held[i].figure.unsure && (!point || s->is_full)) || is_repeated(s, i) ||
                              is_doubted_figure(s, &s->held[i].figure) || has_measured_one(s, &s->held[i].figure);
    for (enum held_kind kind = 0; kind < HELD_KINDS; kind++)
        held_kind_take(run, source, r, s, kind);
    s->helds = 0;
}

static void held_set(struct held_figure *h, const struct figures_state *s, const struct figure *f)
{
    *h = (struct held_figure){.figure = *f};
    h->round = s->context.round;
    for (size_t level = 0; level < HEADING_LEVELS; level++)
        snprintf(h->heading[level], sizeof h->heading[level], "%s", figure_heading(&s->context, level));
}

/* Holds a result until the end of the output. Where there are more than HELD_MAX, all keep their
 * own names: one that is not held could have the same name with another value. */
static void figure_hold(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s,
                        const struct held_figure *h)
{
    latest_note(s, &h->figure);
    if (s->helds == HELD_MAX && !s->is_full) {
        s->is_full = true;
        held_take(run, source, r, s);
    }
    if (!s->is_full)
        s->held[s->helds++] = *h;
    else if (h->figure.is_computed)
        return; /* whether it may be a setting is not known */
    else if (!h->figure.unsure && h->figure.is_score_of_round)
        take_of_step(run, source, r, &h->figure, h->figure.name);
    else if (!h->figure.unsure)
        figure_take(run, source, r, &h->figure, h->figure.name);
}

/* Keeps the first of such times for the end. Of several none is the result: all are passed on, and
 * contradict each other unless they are the same or are below their own headings. */
static void lone_take(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s,
                      const struct held_figure *h)
{
    if (++s->lones == 1) {
        s->lone = *h;
        s->behind = 0;
        return;
    }
    if (s->lones == 2)
        figure_hold(run, source, r, s, &s->lone);
    figure_hold(run, source, r, s, h);
}

static void figures_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *state, struct str text)
{
    struct figures_state *s = state;
    struct figure found[FIGURES_MAX];
    size_t n = figure_find(&s->context, text, found);
    run->ignored.not_text += !line_is_text(text);
    if (s->context.passed_over || (n && found[0].bare))
        ignored_note(&run->ignored, text, s->context.passed_size);
    if (s->lones && str_trim(text).n)
        s->behind += line_has_digit(text) ? BEHIND_LONE_MAX + 1 : 1;
    for (size_t i = 0; i < n; i++) {
        struct held_figure h;
        if (found[i].bare)
            continue;
        held_set(&h, s, &found[i]);
        if (found[i].lone)
            lone_take(run, source, r, s, &h);
        else
            figure_hold(run, source, r, s, &h);
    }
}

static void figures_reader_end(struct rules_run *run, struct source *source, const struct reader *r, void *state)
{
    struct figures_state *s = state;
    held_take(run, source, r, s);
    latest_take(run, source, r, s);
    if (s->lones == 1 && s->behind <= BEHIND_LONE_MAX)
        figure_take(run, source, r, &s->lone.figure, s->lone.figure.name);
    s->lones = 0;
}

const struct reader_kind reader_figures = {.name = "figures",
                                           .state_size = sizeof(struct figures_state),
                                           .load = figures_reader_load,
                                           .check = figures_reader_check,
                                           .line = figures_reader_line,
                                           .end = figures_reader_end};
