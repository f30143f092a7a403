/* sweep.c: the values of --sweep, their combinations, and their insertion into a command line. */
#include "series/sweep.h"

#include "mlruns-format/key.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_VALUE_MAX = 32, KEY_MAX_BYTES = 120 /* a key is a file name: the metric's name must fit behind it */ };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

struct sweep_values {
    struct sweep_axis *axis;
    const char **list;
    size_t room;
    struct arena *a;
    struct err *err;
    const char *option; /* NAME=VALUES, for messages */
};

/* Appends a value, whose text must live as long as the sweep. 0; -1 with err: text is NULL (out of
 * memory), or there are too many. */
static int sweep_add_value(struct sweep_values *v, const char *text, bool integer)
{
    struct sweep_axis *axis = v->axis;
    if (!text)
        return err_memory(v->err, "--sweep %.60s", v->option);
    if (axis->count == v->room)
        return err_set(v->err, ERR_USAGE, "--sweep %.60s: more than %d values", v->option, SWEEP_POINTS_MAX);
    v->list[axis->count++] = text;
    axis->integers &= integer;
    return 0;
}

/* Divides "A..B", "A..B+S", "A..B-S" or "A..B*F" into its parts; false if the item is no such
 * range. */
static bool range_parts(struct str item, int64_t *from, int64_t *to, char *sign, int64_t *step)
{
    ptrdiff_t dots = str_find(item, STR(".."));
    if (dots <= 0 || !str_int(str_sub(item, 0, (size_t)dots), from))
        return false;
    struct str rest = str_sub(item, (size_t)dots + 2, item.n);
    size_t n = rest.n && rest.p[0] == '-' ? 1 : 0;
    while (n < rest.n && str_is_digit(rest.p[n]))
        n++;
    if (!str_int(str_sub(rest, 0, n), to))
        return false;
    *sign = 0;
    *step = 1;
    if (n == rest.n)
        return true;
    *sign = rest.p[n];
    return strchr("+-*", *sign) && str_int(str_sub(rest, n + 1, rest.n), step);
}

/* Adds the integers from `from` to `to`; sign '+' and '-' add or subtract the step, '*' multiplies
 * by it, 0 chooses the direction. 0; -1 with err. */
static int sweep_add_range(struct sweep_values *v, struct str item, int64_t from, int64_t to, char sign, int64_t step)
{
    if (sign == '*' ? step < 2 || from < 1 : step < 1)
        return err_set(v->err, ERR_USAGE, "--sweep %.60s: " STR_FMT ": %s", v->option, STR_ARG(str_sub(item, 0, 40)),
                       sign == '*' ? "expected a factor >= 2 and a beginning >= 1" : "expected a step >= 1");
    if (sign == '*' ? to < from : (sign == '+' && to < from) || (sign == '-' && to > from))
        return err_set(v->err, ERR_USAGE, "--sweep %.60s: " STR_FMT " has no values", v->option, STR_ARG(str_sub(item, 0, 40)));
    bool down = to < from;
    for (int64_t at = from;;) {
        if (sweep_add_value(v, arena_printf(v->a, "%" PRId64, at), true) < 0)
            return -1;
        bool over = sign == '*' ? __builtin_mul_overflow(at, step, &at)
                    : down      ? __builtin_sub_overflow(at, step, &at)
                                : __builtin_add_overflow(at, step, &at);
        if (over || (down ? at < to : at > to))
            return 0;
    }
}

/* Adds one item of a list: a range, unless it has an escaped character, or a value. 0; -1 with
 * err. */
static int add_item(struct sweep_values *v, const char *p, size_t n, bool escaped)
{
    int64_t from, to, step;
    char sign;
    if (!escaped && range_parts((struct str){p, n}, &from, &to, &sign, &step))
        return sweep_add_range(v, (struct str){p, n}, from, to, sign, step);
    if (n > SWEEP_VALUE_MAX)
        return err_set(v->err, ERR_USAGE, "--sweep %.60s: a value is longer than %d bytes", v->option, SWEEP_VALUE_MAX);
    return sweep_add_value(v, arena_dup(v->a, p, n), str_int((struct str){p, n}, &from));
}

