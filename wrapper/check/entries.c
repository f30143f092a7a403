/* entries.c: check files of params/, tags/ and metrics/: would MLflow's file store read their names
 * and contents as benchwrap does? */
#include "check/parts.h"
#include "base/array.h"
#include "base/utf8.h"

#include "mlruns-format/key.h"

#include <math.h>

enum { PARAM_CHARS = 6000, TAG_CHARS = 8000, LINES_MAX = 1000, COMPLAINTS_MAX = 3 /* of one file */ };

/* Appends a copy of the entry, in the run's arena. The pointer is valid until the next call. NULL:
 * out of memory, and the entry is not there. */
static struct check_entry *check_add_entry(struct run_check *r, char kind, const char *key, struct str value)
{
    const char *own_key = arena_dup(&r->a, key, strlen(key)), *copy = arena_dup(&r->a, value.p ? value.p : "", value.n);
    if (!own_key || !copy || !ARRAY_FITS_IN(&r->a, r->entries, r->entry_room, r->entry_count + 1))
        return NULL;
    struct check_entry *e = &r->entries[r->entry_count++];
    *e = (struct check_entry){.kind = kind, .key = own_key, .value = {copy, value.n}};
    return e;
}

static void check_key(struct run_check *r, const char *key, const char *file)
{
    if (!key_legal(str_of(key)))
        run_found(r, CHECK_KEY, file, 0, "the key is not one of the format's");
}

/* Returns whether the tag is a command that a user typed, which may hold any character. */
static bool is_typed_command_key(const char *key)
{
    return strcmp(key, "benchwrap.command") == 0 || strcmp(key, "mlflow.source.name") == 0;
}

void check_text_entry(struct run_check *r, char kind, const char *key, const char *file, struct str text)
{
    size_t n = utf8_count(text), most = kind == 'p' ? PARAM_CHARS : TAG_CHARS;
    check_key(r, key, file);
    check_add_entry(r, kind, key, text);
    if (!str_valid_utf8(text) || (text.n && memchr(text.p, 0, text.n))) {
        run_found(r, CHECK_VALUE, file, 0, "the value is not UTF-8, or holds a NUL");
        return;
    }
    if (!str_is_plain(text))
        run_found(r, is_typed_command_key(key) ? CHECK_VALUE_ODD : CHECK_VALUE, file, 0,
                  "the value holds control characters, or such as change the direction of writing");
    if (n > most)
        run_found(r, CHECK_VALUE, file, 0, "the value has %zu characters; MLflow accepts %zu", n, most);
}

static bool is_whole_number(struct str s)
{
    size_t i = s.n && s.p[0] == '-';
    if (s.n == i || s.n > 19)
        return false;
    for (; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

/* Reads a number as benchwrap writes it. Python reads more forms (1_0, inf, blanks): they are errors. */
static bool parse_entry_value(struct str s, double *ret)
{
    if (str_is(s, "nan")) {
        *ret = NAN;
        return true;
    }
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("0123456789.eE+-", s.p[i]) || !s.p[i])
            return false;
    return s.n && s.n < 40 && str_double(s, ret) && isfinite(*ret);
}

/* Reads "<ms> <value> <step>". NULL; else what is wrong with the line. before: the sample of the
 * line before, may be NULL. */
static const char *parse_entry_sample(struct str line, const struct check_sample *before, struct check_sample *ret)
{
    struct str rest = line, time = str_cut(&rest, ' '), value = rest.p ? str_cut(&rest, ' ') : (struct str){"", 0},
               step = rest.p ? rest : (struct str){"", 0};
    if (!line.n)
        return "is blank";
    if (!is_whole_number(time) || !str_int(time, &ret->time_ms) || ret->time_ms < 0)
        return "does not begin with a time in ms";
    if (!parse_entry_value(value, &ret->value))
        return "has no finite number, or one that readers do not agree on";
    if (!is_whole_number(step) || !str_int(step, &ret->step))
        return "does not end in a step, or has more or fewer than three fields";
    if (before && ret->time_ms <= before->time_ms)
        return "is not later than the one before";
    ret->text = value;
    return NULL;
}

void check_metric_entry(struct run_check *r, const char *key, const char *file, struct str text)
{
    size_t lines = 0, bad = 0, n = 0;
    unsigned number = 0;
    check_key(r, key, file);
    struct check_entry *e = check_add_entry(r, 'm', key, text);
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    if (!text.n)
        run_found(r, CHECK_METRIC, file, 0, "the file is empty");
    else if (text.p[text.n - 1] != '\n')
        run_found(r, CHECK_METRIC, file, (unsigned)lines + 1, "the last line does not end");
    if (lines > LINES_MAX)
        run_found(r, CHECK_METRIC, file, 0, "the file has %zu lines, more than %d", lines, LINES_MAX);
    struct check_sample *samples = e && lines <= LINES_MAX ? arena_get(&r->a, (lines + 1) * sizeof *samples) : NULL;
    for (struct str rest = e ? e->value : (struct str){0}; samples && rest.n && bad < COMPLAINTS_MAX;) {
        const char *why = parse_entry_sample(str_cut(&rest, '\n'), n ? &samples[n - 1] : NULL, &samples[n]);
        number++;
        if (why)
            run_found(r, CHECK_METRIC, file, number, "line %u %s", number, why);
        bad += why != NULL;
        n += !why;
    }
    if (samples) {
        e->samples = samples;
        e->count = n;
    }
}
