/* load_metric.c: metrics of readers and those that are computed: name, unit, direction, what several values mean. */
#include "benchmarks/load.h"
#include "benchmarks/number.h"
#include "benchmarks/percentile.h"

#include <math.h>

int load_template(struct name *ret, struct str text, struct reader *r, const struct yaml *at, const struct rules *rules, struct err *err)
{
    if (text.n > NAME_MAX_BYTES)
        return rules_complain(at, rules, err, "a name has at most %d characters", NAME_MAX_BYTES);
    while (text.n) {
        if (ret->n == PARTS_MAX)
            return rules_complain(at, rules, err, "a name has at most %d parts", PARTS_MAX);
        struct name_part *part = &ret->part[ret->n++];
        part->cell = part->var = -1;
        const char *open = memchr(text.p, '{', text.n);
        size_t plain = open ? (size_t)(open - text.p) : text.n;
        if (plain) {
            part->text = str_sub(text, 0, plain);
            text = str_sub(text, plain, text.n);
            continue;
        }
        const char *close = memchr(text.p, '}', text.n);
        if (!close || close == text.p + 1)
            return rules_complain(at, rules, err, "\"{\" without a cell's name and \"}\"");
        struct str inner = str_sub(text, 1, (size_t)(close - text.p) - 1);
        for (size_t i = 0; i < rules->vars && part->var < 0; i++)
            if (str_eq(rules->var[i], inner))
                part->var = (int)i;
        if (part->var < 0 && (part->cell = reader_cell(r, inner, at, rules, err)) < 0)
            return -1;
        text = str_sub(text, inner.n + 2, text.n);
    }
    return ret->n ? 0 : rules_complain(at, rules, err, "the name is empty");
}

/* The same of a metric. */
static int load_metric_name(struct name *ret, struct str text, struct reader *r, const struct yaml *at, const struct rules *rules,
                            struct err *err)
{
    if (load_template(ret, text, r, at, rules, err))
        return -1;
    for (size_t i = 0; i < ret->n; i++)
        for (size_t k = 0; k < ret->part[i].text.n; k++)
            if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_.", ret->part[i].text.p[k]))
                return rules_complain(at, rules, err,
                                      "a metric's name has lower-case letters, digits, _ and dots (its unit is added by `unit`)");
    return 0;
}

static const char *const metric_keys[] = {"name",  "cell", "unit",   "from",  "unit_cell",   "better", "headline", "stat",
                                          "many",  "step", "values", "zero",  "missing",     "range",  "suffix",   "scale",
                                          "where", "when", "each",   "scope", "values_cell", NULL};

/* Reads a unit. *ret stays unchanged where y is absent or null. Returns 0, or another value with
 * *err. */
static int load_unit(const struct unit **ret, const struct yaml *y, bool of_the_contract, const struct rules *rules, struct err *err)
{
    if (!y || yaml_is_null(y))
        return 0;
    *ret = y->kind == YAML_SCALAR ? units_find(y->text) : NULL;
    if (!*ret || (of_the_contract && !str_is(y->text, (*ret)->name)))
        return rules_complain(
            y, rules, err, "\"" STR_FMT "\" is no unit%s", STR_ARG(y->text),
            of_the_contract
                ? " a key can have; allowed are those of mlruns-format/units.def: B KiB MiB GiB KB MB GB B_per_s MiB_per_s MB_per_s "
                  "op_per_s token_per_s bit_per_s GFLOP_per_s GTEPS s ms us ns min Hz J W J_per_op J_per_token J_per_gigabyte J_per_GFLOP percent"
                : "");
    return 0;
}

/* range: [low, high]; null: open. A time or rate is not negative, unless the rule allows it. */
static int load_range(struct metric_rule *m, const struct yaml *y, const struct rules *rules, struct err *err)
{
    const struct yaml *range = yaml_get(y, "range"), *low = range && range->kind == YAML_LIST ? range->child : NULL,
                      *high = low ? low->next : NULL;
    m->low = m->better == DIR_NONE ? -INFINITY : 0;
    m->high = INFINITY;
    if (!range)
        return 0;
    m->low = -INFINITY;
    if (!high || high->next || (!yaml_is_null(low) && (low->kind != YAML_SCALAR || !str_double(low->text, &m->low))) ||
        (!yaml_is_null(high) && (high->kind != YAML_SCALAR || !str_double(high->text, &m->high))) || !(m->low <= m->high))
        return rules_complain(range, rules, err, "range is [lowest, highest] in the metric's unit, null for none");
    return 0;
}

