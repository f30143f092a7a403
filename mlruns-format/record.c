/* record.c: what a run is: facts in order of arrival, checked once. */
#include "mlruns-format/record.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/site.h"
#include "base/utf8.h"
#include "mlruns-format/crc32c.h"
#include "mlruns-format/key.h"
#include "mlruns-format/record_index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    VALUE_MAX = 64 * 1024, /* bytes of a param's or tag's value; the tree cuts further (MLflow accepts 6000 and 8000 characters) */
    REASON_MAX = 4000, /* bytes of why something is missing */
    WARNINGS_MAX = 1000, /* warnings of a run, with the one that further ones are left out */
    PATH_MAX_BYTES = 500, /* of an artifact's path: MLflow's URI column and file systems set the bound */
    NAME_MAX_BYTES = 200
};
static const size_t RECORD_MAX = (size_t)512 << 20; /* memory of one record: about four million samples */
static const int64_t TIME_MAX = 253402300799999; /* end of the year 9999 in ms: more is nonsense */

/* Returns a copy of the text that is stored once for all facts; "" for NULL, or out of memory. */
static const char *record_intern(struct record *r, const char *z)
{
    if (!z || !*z)
        return "";
    struct record_entry *e = record_entry_make(r, SPACE_WORD, str_of(z));
    return e ? e->key.p : "";
}

void record_init(struct record *r, const char id[33], int64_t start_ms)
{
    static const char *const own[] = {"benchwrap.json", "manifest.json", "series.jsonl", "series.jsonl.zst"};
    *r = (struct record){.start_ms = start_ms, .status = RUN_RUNNING};
    snprintf(r->id, sizeof r->id, "%s", id);
    arena_init(&r->arena, RECORD_MAX);
    r->index = calloc(1, sizeof *r->index);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) { /* names that tree_build reserves: artifacts of that name get another one */
        struct record_entry *e = record_entry_make(r, SPACE_ARTIFACT, str_of(own[i]));
        if (e)
            e->wanted = STR("/");
    }
}

void record_deinit(struct record *r)
{
    if (r->index)
        free(r->index->slots);
    free(r->index);
    arena_deinit(&r->arena);
    *r = (struct record){.status = RUN_RUNNING};
}

/* Appends the fact and calls the listener. `f` is copied; its texts must live in the arena. */
static const struct fact *record_append(struct record *r, struct fact f)
{
    struct fact *to = ARENA_NEW(&r->arena, struct fact);
    if (!to) {
        if (r->index)
            r->index->lost++;
        return NULL;
    }
    if (f.time_ms <= 0 || f.time_ms > TIME_MAX)
        f.time_ms = clock_wall_ms();
    f.unit = record_intern(r, f.unit);
    f.source = record_intern(r, f.source);
    f.next = NULL;
    *to = f;
    if (r->last)
        r->last->next = to;
    else
        r->first = to;
    r->last = to;
    r->count++;
    if (r->listen)
        r->listen(r->context, to);
    return to;
}

/* Returns whether the key has the words that the user typed, which stay as they are. */
static bool is_command_key(struct str key)
{
    return str_is(key, "benchwrap.command") || str_is(key, "mlflow.source.name");
}

/* Returns whether the fact is the site's name: a public record shows it as its origin, also where a
 * user or a host has the same name. */
static bool is_site_fact(const struct fact *f)
{
    return f->kind == FACT_TAG && str_is(f->key, "site") && site_is_legal(f->text);
}

/* Returns a copy in the arena as plain valid UTF-8 of at most max bytes (*ret_cut: more were
 * there), redacted as the value of that key. p is NULL without memory. */
static struct str record_clean_text(struct record *r, struct str key, struct str s, size_t max, bool *ret_cut)
{
    struct str part = {s.p, utf8_cut(s, max)};
    bool cut = part.n < s.n;
    struct buf b CLEANUP_BUF;
    buf_init(&b, 3 * max);
    if (!str_valid_utf8(part) || (part.n && memchr(part.p, 0, part.n))) {
        buf_utf8(&b, part);
        if (b.failed)
            return (struct str){0};
        part = str_sub(buf_text(&b), 0, utf8_cut(buf_text(&b), max));
        cut = cut || part.n < b.n;
    }
    if (ret_cut)
        *ret_cut = cut;
    char *copy = arena_dup(&r->arena, part.p, part.n);
    if (copy && !is_command_key(key))
        str_make_plain(copy, part.n);
    if (copy && r->redact)
        r->redact(r->redact_context, key, copy, part.n);
    return (struct str){copy, part.n};
}

