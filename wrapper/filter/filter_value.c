/* filter_value.c: single facts of a run: the file of a metric, param or tag, or an entry of its
 * meta.yaml. */
#include "filter/filter_parts.h"

#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_FILE_MAX = 1 << 20, SERIES_FILE_MAX = 256 << 20, ENVIRONMENT_FILE_MAX = 4 << 20 };

/* Returns whether a key is the path of a file below its folder. MLflow knows no key that is not
 * such a path, so that no file elsewhere is ever read. */
static bool is_file_key(const char *name)
{
    for (const char *part = name;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.'))))
            return false;
        part += n;
        if (!*part)
            return true;
    }
}

/* Reads the file into the buffer. Returns 1; 0: there is none, or it cannot be read, and
 * *ret_problem states why. */
static int read_value_file(const struct folder *tree, const struct tree_run *run, const char *folder, const char *name, size_t max,
                           struct buf *to, struct arena *a, const char **ret_problem)
{
    char path[1024];
    buf_clear(to);
    if (!is_file_key(name) || (size_t)snprintf(path, sizeof path, "%s/%s/%s", tree_run_path(run), folder, name) >= sizeof path)
        return 0;
    if (folder_read(tree, path, max, to) == 0)
        return 1;
    if (errno != ENOENT && errno != ENOTDIR && errno != EISDIR && errno != ENAMETOOLONG) {
        const char *why = arena_printf(a, "%s/%s cannot be read: %s", folder, name, err_words(errno));
        *ret_problem = why ? why : "out of memory";
    }
    return 0;
}

/* Returns the latest value of the metric; FILTER_MISSING: there is none, or it is damaged, and
 * *ret_problem states why. */
static struct filter_value read_metric(const char *name, const struct folder *tree, const struct tree_run *run, struct buf *text,
                                       struct arena *a, const char **ret_problem)
{
    struct tree_sample latest;
    size_t line;
    if (!read_value_file(tree, run, "metrics", name, SERIES_FILE_MAX, text, a, ret_problem))
        return (struct filter_value){.is = FILTER_MISSING};
    int rc = tree_latest_sample(buf_text(text), &latest, &line);
    if (rc == 0)
        return (struct filter_value){.is = FILTER_NUMBER, .number = latest.value};
    const char *why = arena_printf(a, "metrics/%s:%zu is not a sample", name, line);
    *ret_problem = why ? why : "out of memory";
    return (struct filter_value){.is = FILTER_MISSING};
}

static struct filter_value read_text_fact(const char *folder, const char *name, const struct folder *tree, const struct tree_run *run,
                                          struct buf *text, struct arena *a, const char **ret_problem)
{
    if (!read_value_file(tree, run, folder, name, VALUE_FILE_MAX, text, a, ret_problem))
        return (struct filter_value){.is = FILTER_MISSING};
    return (struct filter_value){.is = FILTER_TEXT, .text = {text->p ? text->p : "", text->n}};
}

/* ---- variables ---- */

/* Returns the value of a line: as it is, or decoded from JSON where it has escapes. The text is
 * moved to the front of the buffer. */
static struct filter_value variable_value(struct buf *text, struct str value, struct arena *a)
{
    struct json *doc = NULL;
    struct err ignored = {0};
    struct str plain = value;
    if (value.n >= 2 && value.p[0] == '"' && memchr(value.p, '\\', value.n) && json_parse(&doc, value, NULL, &ignored) == 0) {
        const char *decoded = json_string(doc, NULL), *copy = decoded ? arena_dup(a, decoded, strlen(decoded)) : NULL;
        plain = copy ? str_of(copy) : value;
        json_free(doc);
    }
    memmove(text->p, plain.p, plain.n);
    text->p[plain.n] = 0;
    text->n = plain.n;
    return (struct filter_value){.is = FILTER_TEXT, .text = buf_text(text)};
}

/* Returns the value of an environment variable from the run's stored environment, else the job's;
 * FILTER_MISSING: neither has it. */
static struct filter_value read_variable(const char *name, const struct folder *tree, const struct tree_run *run, struct buf *text,
                                         struct arena *a, const char **ret_problem)
{
    static const char *const files[] = {"environment.txt", "job/environment.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!read_value_file(tree, run, "artifacts", files[i], ENVIRONMENT_FILE_MAX, text, a, ret_problem))
            continue;
        for (struct str rest = buf_text(text); rest.p;) {
            struct str value = str_cut(&rest, '\n'), key = str_cut(&value, '=');
            if (value.p && str_is(key, name))
                return variable_value(text, value, a);
        }
    }
    return (struct filter_value){.is = FILTER_MISSING};
}