/* Reads direction, statistic, scale and what else treats the numbers of a metric. Returns 0, or
 * another value with *err. */
static int load_metric_numbers(struct metric_rule *m, const struct yaml *y, const struct rules *rules, struct err *err)
{
    static const char *const directions[] = {"none", "higher", "lower", NULL};
    static const char *const manys[] = {"error", "first", "last", "series", "min", "max", "mean", "sum", NULL};
    static const char *const zeros[] = {"keep", "missing", "absent", NULL};
    static const char *const suffixes[] = {"none", "decimal", "binary", NULL};
    static const char *const headlines[] = {"last", "max", "min", "mean", "median", NULL};
    int better = load_choice(y, "better", directions, -2, rules, err);
    if (better == -2)
        return rules_complain(y, rules, err, "better is missing: higher, lower or none");
    int headline = load_choice(y, "headline", headlines, 0, rules, err);
    int many = load_choice(y, "many", manys, headline > 0 || m->step_cell >= 0 ? MANY_SERIES : MANY_ERROR, rules, err);
    int zero = load_choice(y, "zero", zeros, ZERO_KEEP, rules, err);
    int suffix = load_choice(y, "suffix", suffixes, 0, rules, err);
    if (better < 0 || headline < 0 || many < 0 || zero < 0 || suffix < 0)
        return -1;
    m->better = (enum direction)better;
    m->headline = headline ? headlines[headline] : NULL;
    m->is_headline = yaml_get(y, "headline") != NULL;
    m->many = (enum many)many;
    m->zero = (enum zero)zero;
    m->number = suffix == 1 ? NUMBER_SI : suffix == 2 ? NUMBER_BINARY : 0;
    if (m->unit && !strcmp(m->unit->name, "percent"))
        m->number |= NUMBER_PERCENT;
    m->scale = 1;
    const struct yaml *scale = yaml_get(y, "scale");
    if (scale && (scale->kind != YAML_SCALAR || !str_double(scale->text, &m->scale) || !isfinite(m->scale) || m->scale == 0))
        return rules_complain(scale, rules, err, "scale: expected a number other than 0");
    return load_range(m, y, rules, err) || load_texts(yaml_get(y, "missing"), m->none, 8, &m->nones, rules, err) ? -1 : 0;
}

static int units_fit(const struct metric_rule *m, const struct yaml *y, const struct rules *rules, struct err *err)
{
    double unused;
    if (!m->from || units_convert(1, m->from, m->unit, &unused))
        return 0;
    return rules_complain(yaml_get(y, "from"), rules, err, "%s cannot become %s", m->from->name,
                          m->unit ? m->unit->name : "a number without unit");
}

/* unit_cell: a cell of the row, or "{name}": what an earlier row set. */
static int load_unit_cell(struct metric_rule *m, const struct yaml *y, struct reader *r, const struct rules *rules, struct err *err)
{
    const struct yaml *at = yaml_get(y, "unit_cell");
    m->unit_var = m->unit_cell = -1;
    if (!at || at->kind != YAML_SCALAR || !str_starts(at->text, "{"))
        return load_cell(r, y, "unit_cell", &m->unit_cell, rules, err);
    for (size_t i = 0; i < rules->vars; i++)
        if (at->text.n == rules->var[i].n + 2 && !memcmp(at->text.p + 1, rules->var[i].p, rules->var[i].n))
            m->unit_var = (int)i;
    return m->unit_var >= 0 ? 0 : rules_complain(at, rules, err, "no reader sets this");
}

