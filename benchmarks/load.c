/* load.c: a rule file becomes a checked rule set; whatever cannot work is refused here, with file, line and column. */
#include "benchmarks/load.h"
#include "benchmarks/catalogue.h"

#include <stdlib.h>

enum { RULES_MEMORY = 32 << 20, BLOCK_NAME_MAX = 40 /* with a number it fits a prefix of keys */ };

/* blocks: t, or {name: t, runs: true}. */
static int load_blocks(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"name", "runs", NULL};
    if (!y)
        return 0;
    struct str name = y->kind == YAML_SCALAR ? y->text : yaml_text(y, "name", "");
    if (y->kind != YAML_SCALAR && (load_keys(y, keys, rules, err) || load_flag(y, "runs", &rules->block_runs, rules, err)))
        return -1;
    bool good = name.n && name.n <= BLOCK_NAME_MAX && name.p[0] >= 'a' && name.p[0] <= 'z';
    for (size_t i = 0; i < name.n && good; i++)
        good = (name.p[i] >= 'a' && name.p[i] <= 'z') || str_is_digit(name.p[i]) || name.p[i] == '_';
    if (!good)
        return rules_complain(y, rules, err,
                              "blocks: expected the name of one test (t: t0, t1 …), or {name: t, runs: true}; a name has at most %d small "
                              "letters, digits and _, and begins with a letter",
                              BLOCK_NAME_MAX);
    rules->block_name = name.p;
    return 0;
}

/* It names the experiment and is printed on terminals: at most 128 of an experiment's letters, the
 * first none of '.', '-' and blank. The caller has refused an empty one. */
static bool is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._ -");
    return !s[n] && n <= 128 && s[0] != '.' && s[0] != '-' && s[0] != ' ';
}

static bool is_version(const char *s)
{
    size_t n = 0;
    while (s[n] > ' ' && s[n] < 127)
        n++;
    return !s[n] && n <= 64;
}

/* Reads the head of a rule file: name, version, blocks. -1 with err: a key is missing, unknown or
 * wrong. */
static int load_head(const struct yaml *y, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {
        "name",        "version",          "summary",   "programs", "blocks",   "keep_rank_prefix", "arguments",
        "environment", "prefer_arguments", "headlines", "slices",   "readers",  "derive",           "computed",
        "required",    "checks",           "recognise", "guess",    "verified", "reproduced",       NULL};
    struct str prefer[64];
    if (load_keys(y, keys, rules, err))
        return -1;
    rules->name = yaml_text(y, "name", "").p;
    rules->version = yaml_text(y, "version", "").p;
    rules->summary = yaml_text(y, "summary", "").p;
    if (load_blocks(yaml_get(y, "blocks"), rules, err))
        return -1;
    if (!rules->name[0] || !rules->version[0])
        return rules_complain(y, rules, err, "name and version are needed");
    if (!is_name(rules->name))
        return rules_complain(yaml_get(y, "name"), rules, err,
                              "a name has 1 to 128 letters, digits, dots, blanks, _ and -, and begins with a letter, a digit or _");
    if (!is_version(rules->version))
        return rules_complain(yaml_get(y, "version"), rules, err, "a version has at most 64 printable ASCII characters without blanks");
    if (!yaml_get(y, "readers"))
        return rules_complain(y, rules, err, "readers is missing: a rule file without readers finds nothing");
    if (load_flag(y, "keep_rank_prefix", &rules->keep_prefix, rules, err) || load_flag(y, "guess", &rules->guess, rules, err) ||
        load_texts(yaml_get(y, "programs"), rules->program, 16, &rules->programs, rules, err) ||
        load_texts(yaml_get(y, "prefer_arguments"), prefer, 64, &rules->prefers, rules, err) ||
        load_texts(yaml_get(y, "headlines"), rules->headline, HEADLINES_MAX, &rules->headlines, rules, err) ||
        load_texts(yaml_get(y, "verified"), rules->verified, VERSIONS_MAX, &rules->verifieds, rules, err) ||
        load_texts(yaml_get(y, "reproduced"), rules->reproduced, VERSIONS_MAX, &rules->reproduceds, rules, err))
        return -1;
    for (size_t i = 0; i < rules->prefers; i++)
        rules->prefer[i] = prefer[i].p;
    return 0;
}

