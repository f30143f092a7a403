/* filter_key.c: which fact of a run a key names; the nearest name where it names none. */
#include "filter/filter_parts.h"

#include <string.h>

static const struct {
    const char *word;
    enum filter_kind kind;
} key_kinds[] = {
    {"metrics", FILTER_METRIC},       {"metric", FILTER_METRIC},       {"params", FILTER_PARAM},    {"param", FILTER_PARAM},
    {"parameters", FILTER_PARAM},     {"parameter", FILTER_PARAM},     {"tags", FILTER_TAG},        {"tag", FILTER_TAG},
    {"attributes", FILTER_ATTRIBUTE}, {"attribute", FILTER_ATTRIBUTE}, {"attr", FILTER_ATTRIBUTE},  {"run", FILTER_ATTRIBUTE},
    {"dataset", FILTER_DATASET},      {"datasets", FILTER_DATASET},    {"env", FILTER_ENVIRONMENT},
};

static const struct {
    const char *word;
    enum filter_attribute attribute;
    bool order; /* order_by has it, too */
} key_attributes[] = {
    {"run_id", FILTER_RUN_ID, true},
    {"run_name", FILTER_RUN_NAME, true},
    {"status", FILTER_STATUS, true},
    {"start_time", FILTER_START_TIME, true},
    {"end_time", FILTER_END_TIME, true},
    {"user_id", FILTER_USER_ID, true},
    {"artifact_uri", FILTER_ARTIFACT_URI, true},
    {"created", FILTER_START_TIME, true},
    {"Created", FILTER_START_TIME, true},
    {"run name", FILTER_RUN_NAME, false},
    {"Run name", FILTER_RUN_NAME, false},
    {"Run Name", FILTER_RUN_NAME, false},
};
enum { KINDS = sizeof key_kinds / sizeof *key_kinds, ATTRIBUTES = sizeof key_attributes / sizeof *key_attributes };

static bool is_in_quotes(struct str s, char quote)
{
    return s.n >= 2 && s.p[0] == quote && s.p[s.n - 1] == quote;
}

static struct str strip_backticks(struct str s)
{
    return is_in_quotes(s, '`') ? str_sub(s, 1, s.n - 2) : s;
}

/* Returns the key without quotes as MLflow's client: one pair of quotes, then one of backticks;
 * nothing inside is an escape. */
static struct str strip_key_quotes(struct str s)
{
    if (is_in_quotes(s, '\'') || is_in_quotes(s, '"'))
        s = str_sub(s, 1, s.n - 2);
    return strip_backticks(s);
}