/* Returns a tag, as annotations leave it. */
static struct filter_value read_tag_fact(const char *name, const struct folder *tree, const struct tree_run *run, struct buf *text,
                                         struct arena *a, const char **ret_problem)
{
    const struct tree_entry *annotated = tree_annotated_tag(run, name);
    if (!annotated)
        return read_text_fact("tags", name, tree, run, text, a, ret_problem);
    return annotated->value.p ? (struct filter_value){.is = FILTER_TEXT, .text = annotated->value}
                              : (struct filter_value){.is = FILTER_MISSING};
}

static struct filter_value text_value(const char *text)
{
    return (struct filter_value){.is = FILTER_TEXT, .text = str_of(text)};
}

static struct filter_value time_value(int64_t ms)
{
    return ms ? (struct filter_value){.is = FILTER_INTEGER, .integer = ms} : (struct filter_value){.is = FILTER_MISSING};
}

/* Returns an attribute of the run. FILTER_MISSING: it has none. *ret_problem: why a tag cannot be
 * read, else unchanged. */
static struct filter_value read_attribute(enum filter_attribute attribute, const struct folder *tree, const struct tree_run *run,
                                          struct buf *text, struct arena *a, const char **ret_problem)
{
    switch (attribute) {
    case FILTER_RUN_ID: return text_value(run->id);
    case FILTER_RUN_NAME:
        if (!*run->name) {
            struct filter_value tag = read_tag_fact("mlflow.runName", tree, run, text, a, ret_problem);
            if (tag.is == FILTER_TEXT)
                return tag;
        }
        return text_value(run->name);
    case FILTER_USER_ID: return text_value(run->user);
    case FILTER_STATUS: return text_value((int)run->status == 2 ? "SCHEDULED" : record_status_name(run->status));
    case FILTER_ARTIFACT_URI: return text_value(run->artifact_uri);
    case FILTER_START_TIME: return time_value(run->start_ms);
    case FILTER_END_TIME: return time_value(run->end_ms);
    case FILTER_EXPERIMENT: return text_value(run->experiment);
    case FILTER_EXPERIMENT_ID: return (struct filter_value){.is = FILTER_INTEGER, .integer = (int64_t)run->experiment_id};
    }
    return (struct filter_value){.is = FILTER_MISSING};
}

struct filter_value filter_value_read(const struct filter_key *key, const struct folder *tree, const struct tree_run *run, struct buf *text,
                                      struct arena *a, const char **ret_problem)
{
    switch (key->kind) {
    case FILTER_METRIC: return read_metric(key->name, tree, run, text, a, ret_problem);
    case FILTER_PARAM: return read_text_fact("params", key->name, tree, run, text, a, ret_problem);
    case FILTER_TAG: return read_tag_fact(key->name, tree, run, text, a, ret_problem);
    case FILTER_ATTRIBUTE: return read_attribute(key->attribute, tree, run, text, a, ret_problem);
    case FILTER_ENVIRONMENT: return read_variable(key->name, tree, run, text, a, ret_problem);
    case FILTER_DATASET: break;
    }
    return (struct filter_value){.is = FILTER_MISSING};
}

/* Returns the rank: known values, then NaN, then what is missing. */
static int value_rank(const struct filter_value *v)
{
    return v->is == FILTER_MISSING ? 2 : v->is == FILTER_NUMBER && isnan(v->number) ? 1 : 0;
}

int filter_value_order(const struct filter_value *x, const struct filter_value *y, bool descending)
{
    int rank = value_rank(x) - value_rank(y), order = 0;
    if (rank || value_rank(x))
        return rank;
    if (x->is == FILTER_TEXT && y->is == FILTER_TEXT)
        order = str_cmp(x->text, y->text);
    else if (x->is == FILTER_INTEGER && y->is == FILTER_INTEGER)
        order = x->integer < y->integer ? -1 : x->integer > y->integer;
    else
        order = x->number < y->number ? -1 : x->number > y->number;
    return descending ? -order : order;
}
