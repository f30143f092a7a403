/* reframe.c: records in ReFrame's performance logs become run reports of one test case each. */
#include "import/reframe.h"
#include "base/array.h"
#include "base/json.h"
#include "base/json_out.h"
#include "benchmarks/rules.h"
#include "benchmarks/wrapped.h"

#include <math.h>
#include <string.h>

enum { FIELDS_MAX = 400, OLD_FIELDS = 7, RECORDS_MAX = 100000, REPORT_MAX = 1 << 20, LINE_MAX_BYTES = 256 << 10 };

struct fields { /* of one record: names without "check_", values as text; a null or "None" has none */
    struct str name[FIELDS_MAX], value[FIELDS_MAX];
    size_t n;
};

static void field_add(struct fields *f, struct str name, struct str value)
{
    if (str_starts(name, "check_"))
        name = str_sub(name, 6, name.n);
    if (f->n < FIELDS_MAX && name.n) {
        f->name[f->n] = name;
        f->value[f->n++] = value;
    }
}

static struct str field_of(const struct fields *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_is(f->name[i], name) && !str_is(f->value[i], "null") && !str_is(f->value[i], "None"))
            return f->value[i];
    return (struct str){"", 0};
}

/* ---- the report ---- */

/* Returns the variable that the record is of, where each has its own (perflog_multiline; always
 * before 4.0). It may repeat those of the test. */
static struct str only_variable(const struct fields *f)
{
    return field_of(f, "perf_value").n ? field_of(f, "perf_var") : (struct str){"", 0};
}

static struct str perf_field(const struct fields *f, struct str variable, const char *what, struct arena *a)
{
    if (only_variable(f).n) {
        const char *own = arena_printf(a, "perf_%s", what);
        return own ? field_of(f, own) : (struct str){"", 0};
    }
    const char *name = arena_printf(a, STR_FMT "_%s", STR_ARG(variable), what), *posted = arena_printf(a, "perf_%s", name ? name : "");
    struct str value = name ? field_of(f, name) : (struct str){"", 0};
    return value.n || !posted ? value : field_of(f, posted);
}

/* Returns the field "bw_lower_thres"; until 4.2 "bw_lower". */
static struct str threshold_of(const struct fields *f, struct str variable, const char *side, struct arena *a)
{
    const char *what = arena_printf(a, "%s_thres", side);
    struct str value = what ? perf_field(f, variable, what, a) : (struct str){"", 0};
    return value.n ? value : perf_field(f, variable, side, a);
}

static void reframe_print_number(struct json_out *j, struct str text)
{
    double value;
    if (str_double(text, &value) && isfinite(value))
        json_double(j, NULL, value); /* ".5" and "+1" are no JSON */
    else
        json_null(j, NULL);
}

/* Returns whether the name is that of a value; *ret is the variable, as copy_bw of
 * "copy_bw_value". */
static bool variable_of(struct str name, struct str *ret)
{
    if (name.n < 7 || !str_ends(name, "_value") || str_is(name, "perf_value"))
        return false;
    size_t from = str_starts(name, "perf_") ? 5 : 0;
    *ret = str_sub(name, from, name.n - 6 - from);
    return ret->n > 0;
}

/* Writes one performance variable as "system:partition:variable": [value, reference, thresholds,
 * unit, result]; nothing where its value is no number. */
static void perf_variable_put(struct json_out *j, const struct fields *f, struct str variable, struct arena *a)
{
    struct str value = perf_field(f, variable, "value", a), system = field_of(f, "system"), partition = field_of(f, "partition");
    double unused;
    if (!str_double(value, &unused))
        return;
    json_open(j, arena_printf(a, STR_FMT ":" STR_FMT ":" STR_FMT, STR_ARG(system), STR_ARG(partition), STR_ARG(variable)), '[');
    reframe_print_number(j, value);
    reframe_print_number(j, perf_field(f, variable, "ref", a));
    reframe_print_number(j, threshold_of(f, variable, "lower", a));
    reframe_print_number(j, threshold_of(f, variable, "upper", a));
    json_str(j, NULL, perf_field(f, variable, "unit", a));
    struct str result = perf_field(f, variable, "result", a);
    if (result.n)
        json_str(j, NULL, result);
    json_close(j, ']');
}

