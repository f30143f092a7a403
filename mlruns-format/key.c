/* key.c: legal keys (the format's and MLflow's) and what is done with illegal ones. */
#include "mlruns-format/key.h"

#include "mlruns-format/crc32c.h"

#include <string.h>

enum { HASH_CHARS = 9 /* '-' and 8 hex digits */ };

static bool legal_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == ' ';
}

static bool legal_component(struct str s)
{
    if (s.n == 0 || s.p[0] == '.' || s.p[0] == ' ' || s.p[s.n - 1] == '.' || s.p[s.n - 1] == ' ')
        return false; /* readers would treat a hidden file as a placeholder, a dot or blank at the end is lost by some file systems */
    for (size_t i = 0; i < s.n; i++)
        if (!legal_char(s.p[i]))
            return false;
    return true;
}

bool key_legal(struct str key)
{
    if (key.n == 0 || key.n > KEY_MAX)
        return false;
    while (key.p) {
        struct str part = str_cut(&key, '/');
        if (!legal_component(part))
            return false;
    }
    return true;
}

/* Appends one component made legal; nothing if it is empty. */
static void make_component(struct buf *to, struct str s)
{
    size_t from = to->n;
    for (size_t i = 0, k; i < s.n; i += k ? k : 1) {
        k = str_utf8(s.p + i, s.n - i);
        buf_putc(to, k == 1 && legal_char(s.p[i]) ? s.p[i] : '_');
    }
    if (to->failed || to->n == from)
        return;
    if (to->p[from] == '.' || to->p[from] == ' ')
        to->p[from] = '_';
    if (to->p[to->n - 1] == '.' || to->p[to->n - 1] == ' ')
        to->p[to->n - 1] = '_';
}

int key_make(struct buf *to, struct str text)
{
    if (key_legal(text)) {
        buf_str(to, text);
        return 0;
    }
    size_t from = to->n;
    struct str rest = text;
    while (rest.p) {
        struct str part = str_cut(&rest, '/');
        if (part.n && to->n > from)
            buf_putc(to, '/');
        if (part.n)
            make_component(to, part);
    }
    if (to->n == from)
        buf_putc(to, '_');
    if (!to->failed && to->n - from > KEY_MAX) {
        to->n = from + KEY_MAX - HASH_CHARS;
        if (to->p[to->n - 1] == '/')
            to->p[to->n - 1] = '_';
        buf_printf(to, "-%08x", crc32c_extend(0, text.p, text.n));
    }
    return 1;
}

void key_segment(struct buf *to, struct str text)
{
    size_t from = to->n;
    bool gap = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            gap = true;
            continue;
        }
        if (to->n == from && c >= '0' && c <= '9')
            buf_putc(to, 'n'); /* a segment begins with a letter */
        else if (gap && to->n > from)
            buf_putc(to, '_');
        gap = false;
        buf_putc(to, c);
    }
    if (to->n == from)
        buf_putc(to, 'x');
}

/* Returns whether the key is the pattern, in which one "*" stands for any characters. */
static bool key_fits_pattern(struct str key, struct str pattern)
{
    struct str end = pattern, begin = str_cut(&end, '*');
    return end.p ? key.n >= begin.n + end.n && memcmp(key.p, begin.p, begin.n) == 0 && memcmp(key.p + key.n - end.n, end.p, end.n) == 0
                 : str_eq(key, pattern);
}

bool key_is_result(const char *key)
{
    static const struct {
        const char *family, *names;
    } own[] = {
#define OWN(family, names) {family, names},
#include "mlruns-format/own_metrics.def"
#undef OWN
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t n = strlen(own[i].family);
        if (strncmp(key, own[i].family, n) != 0)
            continue;
        struct str own_name = str_sub(str_of(key), n, key_stem(key) - n);
        for (struct str rest = str_of(own[i].names), name; (name = str_word(&rest)).n;)
            if (key_fits_pattern(own_name, name))
                return false;
    }
    return true;
}

size_t key_stem(const char *key)
{
    static const char *const stats[] = {"max", "min", "mean", "median", "sd", "n", "p50", "p90", "p95", "p99", "p999", "ci_low", "ci_high"};
    const char *dot = strrchr(key, '.');
    for (size_t i = 0; dot && dot != key && i < sizeof stats / sizeof stats[0]; i++)
        if (strcmp(dot + 1, stats[i]) == 0)
            return (size_t)(dot - key);
    return strlen(key);
}

const char *key_unit(const char *key, struct arena *a)
{
    static const char *const names[] = {
#define UNIT(name, dimension, factor) #name,
#include "mlruns-format/units.def"
#undef UNIT
    };
    const char *dot = strrchr(key, '.');
    struct str stem = {key, key_stem(key)};
    if (dot && strcmp(dot, ".n") == 0)
        return ""; /* a count */
    const char *best = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (stem.n > n && stem.p[stem.n - n - 1] == '_' && memcmp(stem.p + stem.n - n, names[i], n) == 0 && n > strlen(best))
            best = names[i]; /* the longest: MiB_per_s, not s */
    }
    return arena_dup(a, best, strlen(best));
}