/* Makes the search for the literals of readers, checks and slices. Those without literals go into
 * rules->always. Returns 0, or another value with *err. */
static int build_prefilter(struct rules *rules, struct err *err)
{
    struct prefilter_literal *l = calloc(READERS_MAX * 64 + (CHECKS_MAX + 2 * SLICES_MAX) * PATTERN_LITERALS_MAX, sizeof(*l));
    size_t n = 0;
    if (!l)
        return load_no_memory(rules, err);
    for (size_t i = 0; i < rules->readers; i++) {
        const struct reader *r = rules->reader[i];
        for (size_t k = 0; k < r->literals; k++)
            l[n++] = (struct prefilter_literal){r->literal[k], r->index};
        if (!r->literals || r->any_line)
            prefilter_set(&rules->always, r->index);
    }
    for (size_t i = 0; i < rules->checks; i++) {
        struct check *c = rules->check[i];
        const struct str *text;
        size_t count = c->pattern ? pattern_literals(c->pattern, &text) : 0;
        c->bit = READERS_MAX + (unsigned)i;
        for (size_t k = 0; k < count; k++)
            l[n++] = (struct prefilter_literal){text[k], c->bit};
        if (c->pattern && !count)
            prefilter_set(&rules->always, c->bit);
    }
    for (size_t i = 0; i < 2 * rules->slices; i++) {
        const struct pattern *p = i % 2 ? rules->slice[i / 2].until : rules->slice[i / 2].after;
        const struct str *text;
        size_t count = p ? pattern_literals(p, &text) : 0;
        for (size_t k = 0; k < count; k++)
            l[n++] = (struct prefilter_literal){text[k], SLICE_BIT(0) + (unsigned)i};
        if (p && !count)
            prefilter_set(&rules->always, SLICE_BIT(0) + (unsigned)i);
    }
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += l[i].text.n;
    rules->prefilter = prefilter_new(l, n);
    free(l);
    if (!rules->prefilter && bytes > PREFILTER_BYTES_MAX)
        return err_set(err, ERR_INPUT,
                       "%s: the fixed texts of all patterns have %zu bytes together, more than %d: shorten or remove patterns", rules->path,
                       bytes, PREFILTER_BYTES_MAX);
    return rules->prefilter ? 0 : load_no_memory(rules, err);
}

/* Loads the parts of a rule file in the order in which they need each other. -1 with err, which
 * names file and line. */
static int load_tree(struct rules *rules, const struct yaml *y, struct err *err)
{
    rules->computed_reader = (struct reader){.name = "computed", .index = READERS_MAX, .slice = -1};
    if (load_head(y, rules, err) || load_arguments(yaml_get(y, "arguments"), rules, err) ||
        load_recognise(yaml_get(y, "recognise"), rules, err) ||
        load_items(yaml_get(y, "environment"), 16, load_environment, NULL, rules, err) || load_slices(yaml_get(y, "slices"), rules, err))
        return -1;
    const struct yaml *readers = yaml_get(y, "readers");
    for (const struct yaml *c = readers->child; c; c = c->next)
        if (load_set_names(yaml_get(c, "set"), rules, err))
            return -1;
    if (load_items(readers, READERS_MAX, load_reader, NULL, rules, err) ||
        load_items(yaml_get(y, "derive"), 32, load_derived, NULL, rules, err) ||
        load_items(yaml_get(y, "computed"), COMPUTED_MAX, load_computed, NULL, rules, err) ||
        load_items(yaml_get(y, "required"), 64, load_required, NULL, rules, err) ||
        load_items(yaml_get(y, "checks"), CHECKS_MAX, load_check, NULL, rules, err) || load_slices_check(rules, err))
        return -1;
    return build_prefilter(rules, err);
}

