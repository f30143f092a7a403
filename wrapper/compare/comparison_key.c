/* comparison_key.c: decide which results can be compared: what was measured, on which system, by which version and program. */
#include "compare/comparison_key.h"

#include "base/json_out.h"
#include "base/sha256.h"
#include "base/shell_word.h"
#include "benchmarks/reference_parts.h"
#include "compare/argument_list.h"
#include "mlruns-format/shape.h"

#include <stdlib.h>
#include <string.h>

const char *comparison_part_name(enum comparison_part part)
{
    static const char *const names[COMPARISON_PARTS] = {"measured", "system", "version", "program"};
    return names[part];
}

void comparison_open(struct comparison_reader *ret, const struct runs *runs, const struct rules *rules, const struct opt_value *ignore)
{
    arguments_open(&ret->arguments, runs);
    ret->arguments.shared_rules = rules;
    ret->ignore = ret->arguments.ignore = ignore;
}

void comparison_close(struct comparison_reader *reader)
{
    arguments_close(&reader->arguments);
}

/* ---- the facts ---- */

struct key_building {
    const struct comparison_reader *reader;
    struct comparison_fact *facts;
    size_t count, capacity;
};

static enum comparison_part part_of_param(const char *key)
{
    return strcmp(key, "node.type") == 0 || strcmp(key, "job.partition") == 0 ? COMPARISON_SYSTEM : COMPARISON_MEASURED;
}

static bool is_key_ignored(const struct comparison_reader *reader, const char *name)
{
    for (const struct opt_value *v = reader->ignore; v && v->text; v = v->next)
        if (reference_fits(str_of(v->text), str_of(name)))
            return true;
    return false;
}

static void add_key_fact(struct key_building *b, enum comparison_part part, const char *name, struct str value)
{
    if (b->count < b->capacity && !is_key_ignored(b->reader, name))
        b->facts[b->count++] = (struct comparison_fact){part, name, value};
}

static void add_key_tag(struct key_building *b, const struct tree_run *run, enum comparison_part part, const char *name)
{
    const struct tree_entry *e = runs_entry(run->tags, name);
    if (e)
        add_key_fact(b, part, name, e->value);
}

/* Adds the param to the key. The launch's shape is job.* in older runs, and gets the key of newer
 * ones. */
static void add_key_param(struct key_building *b, const struct tree_entry *e)
{
    struct shape_keys shape = shape_keys_of(str_of(e->key));
    add_key_fact(b, part_of_param(e->key), shape.step ? shape.step : e->key, e->value);
}

/* Returns the rank: the benchmark first, what only the command line names last. */
static int fact_rank(const char *name)
{
    return strcmp(name, "benchmark") == 0 ? 0 : strncmp(name, "argument.", strlen("argument.")) == 0 ? 2 : 1;
}

/* Orders facts by part, then by the rank of their name, then by name. */
static int by_part_and_name(const void *a, const void *b)
{
    const struct comparison_fact *x = a, *y = b;
    int rank = x->part != y->part ? (int)x->part - (int)y->part : fact_rank(x->name) - fact_rank(y->name);
    return rank ? rank : strcmp(x->name, y->name);
}

/* Sets the id of one part of the key from names and values of its facts, in their order. A
 * measurement whose command line is not known gets another id. */
static void hash_key_part(struct comparison_key *key, enum comparison_part part)
{
    struct sha256 s;
    char hex[SHA256_HEX];
    sha256_init(&s);
    if (part == COMPARISON_MEASURED && !key->arguments_known)
        sha256_add(&s, "?", 1);
    for (size_t i = 0; i < key->count; i++) {
        const struct comparison_fact *f = &key->facts[i];
        if (f->part != part)
            continue;
        sha256_add(&s, f->name, strlen(f->name) + 1);
        sha256_add(&s, &f->value.n, sizeof f->value.n);
        sha256_add(&s, f->value.p, f->value.n);
    }
    sha256_end(&s, hex);
    memcpy(key->id[part], hex, COMPARISON_ID - 1);
    key->id[part][COMPARISON_ID - 1] = 0;
}