/* Sets the error for an unknown kind of key, with the nearest known one. Returns -1. */
static int refuse_kind(const struct filter_scan *s, size_t at, struct str word)
{
    const char *near = NULL;
    unsigned least = 4;
    for (size_t i = 0; i < KINDS; i++) {
        unsigned d = str_distance(word, str_of(key_kinds[i].word));
        if (d < least)
            least = d, near = key_kinds[i].word;
    }
    return filter_scan_refuse(s, at, "expected metrics, params, tags, attributes, dataset or env before the dot, got \"%.*s\"%s%s%s",
                              (int)(word.n < 40 ? word.n : 40), word.p, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Sets the error for an unknown attribute: with the nearest one, else how keys are written. Returns
 * -1. */
static int refuse_attribute(const struct filter_scan *s, size_t at, struct str word)
{
    const char *near = NULL;
    unsigned least = word.n < 6 ? 2 : 4; /* of a short word most letters must fit */
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        unsigned d = str_distance(word, str_of(key_attributes[i].word));
        if (d < least)
            least = d, near = key_attributes[i].word;
    }
    if (near)
        return filter_scan_refuse(s, at, "no attribute is called \"%.*s\"; did you mean %s?", (int)(word.n < 40 ? word.n : 40), word.p,
                                  near);
    return filter_scan_refuse(s, at,
                              "no attribute is called \"%.*s\": write metrics.%.*s, params.%.*s or tags.%.*s; "
                              "attributes are run_id, run_name, status, start_time, end_time, user_id, artifact_uri",
                              (int)(word.n < 40 ? word.n : 40), word.p, (int)(word.n < 40 ? word.n : 40), word.p,
                              (int)(word.n < 40 ? word.n : 40), word.p, (int)(word.n < 40 ? word.n : 40), word.p);
}

static int key_find_attribute(const struct filter_scan *s, size_t at, struct str word, bool order, struct filter_key *ret)
{
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (str_is(word, key_attributes[i].word) && (!order || key_attributes[i].order)) {
            ret->kind = FILTER_ATTRIBUTE;
            ret->attribute = key_attributes[i].attribute;
            ret->name = key_attributes[i].word;
            return 0;
        }
    return refuse_attribute(s, at, word);
}

int filter_key_of(const struct filter_scan *s, struct str raw, size_t at, bool order, struct filter_key *ret)
{
    const char *dot = raw.n ? memchr(raw.p, '.', raw.n) : NULL;
    size_t i = 0, n = dot ? (size_t)(dot - raw.p) : 0;
    struct str word = strip_backticks(str_sub(raw, 0, n));
    *ret = (struct filter_key){0};
    if (!dot)
        return key_find_attribute(s, at, strip_key_quotes(raw), order, ret);
    struct str key = strip_key_quotes(str_sub(raw, n + 1, raw.n));
    while (i < KINDS && !str_is(word, key_kinds[i].word))
        i++;
    if (i == KINDS)
        return refuse_kind(s, at, word);
    ret->kind = key_kinds[i].kind;
    if (ret->kind == FILTER_ATTRIBUTE)
        return key_find_attribute(s, at, key, order, ret);
    if (ret->kind == FILTER_DATASET && !str_is(key, "name") && !str_is(key, "digest") && !str_is(key, "context"))
        return filter_scan_refuse(s, at, "expected dataset.name, dataset.digest or dataset.context");
    ret->name = arena_dup(s->a, key.p, key.n);
    return ret->name ? 0 : err_memory(s->err, "the filter");
}

/* ---- shown ---- */

/* Returns whether a filter needs quotes around the name of a key. */
static bool needs_quotes(const char *name)
{
    struct filter_scan s = {.text = {"", 0}};
    struct filter_key ignored;
    struct str raw;
    struct err err = {0};
    struct arena a;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    buf_printf(&b, "params.%s", name);
    arena_init(&a, 0);
    s = (struct filter_scan){.text = buf_text(&b), .a = &a, .option = "", .err = &err};
    bool plain = !b.failed && !strpbrk(name, "`'\"") && filter_scan_key(&s, &ignored, &raw) == 0 && s.at == s.text.n;
    arena_deinit(&a);
    return !plain;
}

void filter_key_show(struct buf *to, const struct filter_key *key)
{
    static const char *const words[] = {[FILTER_METRIC] = "metrics.", [FILTER_PARAM] = "params.",    [FILTER_TAG] = "tags.",
                                        [FILTER_ATTRIBUTE] = "",      [FILTER_DATASET] = "dataset.", [FILTER_ENVIRONMENT] = "env."};
    bool is_free = key->kind <= FILTER_TAG || key->kind == FILTER_ENVIRONMENT;
    const char *quote = is_free && needs_quotes(key->name) ? strchr(key->name, '`') ? "\"" : "`" : "";
    buf_printf(to, "%s%s%s%s", words[key->kind], quote, key->name, quote);
}

/* ---- order ---- */

int filter_parse_order(const char *text, const char *option, struct arena *a, struct filter_key *ret, bool *ret_descending, struct err *err)
{
    struct filter_scan s = {.text = str_trim(str_of(text)), .a = a, .option = option, .err = err};
    struct str raw;
    if (filter_scan_key(&s, ret, &raw) < 0 || filter_key_of(&s, raw, 0, true, ret) < 0)
        return -1;
    if (ret->kind == FILTER_DATASET)
        return filter_scan_refuse(&s, 0, "runs have no order by dataset");
    filter_scan_blanks(&s);
    *ret_descending = filter_scan_word(&s, "desc");
    if (!*ret_descending)
        filter_scan_word(&s, "asc");
    if (s.at < s.text.n)
        return filter_scan_refuse(&s, s.at, "expected ASC, DESC or nothing behind the key");
    return 0;
}
