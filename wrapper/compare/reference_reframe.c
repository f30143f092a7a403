/* reference_reframe.c: the references that ReFrame applied, from its run reports, performance logs and posted records, as a reference file. */
#include "compare/reference_reframe.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "benchmarks/rules.h"
#include "compare/proposal.h"
#include "import/reframe.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

enum { INPUT_MAX = 64 << 20, REFERENCES_MAX = 5000 };

struct applied { /* one variable of one test case */
    const char *test, *system, *partition, *environ, *variable, *unit;
    double ref, lower, upper; /* NAN: no bound */
    struct applied *next;
};

struct reframe_history {
    struct arena *arena;
    struct applied *first, **tail;
    size_t n, without; /* variables with a reference, and values without one */
    bool too_many;
    struct rules *rules;
};

static const char *reframe_text(struct reframe_history *h, const struct json *j)
{
    const char *text = json_string(j, "");
    return arena_dup(h->arena, text, strlen(text));
}

static double bound_of(const struct json *j)
{
    return json_is_number(j) ? json_number(j, NAN) : NAN;
}

/* ReFrame writes 0 with no bounds where a test has no reference for a variable. */
static void add_applied(struct reframe_history *h, struct applied a, const struct json *ref, const struct json *lower,
                        const struct json *upper)
{
    a.lower = bound_of(lower);
    a.upper = bound_of(upper);
    if (!json_is_number(ref) || (isnan(a.lower) && isnan(a.upper))) {
        h->without++;
        return;
    }
    a.ref = json_number(ref, 0);
    for (struct applied *old = h->first; old; old = old->next) /* a later record of the same test replaces an earlier one */
        if (!strcmp(old->test, a.test) && !strcmp(old->system, a.system) && !strcmp(old->partition, a.partition) &&
            !strcmp(old->environ, a.environ) && !strcmp(old->variable, a.variable)) {
            a.next = old->next;
            *old = a;
            if (!a.next)
                h->tail = &old->next;
            return;
        }
    struct applied *one = ARENA_NEW(h->arena, struct applied);
    h->too_many = h->n == REFERENCES_MAX;
    if (!one || h->too_many)
        return;
    *one = a;
    *h->tail = one;
    h->tail = &one->next;
    h->n++;
}

/* Adds the references that ReFrame applied in one test case, in the form of version 4 or 3. Out of
 * memory: the arena has failed. */
static void read_case(struct reframe_history *h, const struct json *test)
{
    const struct json *name = json_get(test, "display_name"), *environ = json_get(test, "environ");
    struct applied a = {.test = reframe_text(h, name ? name : json_get(test, "name")),
                        .system = reframe_text(h, json_get(test, "system")),
                        .partition = reframe_text(h, json_get(test, "partition")),
                        .environ = reframe_text(h, environ ? environ : json_get(test, "environment"))};
    if (!a.test || !a.system || !a.partition || !a.environ)
        return;
    for (const struct json *v = json_first(json_get(test, "perfvalues")); v; v = json_next(v)) { /* 4.x: "system:partition:variable" */
        const char *key = json_key(v), *colon = strrchr(key, ':');
        a.variable = arena_dup(h->arena, colon ? colon + 1 : key, strlen(colon ? colon + 1 : key));
        a.unit = reframe_text(h, json_at(v, 4));
        if (a.variable && a.unit)
            add_applied(h, a, json_at(v, 1), json_at(v, 2), json_at(v, 3));
    }
    for (const struct json *v = json_first(json_get(test, "perfvars")); v; v = json_next(v)) { /* 3.x */
        a.variable = reframe_text(h, json_get(v, "name"));
        a.unit = reframe_text(h, json_get(v, "unit"));
        if (a.variable && a.unit)
            add_applied(h, a, json_get(v, "reference"), json_get(v, "thres_lower"), json_get(v, "thres_upper"));
    }
}

/* Reads the test cases of a ReFrame run report; what is needed is copied. False: the text is no run
 * report. */
static bool read_report(struct reframe_history *h, struct str text)
{
    struct json *report;
    if (json_parse(&report, text, NULL, NULL))
        return false;
    const struct json *runs = json_get(report, "runs");
    for (const struct json *r = json_first(runs); r; r = json_next(r))
        for (const struct json *t = json_first(json_get(r, "testcases")); t; t = json_next(t))
            read_case(h, t);
    bool known = json_is_array(runs) && json_is_object(json_get(report, "session_info"));
    json_free(report);
    return known;
}

/* Reads a run report, a performance log or posted records of ReFrame, by content. Returns -1 with
 * err, also above REFERENCES_MAX references. */
static int read_reframe_file(struct reframe_history *h, const char *path, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct reframe_record *record;
    buf_init(&text, INPUT_MAX + 1);
    if (fs_read(AT_FDCWD, path, INPUT_MAX, FS_LINKS, &text, err))
        return -1;
    size_t n = reframe_records(buf_text(&text), h->arena, &record);
    for (size_t i = 0; i < n; i++)
        read_report(h, record[i].report);
    if (!n && !read_report(h, buf_text(&text)))
        return err_set(err, ERR_INPUT, "cannot read %s: expected a run report, a performance log or posted records of ReFrame", path);
    if (h->too_many)
        return err_set(err, ERR_INPUT, "cannot write the references of %s: they are more than %d", path, REFERENCES_MAX);
    return h->arena->failed ? err_memory(err, "the references") : 0;
}

