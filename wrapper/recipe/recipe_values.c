/* recipe_values.c: the values of a point, and texts with {NAME}. */
#include "recipe/recipe_values.h"

#include "base/array.h"

#include <stdlib.h>

enum { EXPANDED_MAX = 1 << 20 };

static const char *const own_names[] = {"host", "port", "node", "instance", "head", "campaign", NULL};

bool recipe_is_reserved(const struct recipe *r, const char *name)
{
    for (size_t i = 0; own_names[i]; i++)
        if (strcmp(name, own_names[i]) == 0)
            return true;
    for (size_t i = 0; i < r->role_count; i++) {
        size_t n = strlen(r->roles[i].name);
        if (strncmp(name, r->roles[i].name, n) == 0 && name[n] == '.')
            return true;
    }
    return strncmp(name, "ports.", 6) == 0;
}

bool recipe_is_value(const struct recipe *r, struct str name)
{
    for (size_t i = 0; i < r->sweep.count; i++)
        if (str_is(name, r->sweep.axes[i].name))
            return true;
    for (size_t i = 0; i < r->vars.count; i++)
        if (str_is(name, r->vars.list[i].name))
            return true;
    return false;
}

int recipe_check_values(const struct recipe *r, struct err *err)
{
    for (size_t i = 0; i < r->vars.count; i++) {
        const struct recipe_rule *v = &r->vars.list[i];
        bool legal = v->name[0] && !str_is_digit(v->name[0]) && strlen(v->name) <= 100 &&
                     strspn(v->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(v->name);
        if (!legal)
            return yaml_complain(v->at, r->file, err, "a var's name has letters, digits and _");
        if (recipe_is_reserved(r, v->name))
            return yaml_complain(v->at, r->file, err, "\"%s\" is a name that benchwrap sets; choose another one", v->name);
        for (size_t k = 0; k < r->sweep.count; k++)
            if (strcmp(v->name, r->sweep.axes[k].name) == 0)
                return yaml_complain(v->at, r->file, err, "\"%s\" is swept already", v->name);
    }
    return 0;
}

const char *recipe_value_of(const struct recipe_values *v, struct str name)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->list[i].text && str_is(name, v->list[i].name))
            return v->list[i].text;
    return NULL;
}

static void recipe_name_value(void *context, struct str name, struct value *ret)
{
    const char *text = recipe_value_of(context, name);
    if (text)
        *ret = (struct value){.kind = VALUE_TEXT, .text = str_of(text)}; /* a text that is a number compares and adds as one */
}

static void recipe_call_value(void *context, struct str function, const struct str *args, size_t n, struct value *ret)
{
    (void)function;
    *ret = (struct value){.kind = VALUE_NUMBER, .number = n && recipe_value_of(context, args[0]) ? 1 : 0};
}

static const char *value_text(const struct value *v, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 100);
    if (v->kind == VALUE_TEXT)
        return arena_dup(a, v->text.p, v->text.n);
    buf_double(&b, v->number);
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}

/* Computes the vars from the axes and the vars before them, without those that an override has set. */
static int compute_vars(struct recipe_values *v, const struct recipe *r, const bool *fixed, struct arena *a, struct err *err)
{
    const struct expr_names names = {.name = recipe_name_value, .call = recipe_call_value, .context = v};
    for (size_t i = 0; i < r->vars.count; i++) {
        struct recipe_binding *to = &v->list[r->sweep.count + i];
        if (fixed[r->sweep.count + i])
            continue;
        to->text = NULL;
        struct value value = expr_value(r->vars.list[i].expr, &names);
        if (value.kind == VALUE_UNDEFINED)
            return yaml_complain(r->vars.list[i].at, r->file, err,
                                 "the var \"%s\" has no value: \"%.100s\" uses an unknown name, or its result is no number", to->name,
                                 r->vars.list[i].text);
        if (!(to->text = value_text(&value, a)))
            return err_memory(err, "a point");
    }
    return 0;
}

/* The values of a point for a condition, and the first name in it that is none of them. */
struct when_names {
    const struct recipe_values *values;
    struct str unknown;
};

static void when_name_value(void *context, struct str name, struct value *ret)
{
    struct when_names *w = context;
    recipe_name_value((void *)w->values, name, ret);
    if (ret->kind == VALUE_UNDEFINED && !w->unknown.n)
        w->unknown = name;
}

static void when_call_value(void *context, struct str function, const struct str *args, size_t n, struct value *ret)
{
    recipe_call_value((void *)((struct when_names *)context)->values, function, args, n, ret);
}

/* Evaluates the conditions of all overrides first, then sets the values of those that apply, and
 * marks these in `fixed`. 0; -1 with err: a condition has an unknown name, or out of memory. */