/* Returns a copy of the name in the arena without secrets; the name itself where there are none. p
 * is NULL without memory. */
static struct str clean_name(struct record *r, struct str name)
{
    char *copy = r->redact_name ? arena_dup(&r->arena, name.p, name.n) : NULL;
    if (!r->redact_name)
        return name;
    if (copy)
        r->redact_name(r->redact_context, copy, name.n);
    return copy && memcmp(copy, name.p, name.n) == 0 ? name : (struct str){copy, name.n};
}

/* Records the warning once, cleaned; where it would be the last of WARNINGS_MAX, a sentence that
 * further ones are left out. Drops it behind that and where memory is used up. `like`: the fact
 * whose time and source it has; NULL: time 0 and r->source. */
static void put_warning(struct record *r, struct str text, const struct fact *like)
{
    if (r->index && r->index->warnings >= WARNINGS_MAX)
        return;
    struct str kept = record_clean_text(r, STR(""), text, VALUE_MAX, NULL);
    if (!kept.p || record_entry_find(r, SPACE_WARNING, kept))
        return; /* recorded before */
    if (r->index && r->index->warnings == WARNINGS_MAX - 1)
        kept = STR("further warnings are not recorded: there are too many");
    struct record_entry *e = record_entry_make(r, SPACE_WARNING, kept);
    if (!e)
        return;
    r->index->warnings++;
    e->fact = record_append(
        r,
        (struct fact){.kind = FACT_WARNING, .text = kept, .time_ms = like ? like->time_ms : 0, .source = like ? like->source : r->source});
}

void record_warning(struct record *r, const char *fmt, ...)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, VALUE_MAX);
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    put_warning(r, buf_text(&b), NULL);
}

/* Records that the key has no value, once for each reason, cleaned. `like`: as for put_warning.
 * Drops it where memory is used up. */
static void put_missing(struct record *r, struct str key, struct str reason, const struct fact *like)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, VALUE_MAX);
    key = clean_name(r, str_sub(key, 0, 4 * KEY_MAX));
    key_make(&b, key);
    size_t n = b.n;
    struct str why = record_clean_text(r, STR(""), reason, REASON_MAX, NULL);
    buf_putc(&b, 0);
    buf_str(&b, why);
    struct record_entry *e = b.failed ? NULL : record_entry_make(r, SPACE_MISSING, buf_text(&b));
    if (!e || e->fact)
        return; /* a sample a second that is not there is one thing missing */
    const char *copy = arena_dup(&r->arena, e->key.p, n);
    if (!copy)
        return;
    e->fact = record_append(r, (struct fact){.kind = FACT_MISSING,
                                             .key = {copy, n},
                                             .text = {e->key.p + n + 1, e->key.n - n - 1},
                                             .time_ms = like ? like->time_ms : 0,
                                             .source = like ? like->source : r->source});
}

void record_missing(struct record *r, const char *key, const char *fmt, ...)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, VALUE_MAX);
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    put_missing(r, str_of(key), buf_text(&b), NULL);
}

/* Returns whether the legal key can be a file: no other key has the name, also not in other case,
 * and it is no folder of another key. */
static bool is_free(const struct record *r, enum space space, struct str key, struct str wanted)
{
    const struct record_entry *e = record_entry_find(r, space, key);
    if (e && (e->folder || !str_eq(e->key, key) || !str_eq(e->wanted, wanted)))
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] == '/' && (e = record_entry_find(r, space, str_sub(key, 0, i))) && (!e->folder || !str_eq(e->key, str_sub(key, 0, i))))
            return false;
    return true;
}

/* Inserts "-" and 8 hex digits of `of` behind the key (before the ending of an artifact's name),
 * staying within the bounds. */