static void put_variables(struct json_out *j, const struct fields *f, struct arena *a)
{
    struct str variable, only = only_variable(f);
    json_open(j, "perfvalues", '{');
    if (only.n)
        perf_variable_put(j, f, only, a);
    for (size_t i = 0; i < f->n && !only.n; i++)
        if (variable_of(f->name[i], &variable))
            perf_variable_put(j, f, variable, a);
    json_close(j, '}');
}

static void reframe_print_text(struct json_out *j, const struct fields *f, const char *key, const char *name)
{
    struct str value = field_of(f, name);
    if (value.n)
        json_str(j, key, value);
}

static void put_count(struct json_out *j, const struct fields *f, const char *name)
{
    int64_t n;
    if (str_int(field_of(f, name), &n))
        json_int(j, name, n);
}

/* What ReFrame 3.x, which logs no result, decided: a value within its thresholds, which are fractions of the reference. "unknown" without them. */
static struct str old_result(struct str value, struct str ref, struct str lower, struct str upper)
{
    double v, r, l, u;
    bool has_lower = str_double(lower, &l), has_upper = str_double(upper, &u);
    if (!str_double(value, &v) || !str_double(ref, &r) || r == 0 || !(has_lower || has_upper))
        return STR("unknown");
    double a = r < 0 ? -r : r;
    return (has_lower && v < r + l * a) || (has_upper && v > r + u * a) ? STR("fail") : STR("pass");
}

/* Returns the first of a list of names: ["node01","node02"], node01|node02, node[01-02]
 * unchanged. */
static const char *first_node(struct str list, struct arena *a)
{
    while (list.n && strchr("[\" ", list.p[0]))
        list = str_sub(list, 1, list.n);
    size_t n = 0;
    while (n < list.n && !strchr("\",|] ", list.p[n]))
        n++;
    return n ? arena_dup(a, list.p, n) : NULL;
}

/* Returns the end of the ReFrame test in milliseconds since 1970; 0: not known. */
static int64_t end_time(const struct fields *f)
{
    double seconds;
    int64_t ms = 0;
    if (str_double(field_of(f, "job_completion_time_unix"), &seconds) && seconds > 0)
        return (int64_t)(seconds * 1000);
    if (!rules_time(field_of(f, "job_completion_time"), STR("%Y-%m-%dT%H:%M:%S%z"), &ms))
        rules_time(field_of(f, "job_completion_time"), STR("%Y-%m-%dT%H:%M:%S"), &ms);
    return ms;
}

/* Writes the record of one line as a run report of ReFrame 4 into *ret, in the arena. Returns false
 * when out of memory or above REPORT_MAX bytes. */
static bool make_report(const struct fields *f, size_t line, struct arena *a, struct reframe_record *ret)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, REPORT_MAX);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_open(&j, "session_info", '{');
    json_str(&j, "data_version", STR("4.2"));
    reframe_print_text(&j, f, "version", "version");
    json_close(&j, '}');
    json_open(&j, "runs", '[');
    json_open(&j, NULL, '{');
    json_open(&j, "testcases", '[');
    json_open(&j, NULL, '{');
    reframe_print_text(&j, f, "display_name", field_of(f, "display_name").n ? "display_name" : "name");
    static const char *const same[] = {"system", "partition",  "environ",      "hashcode", "jobid",
                                       "result", "fail_phase", "job_nodelist", "tags"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        reframe_print_text(&j, f, same[i], same[i]);
    put_count(&j, f, "num_tasks");
    put_count(&j, f, "num_tasks_per_node");
    put_count(&j, f, "num_cpus_per_task");
    put_variables(&j, f, a);
    json_open(&j, "record", '{');
    for (size_t i = 0; i < f->n; i++)
        json_str(&j, arena_dup(a, f->name[i].p, f->name[i].n), f->value[i]);
    json_close(&j, '}');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(&b, '\n');
    const char *text = b.failed ? NULL : arena_dup(a, b.p, b.n);
    *ret = (struct reframe_record){{text, b.n}, end_time(f), first_node(field_of(f, "job_nodelist"), a), line};
    return text != NULL;
}

/* ---- the three forms ---- */

/* Splits a line into fields, which "|" separates, in logs of 4.0 to 4.2 commas. Returns false where
 * there are more than `most`. */