/* How many values a percentile is made of: a param's or derived name, or a cell of its row. */
static int load_values(struct metric_rule *m, const struct yaml *y, struct reader *r, const struct rules *rules, struct err *err)
{
    const struct yaml *values = yaml_get(y, "values"), *cell = yaml_get(y, "values_cell"), *at = values ? values : cell;
    const struct name_part *last = &m->name.part[m->name.n - 1];
    bool dynamic = last->cell >= 0 || last->var >= 0;
    if (at && (at->kind != YAML_SCALAR || (values && cell) ||
               !(m->stat ? percentile_needs(str_of(m->stat)) > 0 : dynamic || percentile_needs(last->text) > 0)))
        return rules_complain(
            at, rules, err,
            "values (a name) or values_cell is for a percentile: stat: p50, p90, p95, p99, p999, or a name that ends in such a word");
    if (load_cell(r, y, "values_cell", &m->values_cell, rules, err))
        return -1;
    return values ? load_metric_name(&m->values, values->text, r, values, rules, err) : 0;
}

int load_metric(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err)
{
    static const char *const stats[] = {"none", "max", "min", "mean", "median", "sd",      "n", "p50",
                                        "p90",  "p95", "p99", "p999", "ci_low", "ci_high", NULL};
    struct metric_rule *m = &r->metric[r->metrics];
    const struct yaml *name = yaml_get(y, "name");
    *m = (struct metric_rule){0}; /* one that could not be loaded may have left something here */
    if (load_keys(y, metric_keys, rules, err))
        return -1;
    if (!name || name->kind != YAML_SCALAR)
        return rules_complain(y, rules, err, "a metric needs a name");
    if (!yaml_get(y, "cell"))
        return rules_complain(y, rules, err, "a metric needs a cell (column, group, key or pointer)");
    if (load_metric_name(&m->name, name->text, r, name, rules, err) || load_cell(r, y, "cell", &m->cell, rules, err) ||
        load_unit_cell(m, y, r, rules, err) || load_cell(r, y, "step", &m->step_cell, rules, err) ||
        load_unit(&m->unit, yaml_get(y, "unit"), true, rules, err) || load_unit(&m->from, yaml_get(y, "from"), false, rules, err) ||
        load_where(&m->where, yaml_get(y, "where"), r, rules, err) || load_expr(&m->when, yaml_get(y, "when"), rules, err) ||
        load_metric_numbers(m, y, rules, err))
        return -1;
    if (units_fit(m, y, rules, err))
        return -1;
    int stat = load_choice(y, "stat", stats, 0, rules, err);
    int scope = load_choice(y, "scope", load_scopes, 0, rules, err);
    if (stat < 0 || scope < 0)
        return -1;
    m->stat = stat ? stats[stat] : NULL;
    m->of_run = scope == 1;
    if (load_values(m, y, r, rules, err))
        return -1;
    m->index = rules->metric_count++;
    r->metrics++;
    return 0;
}

/* Loads one item of `computed`, and adds it. unused: NULL. -1 with err, which names file and line.
 */
int load_computed(const struct yaml *y, struct reader *unused, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "value", "unit", "from", "better", "zero", "range", "each", NULL};
    struct computed *c = &rules->computed[rules->computeds];
    struct metric_rule *m = &c->rule;
    struct str name = yaml_text(y, "name", "");
    (void)unused;
    *c = (struct computed){0}; /* one that could not be loaded may have left something here */
    if (load_keys(y, keys, rules, err))
        return -1;
    if (!name.n || !yaml_get(y, "value"))
        return rules_complain(y, rules, err, "name and value (an expression) are needed");
    m->cell = m->unit_cell = m->unit_var = m->step_cell = m->values_cell = -1;
    if (load_metric_name(&m->name, name, &rules->computed_reader, y, rules, err) ||
        load_expr(&c->value, yaml_get(y, "value"), rules, err) || load_unit(&m->unit, yaml_get(y, "unit"), true, rules, err) ||
        load_unit(&m->from, yaml_get(y, "from"), false, rules, err) || units_fit(m, y, rules, err) || load_metric_numbers(m, y, rules, err))
        return -1;
    if (m->name.n != 1 || m->name.part[0].cell >= 0 || m->name.part[0].var >= 0)
        return rules_complain(y, rules, err, "the name of a computed metric is fixed: expected no {cell} in it");
    m->index = rules->metric_count++;
    rules->computeds++;
    return 0;
}