/* Loads rules from a copy of the text. `tell`, which may be NULL, receives each complaint. Returns
 * 0 with *ret, which the caller frees with rules_free, or -1 with *err. */
static int load_from(struct rules **ret, const char *path, struct str text, void (*tell)(void *context, const struct err *complaint),
                     void *context, struct err *err)
{
    struct yaml *y;
    struct rules *rules = calloc(1, sizeof(*rules));
    if (!rules)
        return err_memory(err, "the rules of %s", path);
    arena_init(&rules->arena, RULES_MEMORY);
    rules->tell = tell;
    rules->tell_context = context;
    rules->path = arena_printf(&rules->arena, "%s", path);
    rules->text = (struct str){arena_dup(&rules->arena, text.p ? text.p : "", text.n), text.n};
    int rc = !rules->path || !rules->text.p ? load_no_memory(rules, err) : 0;
    if (!rc)
        rc = yaml_parse(&y, rules->path, rules->text, &rules->arena, err);
    if (!rc)
        rc = load_tree(rules, y, err);
    if (!rc && rules->complaints)
        rc = err_set(err, ERR_INPUT, "%s: %zu mistakes", path, rules->complaints);
    else if (rc && tell && (!err || err->kind == ERR_INPUT))
        tell(context, err);
    if (rc) {
        rules_free(rules);
        return -1;
    }
    *ret = rules;
    return 0;
}

int rules_load_all(struct rules **ret, const char *path, void (*tell)(void *context, const struct err *complaint), void *context,
                   struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, CATALOGUE_FILE_MAX);
    if (catalogue_read(path, &text, err))
        return -1;
    return load_from(ret, path, buf_text(&text), tell, context, err);
}

int rules_load_text(struct rules **ret, const char *name, struct str text, struct err *err)
{
    return load_from(ret, name, text, NULL, NULL, err);
}

int rules_load(struct rules **ret, const char *path, struct err *err)
{
    return rules_load_all(ret, path, NULL, NULL, err);
}

void rules_free(struct rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->readers; i++) {
        if (rules->reader[i]->kind->free)
            rules->reader[i]->kind->free(rules->reader[i]);
        pattern_free(rules->reader[i]->version);
    }
    for (size_t i = 0; i < rules->checks; i++)
        pattern_free(rules->check[i]->pattern);
    for (size_t i = 0; i < rules->slices; i++) {
        pattern_free(rules->slice[i].after);
        pattern_free(rules->slice[i].until);
    }
    prefilter_free(rules->prefilter);
    free_recognise(rules->recognise);
    arena_deinit(&rules->arena);
    free(rules);
}

const char *rules_name(const struct rules *rules)
{
    return rules->name;
}

const char *rules_version(const struct rules *rules)
{
    return rules->version;
}

const char *rules_summary(const struct rules *rules)
{
    return rules->summary;
}

struct str rules_text(const struct rules *rules)
{
    return rules->text;
}

bool rules_without_verdict(const struct rules *rules)
{
    return rules->guess;
}
const char *rules_file(const struct rules *rules, size_t i)
{
    return i < rules->files ? rules->file[i] : NULL;
}

bool rules_file_is_logged(const struct rules *rules, size_t i)
{
    return i < rules->files && rules->file_logged[i];
}

/* Does one of the readers and checks read all of these sources? */
static bool read_all_of(const struct rules *rules, unsigned sources)
{
    for (size_t k = 0; k < rules->readers; k++)
        if ((rules->reader[k]->sources & sources) == sources)
            return true;
    for (size_t k = 0; k < rules->checks; k++)
        if (rules->check[k]->pattern && (rules->check[k]->sources & sources) == sources)
            return true;
    return false;
}

bool rules_file_is_read(const struct rules *rules, size_t i)
{
    return read_all_of(rules, 4u << i);
}

bool rules_files_share(const struct rules *rules, size_t i, size_t k)
{
    return read_all_of(rules, 4u << i | 4u << k);
}