static bool split_fields(struct str line, struct str *to, size_t most, size_t *ret_n)
{
    char separator = str_has(line, "|") ? '|' : ',';
    *ret_n = 0;
    for (struct str rest = line; rest.p; to[(*ret_n)++] = str_cut(&rest, separator))
        if (*ret_n == most)
            return false;
    return true;
}

/* Returns whether the columns are those of a ReFrame performance log: one for a value, and one for
 * the system or the hash code. */
static bool reframe_is_header(const struct str *name, size_t n)
{
    bool value = false, system = false;
    struct str unused;
    for (size_t i = 0; i < n; i++) {
        value = value || variable_of(name[i], &unused) || str_is(name[i], "perf_value") || str_is(name[i], "check_perf_value");
        system = system || str_is(name[i], "system") || str_is(name[i], "hashcode") || str_is(name[i], "check_system");
    }
    return value && system;
}

/* Reads test, place and environment of "stream on daint:gpu using PrgEnv-gnu"; 3.12 prints "stream
 * @daint:gpu+PrgEnv-gnu". Returns false where it is neither. */
static bool old_place(struct str info, struct fields *f)
{
    ptrdiff_t on_at = str_find(info, STR(" on ")), using_at = str_find(info, STR(" using "));
    struct str name, place, environ;
    if (on_at >= 0 && using_at > on_at) {
        name = str_sub(info, 0, (size_t)on_at);
        place = str_sub(info, (size_t)on_at + 4, (size_t)(using_at - on_at) - 4);
        environ = str_sub(info, (size_t)using_at + 7, info.n);
    } else {
        size_t at = info.n; /* the last " @": a name may have others */
        while (at && !str_starts(str_sub(info, at - 1, info.n), " @"))
            at--;
        if (!at)
            return false;
        name = str_sub(info, 0, at - 1);
        environ = str_sub(info, at + 1, info.n);
        place = str_cut(&environ, '+');
    }
    struct str system = str_cut(&place, ':');
    const ptrdiff_t hash = str_find(name, STR(" /")); /* 4.x adds the test's hash: "stream /1a2b3c4d" */
    if (hash >= 0 && name.n == (size_t)hash + 10)
        name = str_sub(name, 0, (size_t)hash);
    field_add(f, STR("name"), name);
    field_add(f, STR("environ"), environ.p ? environ : (struct str){"", 0});
    field_add(f, STR("system"), system);
    field_add(f, STR("partition"), place.p ? place : (struct str){"", 0});
    return true;
}

/* "2021-03-10T11:15:40|reframe 3.5.0|stream on daint:gpu using PrgEnv-gnu|jobid=1234|bw=12.5|ref=10 (l=-0.1, u=0.2)|MB/s" */
static bool old_record(struct str line, struct fields *f, struct arena *a)
{
    struct str part[OLD_FIELDS];
    size_t n;
    if (!split_fields(line, part, OLD_FIELDS, &n) || n != OLD_FIELDS || !str_starts(part[1], "reframe ") ||
        !str_starts(part[3], "jobid=") || !str_starts(part[5], "ref=") || !memchr(part[4].p, '=', part[4].n))
        return false;
    f->n = 0;
    field_add(f, STR("job_completion_time"), part[0]);
    field_add(f, STR("version"), str_sub(part[1], 8, part[1].n));
    field_add(f, STR("jobid"), str_sub(part[3], 6, part[3].n));
    if (!old_place(part[2], f))
        return false;
    struct str value = part[4], variable = str_cut(&value, '='), reference = str_sub(part[5], 4, part[5].n), limits = reference;
    struct str ref = str_trim(str_cut(&limits, '('));
    const struct {
        const char *suffix;
        struct str text;
    } perf[] = {{"value", value}, {"ref", ref}, {"unit", part[6]}};
    for (size_t i = 0; i < sizeof perf / sizeof *perf; i++) {
        const char *key = arena_printf(a, STR_FMT "_%s", STR_ARG(variable), perf[i].suffix);
        field_add(f, str_of(key ? key : ""), perf[i].text);
    }
    struct str threshold[2] = {{"", 0}, {"", 0}};
    while (limits.p && limits.n) { /* "l=-0.1, u=0.2)" */
        struct str limit = str_cut(&limits, ','), which = str_trim(str_cut(&limit, '='));
        while (limit.n && strchr(") ", limit.p[limit.n - 1]))
            limit.n--;
        const char *key = arena_printf(a, STR_FMT "_%s_thres", STR_ARG(variable), str_is(which, "l") ? "lower" : "upper");
        field_add(f, str_of(key ? key : ""), limit);
        threshold[!str_is(which, "l")] = limit;
    }
    field_add(f, STR("result"), old_result(value, ref, threshold[0], threshold[1]));
    return true;
}