int comparison_key_of(struct comparison_reader *reader, const struct tree_run *run, const struct json *detail, struct arena *a,
                      struct comparison_key *ret, struct err *err)
{
    enum { TAGS = 4 };
    struct key_building b = {.reader = reader, .capacity = TAGS};
    const struct tree_entry *arguments = arguments_params(&reader->arguments, run, detail, a);
    for (const struct tree_entry *e = run->params; e; e = e->next)
        b.capacity++;
    for (const struct tree_entry *e = arguments; e; e = e->next)
        b.capacity++;
    b.facts = arena_get(a, b.capacity * sizeof *b.facts);
    if (!b.facts)
        return err_memory(err, "the comparison key");
    add_key_tag(&b, run, COMPARISON_MEASURED, "benchmark");
    add_key_tag(&b, run, COMPARISON_VERSION, "benchmark.version");
    add_key_tag(&b, run, COMPARISON_SYSTEM, "site");
    add_key_tag(&b, run, COMPARISON_SYSTEM, "cluster");
    for (const struct tree_entry *e = run->params; e; e = e->next)
        if (inputs_matter(e->key, inputs_source(detail, e->key), NULL) && !inputs_superseded(run->params, e->key))
            add_key_param(&b, e);
    /* a benchmark's name identifies what was measured, also at sites whose program has another name */
    bool named = runs_entry(run->tags, "benchmark") != NULL;
    for (const struct tree_entry *e = arguments; e; e = e->next)
        add_key_fact(&b, named && strcmp(e->key, "program") == 0 ? COMPARISON_PROGRAM : COMPARISON_MEASURED, e->key, e->value);
    if (b.count)
        qsort(b.facts, b.count, sizeof *b.facts, by_part_and_name);
    *ret = (struct comparison_key){
        .facts = b.facts, .count = b.count, .arguments_known = arguments != NULL, .hidden = arguments_hidden(run, detail, a)};
    for (enum comparison_part part = 0; part < COMPARISON_PARTS; part++)
        hash_key_part(ret, part);
    return a->failed ? err_memory(err, "the comparison key") : 0;
}

/* ---- comparing ---- */

bool comparison_key_same(const struct comparison_key *x, const struct comparison_key *y, enum comparison_part part)
{
    return strcmp(x->id[part], y->id[part]) == 0;
}

bool comparison_key_shared(const struct comparison_key *x, const struct comparison_key *y)
{
    return comparison_key_same(x, y, COMPARISON_MEASURED) && comparison_key_same(x, y, COMPARISON_SYSTEM) &&
           comparison_key_same(x, y, COMPARISON_PROGRAM);
}

static const struct comparison_fact *find_key_fact(const struct comparison_key *key, const char *name)
{
    for (size_t i = 0; i < key->count; i++)
        if (strcmp(key->facts[i].name, name) == 0)
            return &key->facts[i];
    return NULL;
}

struct str comparison_key_value(const struct comparison_key *key, const char *name)
{
    const struct comparison_fact *f = find_key_fact(key, name);
    return f ? f->value : (struct str){NULL, 0};
}

static bool has_key_fact(const struct comparison_key *key, const struct comparison_fact *fact)
{
    for (size_t i = 0; i < key->count; i++) {
        const struct comparison_fact *f = &key->facts[i];
        if (f->part == fact->part && strcmp(f->name, fact->name) == 0)
            return str_eq(f->value, fact->value);
    }
    return false;
}

static bool differs_in(const struct comparison_key *keys, size_t n, const struct comparison_fact *fact)
{
    for (size_t i = 0; i < n; i++)
        if (!has_key_fact(&keys[i], fact))
            return true;
    return false;
}

static int by_fact_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **comparison_key_difference(const struct comparison_key *keys, size_t n, enum comparison_part part, struct arena *a)
{
    size_t most = 1, count = 0;
    for (size_t i = 0; i < n; i++)
        most += keys[i].count;
    const char **names = arena_get(a, most * sizeof *names);
    if (!names)
        return NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < keys[i].count; k++) {
            const struct comparison_fact *f = &keys[i].facts[k];
            bool is_new = f->part == part;
            for (size_t m = 0; m < count && is_new; m++)
                is_new = strcmp(names[m], f->name) != 0;
            if (is_new && differs_in(keys, n, f))
                names[count++] = f->name;
        }
    if (count)
        qsort(names, count, sizeof *names, by_fact_name);
    names[count] = NULL;
    argument_drop_order(names);
    return names;
}

const char **comparison_key_separating(const struct comparison_key pair[2], struct arena *a)
{
    const char **measured = comparison_key_difference(pair, 2, COMPARISON_MEASURED, a),
               **program = comparison_key_difference(pair, 2, COMPARISON_PROGRAM, a);
    size_t n = 0, more = 0;
    while (measured && measured[n])
        n++;
    while (program && program[more])
        more++;
    const char **names = measured && program ? arena_get(a, (n + more + 2) * sizeof *names) : NULL;
    if (!names)
        return NULL;
    memcpy(names, measured, n * sizeof *names);
    memcpy(names + n, program, (more + 1) * sizeof *names);
    bool named = false;
    for (size_t i = 0; i < n; i++)
        named |= strcmp(names[i], ARGUMENT_ORDER) == 0;
    if (!named &&
        argument_order_differs(comparison_key_value(&pair[0], ARGUMENT_ORDER), comparison_key_value(&pair[1], ARGUMENT_ORDER), names)) {
        names[n + more] = ARGUMENT_ORDER;
        names[n + more + 1] = NULL;
    }
    return names;
}