static void add_hash(struct buf *b, enum space space, struct str of)
{
    char ending[24] = "";
    if (b->failed || b->n == 0)
        return;
    const char *slash = memrchr(b->p, '/', b->n), *dot = memrchr(b->p, '.', b->n);
    if (space == SPACE_ARTIFACT && dot && dot > (slash ? slash + 1 : b->p) && (size_t)(b->p + b->n - dot) < sizeof ending) {
        snprintf(ending, sizeof ending, "%s", dot);
        b->n = (size_t)(dot - b->p);
    }
    size_t bound = (space == SPACE_ARTIFACT ? PATH_MAX_BYTES : KEY_MAX) - 9 - strlen(ending);
    if (b->n > bound)
        b->n = bound;
    buf_printf(b, "-%08x%s", crc32c_extend(0, of.p, of.n), ending);
}

/* Notes the folders of a key, so that later keys cannot be files there. */
static void note_folders(struct record *r, enum space space, struct str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] == '/') {
            struct record_entry *e = record_entry_make(r, space, str_sub(key, 0, i));
            if (e)
                e->folder = true;
        }
}

/* Returns whether the name begins with ".git" in any case: some file systems treat ".GIT" as
 * git's own folder. */
static bool begins_as_gits(struct str name)
{
    return str_is_anycase(str_sub(name, 0, 4), ".git");
}

/* Appends an artifact's path, made legal. False if that is not possible: it is absolute, has ".."
 * in it, or is too long. */
static bool make_path(struct buf *to, struct str path)
{
    if (path.n == 0 || path.n > PATH_MAX_BYTES || path.p[0] == '/')
        return false;
    for (struct str rest = path; rest.p;) {
        struct str part = str_cut(&rest, '/');
        if (part.n == 0 || str_is(part, ".") || str_is(part, "..") || part.n > NAME_MAX_BYTES)
            return false;
        if (part.p != path.p)
            buf_putc(to, '/');
        for (size_t i = 0, k; i < part.n; i += k ? k : 1) {
            unsigned char c = (unsigned char)part.p[i];
            k = str_utf8(part.p + i, part.n - i);
            bool c1 = k == 2 && c == 0xc2 && (unsigned char)part.p[i + 1] < 0xa0;
            if (k == 0 || c < 0x20 || c == 0x7f || c1 || strchr("\\:%#?*\"<>|", c) || (c == '.' && i == 0 && begins_as_gits(part)))
                buf_putc(to, '_'); /* % # ? are read as parts of a URI, the rest does not survive a checkout everywhere */
            else
                buf_add(to, part.p + i, k);
        }
    }
    return !to->failed;
}

/* Returns the entry under which `wanted` is kept in the tree; makes it legal and unique, and
 * records a warning once. NULL: refused or no memory. */
static struct record_entry *record_entry_for(struct record *r, enum space space, struct str wanted, const struct fact *like)
{
    static const char *const what[] = {"param", "metric", "tag", "artifact"};
    struct record_entry *e = record_entry_find(r, space, wanted);
    if (e && !e->folder && str_eq(e->key, wanted) && str_eq(e->wanted, wanted))
        return e; /* the common case */
    struct buf alias CLEANUP_BUF, b CLEANUP_BUF;
    buf_init(&alias, VALUE_MAX);
    buf_init(&b, 4 * (size_t)VALUE_MAX);
    buf_putc(&alias, (char)('0' + space));
    buf_str(&alias, str_sub(wanted, 0, VALUE_MAX / 4));
    e = record_entry_find(r, SPACE_WANTED, buf_text(&alias));
    if (e)
        return e->alias;
    struct str named = clean_name(r, wanted);
    bool redacted = named.p != wanted.p;
    wanted = named;
    if (!wanted.p)
        return NULL;
    if (space == SPACE_ARTIFACT ? !make_path(&b, wanted) : key_make(&b, str_sub(wanted, 0, VALUE_MAX / 4)) < 0)
        return NULL;
    if (!is_free(r, space, buf_text(&b), wanted)) {
        for (size_t i = 0; i < b.n && !b.failed; i++) /* "a/b" and a file "a" */
            if (b.p[i] == '/' && space != SPACE_ARTIFACT)
                b.p[i] = '.';
        if (!is_free(r, space, buf_text(&b), wanted))
            add_hash(&b, space, wanted);
        if (!is_free(r, space, buf_text(&b), wanted))
            return NULL;
    }
    bool known = redacted && record_entry_find(r, space, buf_text(&b)); /* another secret became the same name */
    e = b.failed ? NULL : record_entry_make(r, space, buf_text(&b));
    if (!e)
        return NULL;
    note_folders(r, space, e->key);
    const char *copy = str_eq(e->key, wanted) ? e->key.p : arena_dup(&r->arena, wanted.p, wanted.n);
    e->wanted = (struct str){copy, copy ? wanted.n : 0};
    if (space == SPACE_METRIC && !known)
        e->number = r->index->metrics++;
    if (str_eq(e->key, wanted) && !redacted)
        return e;
    struct record_entry *from = record_entry_make(r, SPACE_WANTED, buf_text(&alias));
    if (from)
        from->alias = e;
    if (known)
        return e;
    struct buf said CLEANUP_BUF;
    buf_init(&said, VALUE_MAX);
    buf_printf(&said, "%s \"", what[space]);
    buf_plain(&said, wanted, 100);
    buf_printf(&said, "\" is not a key that can be stored here: kept as \"%.300s\"", e->key.p);
    put_warning(r, buf_text(&said), like);
    return e;
}