/* Finds the metric that a run of ReFrame has of this variable, and how much of its unit is one of
 * ReFrame's: the rules read a report with the value 1. */
static bool find_metric(struct reframe_history *h, const struct applied *a, const char **ret_key, double *ret_factor)
{
    CLEANUP_BUF struct buf b;
    struct json_out j = {.to = &b};
    struct rules_run *run;
    struct rules_outcome out;
    struct record record;
    struct err ignored = {0};
    const char *key = arena_printf(h->arena, "x:x:%s", a->variable);
    *ret_key = NULL;
    buf_init(&b, 1 << 20);
    json_open(&j, NULL, '{');
    json_open(&j, "runs", '[');
    json_open(&j, NULL, '{');
    json_open(&j, "testcases", '[');
    json_open(&j, NULL, '{');
    json_text(&j, "display_name", "x");
    json_text(&j, "result", "pass");
    json_open(&j, "perfvalues", '{');
    json_open(&j, key ? key : "", '[');
    json_double(&j, NULL, 1);
    for (int i = 0; i < 3; i++)
        json_null(&j, NULL);
    json_text(&j, NULL, a->unit);
    for (const char *close = "]}}]}]}"; *close; close++)
        json_close(&j, *close);
    if (b.failed || rules_begin(&run, h->rules, NULL, NULL, &ignored))
        return false;
    rules_feed(run, "stdout", b.p, b.n);
    record_init(&record, "00000000000000000000000000000000", 1);
    if (!rules_end(run, 0, 0, 1, &record, &out, &ignored))
        for (const struct fact *f = record.first; f; f = f->next)
            if (f->kind == FACT_METRIC && !*ret_key) {
                *ret_key = arena_dup(h->arena, f->key.p, f->key.n);
                *ret_factor = f->value;
            }
    record_deinit(&record);
    return *ret_key;
}

/* 5 us are 5e-06 s, not 4.9999999999999996e-06. */
static void print_reference_number(struct buf *to, double v)
{
    buf_printf(to, "%.15g", v);
}

/* A distance is a part of the reference, but 0 has no parts: there it is in ReFrame's unit. */
static void print_bound(struct buf *to, double bound, double factor)
{
    buf_puts(to, ", ");
    if (isnan(bound))
        buf_puts(to, "null");
    else
        print_reference_number(to, bound * factor);
}

static void print_condition(struct buf *to, const char *indent, const char *key, const char *value)
{
    if (!*value)
        return;
    buf_printf(to, "%s%s: ", indent, key);
    proposal_quote(to, value);
    buf_putc(to, '\n');
}

static bool is_same_case(const struct applied *a, const struct applied *b)
{
    return !strcmp(a->test, b->test) && !strcmp(a->system, b->system) && !strcmp(a->partition, b->partition) &&
           !strcmp(a->environ, b->environ);
}

/* Writes the reference file, with one entry for each test case. A variable that the rules of
 * ReFrame do not read becomes a comment. */
static void print_yaml(struct reframe_history *h, struct buf *to)
{
    buf_printf(to, "# references that ReFrame applied, written by benchwrap %s (docs/howto-reference.md)\n", BW_VERSION);
    if (h->without)
        buf_printf(to, "# left out: %zu value%s for which ReFrame had no reference\n", h->without, str_plural(h->without));
    if (h->n)
        buf_puts(to, "references:\n");
    for (const struct applied *a = h->first, *before = NULL; a; before = a, a = a->next) {
        const char *key;
        double factor = 1;
        if (!before || !is_same_case(a, before)) {
            buf_puts(to, "  - note: \"from ReFrame\"\n    benchmark: reframe\n    strict: true\n    params:\n");
            print_condition(to, "      ", "test", a->test);
            print_condition(to, "      ", "system", a->system);
            print_condition(to, "      ", "partition", a->partition);
            print_condition(to, "      ", "environ", a->environ);
            buf_puts(to, "    metrics:\n");
        }
        if (!find_metric(h, a, &key, &factor)) {
            buf_puts(to, "      # left out: ");
            buf_plain(to, str_of(a->variable), 200);
            buf_puts(to, ": the rules of ReFrame read no metric of this name\n");
            continue;
        }
        buf_puts(to, "      ");
        buf_json(to, str_of(key));
        buf_puts(to, ": [");
        print_reference_number(to, a->ref * factor);
        print_bound(to, a->lower, a->ref == 0 ? factor : 1);
        print_bound(to, a->upper, a->ref == 0 ? factor : 1);
        buf_puts(to, "]  # ");
        print_reference_number(to, a->ref);
        buf_putc(to, ' ');
        buf_plain(to, str_of(a->unit), 60);
        buf_putc(to, '\n');
    }
}

int reference_from_reframe(const struct opt_value *files, struct arena *arena, struct buf *to, size_t *ret_n, struct err *err)
{
    struct reframe_history h = {.arena = arena, .tail = &h.first};
    for (; files && files->text; files = files->next)
        if (read_reframe_file(&h, files->text, err))
            return -1;
    if (rules_load(&h.rules, "shipped:reframe", err))
        return -1;
    print_yaml(&h, to);
    rules_free(h.rules);
    *ret_n = h.n;
    return arena->failed ? err_memory(err, "the references") : 0;
}