/* Appends the option for one name. The name is a pattern there. */
static void put_ignore_option(struct buf *to, const char *name)
{
    CLEANUP_BUF struct buf pattern;
    buf_init(&pattern, 1 << 16);
    for (const char *c = name; *c; c++)
        buf_printf(&pattern, "%s%c", strchr("*?[\\", *c) ? "\\" : "", *c);
    buf_puts(to, to->n ? " --ignore " : "--ignore ");
    shell_word_put(to, pattern.p ? pattern.p : "");
}

const char *comparison_ignore_options(const char *const *names, struct arena *a)
{
    enum { ARGUMENTS_NAMED = 4 };
    CLEANUP_BUF struct buf b;
    size_t arguments = 0;
    buf_init(&b, 1 << 16);
    for (size_t i = 0; names[i]; i++)
        arguments += strncmp(names[i], "argument.", strlen("argument.")) == 0;
    for (; *names; names++)
        if (arguments <= ARGUMENTS_NAMED || strncmp(*names, "argument.", strlen("argument.")) != 0)
            put_ignore_option(&b, *names);
    if (arguments > ARGUMENTS_NAMED)
        buf_printf(&b, "%s--ignore 'argument.*'", b.n ? " " : "");
    return b.failed ? NULL : arena_dup(a, b.p ? b.p : "", b.n);
}

const char *comparison_left_out(const struct opt_value *ignore, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    for (const struct opt_value *v = ignore; v && v->text; v = v->next) {
        const struct opt_value *earlier = ignore;
        while (earlier != v && strcmp(earlier->text, v->text) != 0)
            earlier = earlier->next;
        if (earlier != v) /* --by and --sweep may name one axis */
            continue;
        buf_puts(&b, b.n ? ", " : "");
        buf_plain(&b, str_of(v->text), 100);
    }
    return b.n ? arena_dup(a, b.p, b.n) : NULL;
}

const char *comparison_key_hidden(const struct comparison_key *keys, size_t n, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        bool named = !keys[i].hidden;
        for (size_t k = 0; k < i && !named; k++)
            named = keys[k].hidden && strcmp(keys[k].hidden, keys[i].hidden) == 0;
        if (!named)
            buf_printf(&b, "%s%s", b.n ? ", " : "", keys[i].hidden);
    }
    return b.n ? arena_dup(a, b.p, b.n) : NULL;
}

/* ---- printing ---- */

struct str comparison_key_program(const struct comparison_key *key)
{
    const struct comparison_fact *f = find_key_fact(key, "program");
    bool adds = f && f->part == COMPARISON_PROGRAM && !str_eq(f->value, comparison_key_value(key, "benchmark"));
    return adds ? f->value : (struct str){NULL, 0};
}

void comparison_key_show(const struct comparison_key *key, enum comparison_part part, size_t most, struct buf *to)
{
    enum { VALUE_MAX = 60 };
    struct str program = part == COMPARISON_MEASURED ? comparison_key_program(key) : (struct str){NULL, 0};
    size_t n = 0;
    for (size_t i = 0; i < key->count; i++) {
        const struct comparison_fact *f = &key->facts[i];
        if (f->part != part || strcmp(f->name, ARGUMENT_ORDER) == 0 || n++ >= most)
            continue;
        buf_printf(to, "%s%s ", n > 1 ? ", " : "", f->name);
        buf_plain(to, f->value, VALUE_MAX);
        if (program.p && strcmp(f->name, "benchmark") == 0) {
            buf_puts(to, " by the program ");
            buf_plain(to, program, VALUE_MAX);
        }
    }
    if (n > most)
        buf_printf(to, " and %zu more", n - most);
}

void comparison_key_json(const struct comparison_key *key, struct json_out *j)
{
    json_open(j, "key", '{');
    for (enum comparison_part part = 0; part < COMPARISON_PARTS; part++) {
        json_open(j, comparison_part_name(part), '{');
        json_text(j, "id", key->id[part]);
        json_open(j, "facts", '{');
        for (size_t i = 0; i < key->count; i++)
            if (key->facts[i].part == part)
                json_str(j, key->facts[i].name, key->facts[i].value);
        json_close(j, '}');
        json_close(j, '}');
    }
    json_flag(j, "arguments_known", key->arguments_known);
    json_text(j, "hidden", key->hidden);
    json_close(j, '}');
}