static void say_cut(struct record *r, const struct record_entry *e, size_t n, const struct fact *like)
{
    char text[400];
    snprintf(text, sizeof text, "the value of %.250s has %zu bytes: cut to %d", e->key.p, n, VALUE_MAX);
    put_warning(r, str_of(text), like);
}

/* Records a param or a tag, cleaned and cut to VALUE_MAX. The first value of a param stays; another
 * one becomes a warning. The last value of a tag counts. Adds to r->index->lost what is refused, or
 * has no memory for its text. */
static void record_put_text(struct record *r, const struct fact *f)
{
    bool param = f->kind == FACT_PARAM, cut;
    struct record_entry *e = record_entry_for(r, param ? SPACE_PARAM : SPACE_TAG, f->key, f);
    struct str value = {0};
    if (e && is_site_fact(f)) {
        struct str copy = {arena_dup(&r->arena, f->text.p, f->text.n), f->text.n};
        cut = false;
        value = copy.p ? clean_name(r, copy) : copy;
    } else if (e)
        value = record_clean_text(r, f->key, f->text, VALUE_MAX, &cut);
    if (!value.p) {
        if (r->index)
            r->index->lost++;
        return;
    }
    if (e->fact && str_eq(e->fact->text, value))
        return;
    if (cut)
        say_cut(r, e, f->text.n, f);
    if (param && e->fact) {
        struct buf said CLEANUP_BUF;
        buf_init(&said, VALUE_MAX);
        buf_printf(&said, "param %s is \"", e->key.p);
        buf_plain(&said, e->fact->text, 100);
        buf_puts(&said, "\" and stays so; \"");
        buf_plain(&said, value, 100);
        buf_printf(&said, "\"%s%s came later", f->source && *f->source ? " from " : "", f->source ? f->source : "");
        put_warning(r, buf_text(&said), f);
        return;
    }
    struct fact kept = *f;
    kept.key = e->key;
    kept.text = value;
    const struct fact *at = record_append(r, kept);
    if (at)
        e->fact = at;
}

/* Records a sample of a metric. Adds to r->index->lost what record_entry_for refuses. */
static void record_put_metric(struct record *r, const struct fact *f)
{
    struct record_entry *e = record_entry_for(r, SPACE_METRIC, f->key, f);
    if (!e) {
        if (r->index)
            r->index->lost++;
        return;
    }
    struct fact kept = *f;
    kept.key = e->key;
    kept.text = STR(""); /* not the caller's memory */
    if (kept.time_ms <= 0 || kept.time_ms > TIME_MAX)
        kept.time_ms = clock_wall_ms();
    if (e->count && kept.time_ms <= e->last_ms)
        kept.time_ms = e->last_ms + 1; /* never two equal samples: time stamps of a key strictly increase */
    const struct fact *at = record_append(r, kept);
    if (at) {
        e->last_ms = at->time_ms;
        e->fact = at;
        e->count++;
    }
}