/* Reads the fields of a posted record, and the verdict of one of 3.x, which has none. */
static bool posted_record(const struct json *record, struct fields *f, struct arena *a)
{
    f->n = 0;
    for (const struct json *m = json_first(record); m; m = json_next(m)) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, LINE_MAX_BYTES);
        const char *text = json_is_string(m) ? json_string(m, "") : NULL, *key = json_key(m);
        if (!*key)
            return false;
        if (!text) {
            json_print(m, &b);
            text = b.p ? b.p : "";
        }
        const char *name = arena_dup(a, key, strlen(key)), *value = arena_dup(a, text, strlen(text));
        if (name && value)
            field_add(f, str_of(name), str_of(value));
    }
    struct str only = only_variable(f);
    if (only.n && !field_of(f, "result").n)
        field_add(f, STR("result"),
                  old_result(field_of(f, "perf_value"), field_of(f, "perf_ref"), threshold_of(f, only, "lower", a),
                             threshold_of(f, only, "upper", a)));
    return field_of(f, "name").n && field_of(f, "system").n;
}

struct record_list { /* so far */
    struct reframe_record *list;
    size_t n, capacity;
};

/* Adds a record of the log to the list, which is in the arena. False: out of memory, too many
 * records, or not valid. */
static bool records_add(struct record_list *r, const struct fields *f, size_t line, struct arena *a)
{
    return r->n < RECORDS_MAX && ARRAY_FITS_IN(a, r->list, r->capacity, r->n + 1) && make_report(f, line, a, &r->list[r->n++]);
}

/* Adds a JSON object, or an array of such: a json_formatter may post each record as one. */
static bool posted_add(struct record_list *r, struct str text, size_t line, struct fields *f, struct arena *a)
{
    struct json *doc;
    if (!text.n || !strchr("{[", text.p[0]) || !str_has(text, "\"check_") || json_parse(&doc, text, NULL, NULL))
        return false;
    bool array = text.p[0] == '[', good = !array || json_first(doc);
    for (const struct json *one = array ? json_first(doc) : doc; one && good; one = array ? json_next(one) : NULL)
        good = posted_record(one, f, a) && records_add(r, f, line, a);
    json_free(doc);
    return good;
}

size_t reframe_records(struct str text, struct arena *a, struct reframe_record **ret)
{
    struct str name[FIELDS_MAX], value[FIELDS_MAX];
    struct fields *f = ARENA_NEW(a, struct fields);
    struct record_list records = {0};
    size_t columns = 0, number = 0, count;
    *ret = NULL;
    text = wrapped_mark_skip(text);
    if (f && str_starts(text, "[") && posted_add(&records, str_trim(text), 1, f, a)) {
        *ret = records.list;
        return records.n;
    }
    records = (struct record_list){0};
    for (struct str rest = text; f && rest.p && rest.n;) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        number++;
        if (!line.n || str_has(line, "|perf_var=perf_value|")) /* the header line of 4.x in the form of 3.x (perflog_compat) */
            continue;
        bool fields = line.n < LINE_MAX_BYTES && split_fields(line, value, FIELDS_MAX, &count);
        if (fields && reframe_is_header(value, count)) { /* also a second one, where logs were joined */
            memcpy(name, value, count * sizeof *name);
            columns = count;
            continue;
        }
        bool record = false;
        if (columns && fields && count == columns) {
            f->n = 0;
            for (size_t i = 0; i < columns; i++)
                field_add(f, name[i], value[i]);
            /* any table may have commas */
            record = (str_has(line, "|") || field_of(f, "display_name").n || field_of(f, "name").n) && records_add(&records, f, number, a);
        } else if (!columns)
            record = posted_add(&records, line, number, f, a) || (old_record(line, f, a) && records_add(&records, f, number, a));
        if (!record)
            return 0;
    }
    *ret = records.list;
    return records.n;
}