/* Adds the values of a list with commas; a backslash makes the next character a part of the value.
 * 0; -1 with err. */
static int sweep_add_list(struct sweep_values *v, const char *text)
{
    char *item = arena_get(v->a, strlen(text) + 1);
    if (!item)
        return err_memory(v->err, "--sweep");
    for (;; text++) {
        size_t n = 0;
        bool escaped = false;
        for (; *text && *text != ','; text++) {
            if (*text == '\\' && text[1]) {
                escaped = true;
                text++;
            }
            item[n++] = *text;
        }
        if (add_item(v, item, n, escaped) < 0)
            return -1;
        if (!*text)
            return 0;
    }
}

static int sweep_order_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses a value that comes twice, which would be one point with two names. 0; -1 with err. */
static int sweep_check_duplicates(const struct sweep_values *v)
{
    size_t n = v->axis->count;
    const char **sorted = arena_get(v->a, n * sizeof *sorted);
    if (!sorted)
        return err_memory(v->err, "--sweep");
    memcpy(sorted, v->list, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, sweep_order_by_text);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return err_set(v->err, ERR_USAGE, "--sweep %.60s: \"%.40s\" comes twice; --repeat N runs each value N times", v->option,
                           sorted[i]);
    return 0;
}

int sweep_read_axis(struct sweep_axis *ret, const char *text, bool repeats, struct arena *a, struct err *err)
{
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : 0;
    if (!n || !strchr(letters, text[0]) || strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != n ||
        n > 100)
        return err_set(err, ERR_USAGE, "--sweep %.60s: expected NAME=VALUES, for example n=1,2,4 (a name has letters, digits, _ . -)",
                       text);
    if (!equals[1])
        return err_set(err, ERR_USAGE, "--sweep %.60s: expected NAME=VALUES, for example n=1,2,4", text);
    *ret = (struct sweep_axis){.name = arena_dup(a, text, n), .integers = true};
    struct sweep_values v = {ret, arena_get(a, SWEEP_POINTS_MAX * sizeof(char *)), SWEEP_POINTS_MAX, a, err, text};
    if (!ret->name || !v.list)
        return err_memory(err, "--sweep");
    ret->values = v.list;
    return sweep_add_list(&v, equals + 1) < 0 || (!repeats && sweep_check_duplicates(&v) < 0) ? -1 : 0;
}

int sweep_add(struct parameter_sweep *s, const char *text, struct arena *a, struct err *err)
{
    struct sweep_axis axis;
    if (s->count == SWEEP_AXES_MAX)
        return err_set(err, ERR_USAGE, "--sweep: more than %d of them", SWEEP_AXES_MAX);
    if (sweep_read_axis(&axis, text, false, a, err))
        return -1;
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->axes[i].name, axis.name) == 0)
            return err_set(err, ERR_USAGE, "--sweep %.60s: \"%s\" is swept twice", text, axis.name);
    s->points = s->count ? s->points * axis.count : axis.count;
    s->axes[s->count++] = axis;
    if (s->points > SWEEP_POINTS_MAX)
        return err_set(err, ERR_USAGE, "--sweep: %zu combinations; at most %d are run", s->points, SWEEP_POINTS_MAX);
    return 0;
}

const char *sweep_value(const struct parameter_sweep *s, size_t point, size_t axis)
{
    if (s->table)
        return s->table[point * s->count + axis];
    for (size_t i = s->count; i-- > axis + 1;)
        point /= s->axes[i].count;
    return s->axes[axis].values[point % s->axes[axis].count];
}

/* Returns the number of the axis whose {NAME} begins at p (which is a brace); SIZE_MAX: none. */
static size_t named_at(const struct parameter_sweep *s, const char *p)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t n = strlen(s->axes[i].name);
        if (strncmp(p + 1, s->axes[i].name, n) == 0 && p[1 + n] == '}')
            return i;
    }
    return SIZE_MAX;
}

/* Returns the next brace of the text that means something; *ret_axis is its axis, and the last
 * argument whether it is doubled. NULL: none. */