/* Returns whether the file stays below the spool directory: the path is relative, without "..". */
static bool safe_file(struct str file)
{
    if (file.n == 0 || file.n > 4000 || file.p[0] == '/' || memchr(file.p, 0, file.n) ||
        !str_valid_utf8(file)) /* the journal holds UTF-8 */
        return false;
    while (file.p)
        if (str_is(str_cut(&file, '/'), ".."))
            return false;
    return true;
}

/* Records an artifact, f->text being its file in the spool; of several with one name the last
 * counts. A path that is not legal becomes a warning. */
static void put_artifact(struct record *r, const struct fact *f)
{
    struct record_entry *e = safe_file(f->text) ? record_entry_for(r, SPACE_ARTIFACT, f->key, f) : NULL;
    if (!e) {
        struct buf said CLEANUP_BUF;
        buf_init(&said, VALUE_MAX);
        buf_puts(&said, "artifact \"");
        buf_plain(&said, f->key, 200);
        buf_puts(&said, "\" is not taken: its path must be relative, without \"..\", and short");
        put_warning(r, buf_text(&said), f);
        return;
    }
    if (e->fact && str_eq(e->fact->text, f->text))
        return;
    struct fact kept = *f;
    kept.key = e->key;
    kept.text = (struct str){arena_dup(&r->arena, f->text.p, f->text.n), f->text.n};
    const struct fact *at = kept.text.p ? record_append(r, kept) : NULL;
    if (at)
        e->fact = at; /* the last file of that name wins */
}

void record_fact(struct record *r, const struct fact *f)
{
    switch (f->kind) {
    case FACT_PARAM:
    case FACT_TAG: record_put_text(r, f); return;
    case FACT_METRIC:
        if (isinf(f->value)) /* an infinity in a tree makes MLflow's run page unusable */
            put_missing(r, f->key, f->value > 0 ? STR("the value is infinite") : STR("the value is minus infinite"), f);
        else
            record_put_metric(r, f);
        return;
    case FACT_ARTIFACT: put_artifact(r, f); return;
    case FACT_MISSING: put_missing(r, f->key, f->text, f); return;
    case FACT_WARNING: put_warning(r, f->text, f); return;
    }
}

void record_param(struct record *r, const char *key, struct str value)
{
    record_fact(r, &(struct fact){.kind = FACT_PARAM, .key = str_of(key), .text = value, .source = r->source});
}

void record_tag(struct record *r, const char *key, struct str value)
{
    record_fact(r, &(struct fact){.kind = FACT_TAG, .key = str_of(key), .text = value, .source = r->source});
}

void record_metric(struct record *r, const char *key, double value, const char *unit, enum direction dir, int64_t step, int64_t time_ms)
{
    struct fact f = {.kind = FACT_METRIC,
                     .key = str_of(key),
                     .value = value,
                     .unit = unit,
                     .direction = dir,
                     .step = step,
                     .time_ms = time_ms,
                     .source = r->source};
    if (isnan(value))
        put_missing(r, f.key, STR("the value is not a number"), &f);
    else
        record_fact(r, &f);
}

void record_metric_nan(struct record *r, const char *key, int64_t step, int64_t time_ms)
{
    record_fact(
        r, &(struct fact){.kind = FACT_METRIC, .key = str_of(key), .value = NAN, .step = step, .time_ms = time_ms, .source = r->source});
}

void record_artifact(struct record *r, const char *path, const char *file)
{
    record_fact(r, &(struct fact){.kind = FACT_ARTIFACT, .key = str_of(path), .text = str_of(file), .source = r->source});
}

void record_param_int(struct record *r, const char *key, int64_t value)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    record_param(r, key, (struct str){text, (size_t)n});
}

void record_param_double(struct record *r, const char *key, double value)
{
    if (!isfinite(value)) {
        record_missing(r, key, "the value is %s", isnan(value) ? "not a number" : "infinite");
        return;
    }
    struct buf b CLEANUP_BUF;
    buf_init(&b, 64);
    buf_double(&b, value);
    record_param(r, key, buf_text(&b));
}
