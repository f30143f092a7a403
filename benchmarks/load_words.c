/* load_words.c: the small parts of a rule file: words, lists, patterns, expressions, and items that
 * are repeated for each of several texts. */
#include "benchmarks/load.h"
#include "base/buf.h"
#include "benchmarks/catalogue.h"

#include <stdio.h>

int rules_complain(const struct yaml *y, const struct rules *rules, struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(err, ERR_INPUT, fmt, ap);
    va_end(ap);
    return err_wrap(err, "%s:%d:%d", rules->path, y ? y->line : 1, y ? y->column : 1);
}

int load_no_memory(const struct rules *rules, struct err *err)
{
    return err_memory(err, "the rules of %s", rules->path);
}

int load_keys(const struct yaml *map, const char *const *words, const struct rules *rules, struct err *err)
{
    char allowed[600] = "";
    if (map->kind != YAML_MAP)
        return rules_complain(map, rules, err, "a map (key: value) is expected here");
    for (const char *const *w = words; *w; w++)
        snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s", w == words ? "" : ", ", *w);
    for (const struct yaml *c = map->child; c; c = c->next) {
        const char *const *w = words;
        while (*w && !str_is(c->key, *w))
            w++;
        if (!*w)
            return rules_complain(c, rules, err, "\"" STR_FMT "\" is not known here; allowed are %s", STR_ARG(c->key), allowed);
    }
    return 0;
}

int load_pattern(struct pattern **ret, const struct yaml *y, const struct rules *rules, struct err *err)
{
    if (y->kind != YAML_SCALAR)
        return rules_complain(y, rules, err, "a pattern is one text");
    if (pattern_new(ret, y->text, err))
        return err_wrap(err, "%s:%d:%d", rules->path, y->line, y->column);
    return 0;
}

int load_texts(const struct yaml *y, struct str *ret, size_t max, size_t *ret_n, const struct rules *rules, struct err *err)
{
    size_t n = 0;
    *ret_n = 0;
    if (!y)
        return 0;
    if (y->kind == YAML_MAP)
        return rules_complain(y, rules, err, "a text or a list of texts is expected here");
    for (const struct yaml *c = y->kind == YAML_LIST ? y->child : y; c; c = y->kind == YAML_LIST ? c->next : NULL) {
        if (c->kind != YAML_SCALAR)
            return rules_complain(c, rules, err, "a text is expected here");
        if (n == max)
            return rules_complain(c, rules, err, "%zu are allowed here at most", max);
        ret[n++] = c->text;
    }
    *ret_n = n;
    return 0;
}

int load_flag(const struct yaml *map, const char *key, bool *ret, const struct rules *rules, struct err *err)
{
    const struct yaml *y = yaml_get(map, key);
    if (y && yaml_bool(y, ret))
        return rules_complain(y, rules, err, "%s is true or false", key);
    return 0;
}

int load_choice(const struct yaml *map, const char *key, const char *const *words, int otherwise, const struct rules *rules,
                struct err *err)
{
    char allowed[200] = "";
    const struct yaml *y = yaml_get(map, key);
    if (!y)
        return otherwise;
    for (int i = 0; words[i]; i++)
        if (y->kind == YAML_SCALAR && str_is(y->text, words[i]))
            return i;
    for (int i = 0; words[i]; i++)
        snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s", i ? ", " : "", words[i]);
    return rules_complain(y, rules, err, "%s is one of %s", key, allowed);
}

static bool function_ok(struct str f, size_t n)
{
    return n == 1 && (str_is(f, "defined") || str_is(f, "rows") || str_is(f, "samples") || str_is(f, "value") || str_is(f, "matches"));
}

int load_expr(struct expr **ret, const struct yaml *y, struct rules *rules, struct err *err)
{
    if (!y)
        return 0;
    if (y->kind != YAML_SCALAR)
        return rules_complain(y, rules, err, "an expression is one text");
    if (expr_new(ret, y->text, function_ok, &rules->arena, err))
        return err_wrap(err, "%s:%d:%d", rules->path, y->line, y->column);
    return 0;
}

/* Returns the text with each "{name}" replaced by the value, in the arena. p NULL: out of memory. */
static struct str replace_name(struct arena *a, struct str text, struct str name, struct str value)
{
    struct buf b;
    buf_init(&b, 2 * CATALOGUE_FILE_MAX);
    for (size_t i = 0; i < text.n;) {
        bool here = text.p[i] == '{' && i + name.n + 1 < text.n && !memcmp(text.p + i + 1, name.p, name.n) && text.p[i + name.n + 1] == '}';
        if (here)
            buf_str(&b, value);
        else
            buf_putc(&b, text.p[i]);
        i += here ? name.n + 2 : 1;
    }
    struct str s = b.failed ? (struct str){NULL, 0} : arena_str(a, buf_text(&b));
    buf_deinit(&b);
    return s;
}

/* Returns a copy of the node with {name} replaced in all texts below it, in the arena. NULL: out of
 * memory. */
static struct yaml *copy_with_name(struct arena *a, const struct yaml *y, struct str name, struct str value)
{
    struct yaml *copy = ARENA_NEW(a, struct yaml), **tail;
    if (!copy)
        return NULL;
    *copy = *y;
    copy->next = copy->child = NULL;
    if (y->kind == YAML_SCALAR)
        copy->text = replace_name(a, y->text, name, value);
    if (y->kind == YAML_SCALAR && !copy->text.p)
        return NULL;
    tail = &copy->child;
    for (const struct yaml *c = y->child; c; c = c->next) {
        if (!(*tail = copy_with_name(a, c, name, value)))
            return NULL;
        tail = &(*tail)->next;
    }
    return copy;
}

size_t load_items_count(const struct yaml *list, size_t max)
{
    size_t n = 0;
    for (const struct yaml *c = list && list->kind == YAML_LIST ? list->child : NULL; c; c = c->next) {
        const struct yaml *each = yaml_get(c, "each"), *over = each ? each->child : NULL;
        size_t values = 0;
        for (const struct yaml *v = over ? over->child : NULL; v; v = v->next)
            values++;
        n += values ? values : 1;
    }
    return n < max ? n : max;
}

int load_items(const struct yaml *list, size_t max,
               int (*load)(const struct yaml *y, struct reader *r, struct rules *rules, struct err *err), struct reader *r,
               struct rules *rules, struct err *err)
{
    size_t n = 0;
    if (list && list->kind != YAML_LIST)
        return rules_complain(list, rules, err, "a list (- item) is expected here");
    for (const struct yaml *c = list ? list->child : NULL; c; c = c->next) {
        const struct yaml *each = yaml_get(c, "each"), *over = each ? each->child : NULL;
        struct str values[32] = {{"", 0}};
        size_t count = 1;
        if (each && (each->kind != YAML_MAP || !over || over->next))
            return rules_complain(each, rules, err, "each is a map of one: {name: [texts]}");
        if (each && load_texts(over, values, 32, &count, rules, err))
            return -1;
        for (size_t i = 0; i < count; i++) {
            if (++n > max)
                return rules_complain(c, rules, err, "%zu items are allowed here at most", max);
            const struct yaml *item = each ? copy_with_name(&rules->arena, c, over->key, values[i]) : c;
            if (!item)
                return load_no_memory(rules, err);
            if (load(item, r, rules, err) == 0)
                continue;
            if (!rules->tell || !err || err->kind != ERR_INPUT)
                return -1;
            rules->tell(rules->tell_context, err);
            rules->complaints++;
            break;
        }
    }
    return 0;
}