static const char *next_brace(const struct parameter_sweep *s, const char *text, size_t *ret_axis, bool *ret_literal)
{
    for (const char *p = text; (p = strchr(p, '{')); p++) {
        *ret_literal = p[1] == '{' && (*ret_axis = named_at(s, p + 1)) != SIZE_MAX && p[2 + strlen(s->axes[*ret_axis].name) + 1] == '}';
        if (*ret_literal || (*ret_axis = named_at(s, p)) != SIZE_MAX)
            return p;
    }
    return NULL;
}

void sweep_replace(const struct parameter_sweep *s, size_t point, const char *text, struct buf *to)
{
    size_t axis;
    bool literal;
    for (const char *p; (p = next_brace(s, text, &axis, &literal));) {
        size_t n = strlen(s->axes[axis].name) + 2;
        buf_add(to, text, (size_t)(p - text));
        if (literal)
            buf_add(to, p + 1, n);
        else
            buf_puts(to, sweep_value(s, point, axis));
        text = p + n + (literal ? 2 : 0);
    }
    buf_puts(to, text);
}

bool sweep_uses(const struct parameter_sweep *s, size_t axis, const char *text)
{
    size_t at;
    bool literal;
    for (const char *p; (p = next_brace(s, text, &at, &literal)); text = p + strlen(s->axes[at].name) + (literal ? 4 : 2))
        if (at == axis && !literal)
            return true;
    return false;
}

void sweep_label(const struct parameter_sweep *s, size_t point, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++)
        buf_printf(to, "%s%s=%s", i ? " " : "", s->axes[i].name, sweep_value(s, point, i));
}

struct keyed {
    const char *key;
    size_t point;
};

static int sweep_order_by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->point > y->point) - (x->point < y->point);
}

/* Appends the part of a metric's key that names the point ("n_4.mode_write"). A value is cut to
 * KEY_VALUE_MAX bytes. */
static void put_key(const struct parameter_sweep *s, size_t point, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++) {
        CLEANUP_BUF struct buf text, segment;
        buf_init(&text, SWEEP_VALUE_MAX + 256);
        buf_init(&segment, SWEEP_VALUE_MAX + 256);
        const char *value = sweep_value(s, point, i);
        buf_printf(&text, "%s_%s%.*s", s->axes[i].name, value[0] == '-' ? "minus" : "", KEY_VALUE_MAX, value);
        key_segment(&segment, buf_text(&text));
        buf_printf(to, "%s" STR_FMT, i ? "." : "", STR_ARG(buf_text(&segment)));
        to->failed |= text.failed || segment.failed;
    }
}

const char *const *sweep_keys(const struct parameter_sweep *s, struct arena *a)
{
    const char **keys = arena_get(a, s->points * sizeof *keys);
    struct keyed *sorted = arena_get(a, s->points * sizeof *sorted);
    CLEANUP_BUF struct buf b;
    buf_init(&b, SWEEP_AXES_MAX * (SWEEP_VALUE_MAX + 256));
    for (size_t i = 0; keys && sorted && i < s->points; i++) {
        buf_clear(&b);
        put_key(s, i, &b);
        size_t n = b.n > KEY_MAX_BYTES ? KEY_MAX_BYTES : b.n;
        while (n && b.p[n - 1] == '.')
            n--;
        const char *key = b.failed ? NULL : arena_dup(a, b.p ? b.p : "", n);
        sorted[i] = (struct keyed){key ? key : "", i};
        keys[i] = sorted[i].key;
        if (!key)
            return NULL;
    }
    if (!keys || !sorted)
        return NULL;
    qsort(sorted, s->points, sizeof *sorted, sweep_order_by_key);
    for (size_t i = 1; i < s->points; i++) /* "a.b" and "a_b" have the same key here: the point's number distinguishes them */
        if (strcmp(sorted[i - 1].key, sorted[i].key) == 0)
            keys[sorted[i].point] = arena_printf(a, "%s.point_%zu", sorted[i].key, sorted[i].point + 1);
    return a->failed ? NULL : keys;
}