static int apply_sets(struct recipe_values *v, const struct recipe *r, bool *fixed, struct arena *a, struct err *err)
{
    struct when_names when = {.values = v};
    const struct expr_names names = {.name = when_name_value, .call = when_call_value, .context = &when};
    bool *applies = arena_get(a, r->override_count + 1);
    if (!applies)
        return err_memory(err, "a point");
    for (size_t i = 0; i < r->override_count; i++) {
        applies[i] = expr_truth(r->overrides[i].when, &names) == 1;
        if (when.unknown.n)
            return yaml_complain(r->overrides[i].at, r->file, err, "\"%.*s\" is neither swept nor a var",
                                 (int)(when.unknown.n > 60 ? 60 : when.unknown.n), when.unknown.p);
    }
    for (size_t i = 0; i < r->override_count; i++)
        for (const struct yaml *y = applies[i] ? r->overrides[i].set->child : NULL; y; y = y->next)
            for (size_t k = 0; k < v->count; k++)
                if (str_is(y->key, v->list[k].name)) {
                    fixed[k] = true;
                    v->list[k].text = arena_dup(a, y->text.p, y->text.n);
                }
    return a->failed ? err_memory(err, "a point") : 0;
}

int recipe_values_init(struct recipe_values *ret, const struct recipe *r, size_t point, struct arena *a, struct err *err)
{
    *ret = (struct recipe_values){.count = r->sweep.count + r->vars.count};
    ret->list = arena_get(a, (ret->count + 1) * sizeof *ret->list);
    bool *fixed = arena_get(a, ret->count + 1);
    if (!ret->list || !fixed)
        return err_memory(err, "a point");
    for (size_t i = 0; i < r->sweep.count; i++)
        ret->list[i] = (struct recipe_binding){r->sweep.axes[i].name, sweep_value(&r->sweep, point, i)};
    for (size_t i = 0; i < r->vars.count; i++)
        ret->list[r->sweep.count + i].name = r->vars.list[i].name;
    if (compute_vars(ret, r, fixed, a, err))
        return -1;
    if (!r->override_count)
        return 0;
    return apply_sets(ret, r, fixed, a, err) || compute_vars(ret, r, fixed, a, err) ? -1 : 0;
}

/* ---- texts ---- */

static bool is_name_char(char c)
{
    return str_is_letter(c) || str_is_digit(c) || c == '_' || c == '.' || c == '-';
}

/* The name in braces at p ("{NAME}"); n == 0: there is none. */
static struct str braced_name(const char *p)
{
    size_t n = 0;
    if (p[0] != '{' || !(str_is_letter(p[1]) || p[1] == '_'))
        return (struct str){p, 0};
    while (is_name_char(p[1 + n]))
        n++;
    return (struct str){p + 1, p[1 + n] == '}' ? n : 0};
}

/* Appends the text with each {NAME} replaced by what `find` returns; an unknown name stays as
 * written, and {{NAME}} becomes {NAME}. */
static void recipe_expand(const char *text, recipe_lookup *find, void *context, struct buf *to)
{
    for (const char *p = text; *p;) {
        size_t plain = strcspn(p, "{");
        buf_add(to, p, plain);
        p += plain;
        if (!*p)
            break;
        struct str twice = p[1] == '{' ? braced_name(p + 1) : (struct str){p, 0}, name = braced_name(p);
        if (twice.n && twice.p[twice.n + 1] == '}') {
            buf_add(to, p + 1, twice.n + 2);
            p += twice.n + 4;
            continue;
        }
        const char *value = name.n ? find(context, name) : NULL;
        if (value)
            buf_puts(to, value);
        else
            buf_add(to, p, name.n ? name.n + 2 : 1);
        p += name.n ? name.n + 2 : 1;
    }
}

char *recipe_expand_text(const char *text, recipe_lookup *find, void *context, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, EXPANDED_MAX);
    recipe_expand(text, find, context, &b);
    return b.failed ? NULL : arena_dup(a, b.p ? b.p : "", b.n);
}

/* A word that is {ROLE.urls} alone becomes a word for each address; p NULL: it is another one. */
static struct str addresses_of_word(const char *word, recipe_lookup *find, void *context)
{
    struct str name = braced_name(word);
    if (!name.n || word[name.n + 2] || !str_ends(name, ".urls"))
        return (struct str){NULL, 0};
    const char *list = find(context, name);
    return list ? str_of(list) : (struct str){NULL, 0};
}

char **recipe_expand_words(char *const *words, recipe_lookup *find, void *context, struct arena *a)
{
    size_t n = 0, room = 0;
    char **ret = NULL;
    for (; words && *words; words++) {
        struct str list = addresses_of_word(*words, find, context);
        do {
            if (!ARRAY_FITS_IN(a, ret, room, n + 2))
                return NULL;
            struct str one = list.p ? str_cut(&list, ',') : list;
            if (!(ret[n++] = one.p ? arena_dup(a, one.p, one.n) : recipe_expand_text(*words, find, context, a)))
                return NULL;
        } while (list.p);
    }
    return ret ? ret : arena_get(a, sizeof *ret);
}

int recipe_expand_fail(const struct arena *a, const char *what, struct err *err)
{
    if (a->failed)
        return err_memory(err, "%s", what);
    return err_set(err, ERR_INPUT, "%s: a text is longer than %d MiB with its names replaced (or out of memory)", what, EXPANDED_MAX >> 20);
}
