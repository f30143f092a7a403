/* lengths.c: reading and drawing lengths; see lengths.h. */
#include "benchmarks/native/llmload/prompts/lengths.h"

#include "base/array.h"
#include "base/fs.h"
#include "benchmarks/native/llmload/inputs.h"
#include "benchmarks/native/llmload/random.h"

#include <fcntl.h>
#include <stdlib.h>

static bool parse_length(struct str s, double *ret)
{
    return str_double(str_trim(s), ret) && *ret >= 0 && *ret <= LENGTHS_MOST;
}

static bool parse_length_pair(struct str text, char between, double *a, double *b)
{
    struct str first = str_cut(&text, between);
    return text.p && parse_length(first, a) && parse_length(text, b);
}

/* Appends the lengths of a file, one a line; "#" begins a comment. Returns 0, or another value with
 * *err, also without any length. */
static int lengths_read_file(struct lengths *l, const char *path, const char *what, struct input_hashes *inputs, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 256 << 20);
    if (fs_read(AT_FDCWD, path, text.max, 0, &text, err) < 0)
        return -1;
    inputs_note(inputs, what, buf_text(&text));
    struct str rest = buf_text(&text);
    for (size_t line = 1, size = 0; rest.p; line++) {
        struct str one = str_trim(str_cut(&rest, '\n'));
        double value;
        if (!one.n || one.p[0] == '#')
            continue;
        if (!parse_length(one, &value) || value != floor(value))
            return err_set(err, ERR_INPUT, "%.300s, line %zu: expected an integer from 0 to %d, got \"" STR_FMT "\"", path, line,
                           LENGTHS_MOST, STR_ARG(str_sub(one, 0, 40)));
        if (!ARRAY_FITS(l->list, size, l->n + 1))
            return err_memory(err, "reading %.300s", path);
        l->list[l->n++] = (uint32_t)value;
    }
    return l->n ? 0 : err_set(err, ERR_INPUT, "%.300s holds no length", path);
}

/* "… @LEAST-MOST" is cut off text. */
static bool read_bounds(struct lengths *l, struct str *text)
{
    double least = 1, most = LENGTHS_MOST;
    struct str rest = *text, head = str_cut(&rest, '@');
    if (rest.p && (!parse_length_pair(rest, '-', &least, &most) || least > most))
        return false;
    *text = str_trim(head);
    l->least = (uint32_t)least;
    l->most = (uint32_t)most;
    return true;
}

/* Parses "N", "A-B", "uniform:A,B", "normal:MEAN,SD" or "lognormal:…". Returns false for anything
 * else. */
static bool lengths_read_numbers(struct lengths *l, struct str text)
{
    static const struct {
        const char *head;
        enum lengths_kind kind;
    } kinds[] = {{"normal:", LENGTHS_NORMAL}, {"lognormal:", LENGTHS_LOGNORMAL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_starts(text, kinds[i].head)) {
            l->kind = kinds[i].kind;
            return parse_length_pair(str_sub(text, strlen(kinds[i].head), text.n), ',', &l->a, &l->b) && l->a > 0;
        }
    struct str list = str_starts(text, "uniform:") ? str_sub(text, strlen("uniform:"), text.n) : text;
    if (parse_length_pair(list, list.p != text.p ? ',' : '-', &l->a, &l->b)) {
        l->kind = LENGTHS_UNIFORM;
        return l->a <= l->b && l->a == floor(l->a) && l->b == floor(l->b);
    }
    l->kind = LENGTHS_FIXED;
    return parse_length(text, &l->a) && l->a == floor(l->a) && l->a > 0;
}

int lengths_read(struct lengths *ret, const char *text, const char *what, struct input_hashes *inputs, struct err *err)
{
    struct str s = str_trim(str_of(text));
    *ret = (struct lengths){.most = LENGTHS_MOST};
    if (!text)
        return 0;
    if (str_starts(s, "file:")) {
        ret->kind = LENGTHS_FILE;
        if (lengths_read_file(ret, s.p + strlen("file:"), what, inputs, err) < 0) {
            lengths_deinit(ret);
            return err_wrap(err, "--%s", what);
        }
        return 0;
    }
    if (!read_bounds(ret, &s) || !lengths_read_numbers(ret, s))
        return err_set(err, ERR_USAGE,
                       "--%s: expected 128, 64-512, normal:MEAN,SD, lognormal:MEAN,SD or file:PATH, got \"%.60s\"\n"
                       "hint: @LEAST-MOST may follow the middle three",
                       what, text);
    return 0;
}

void lengths_deinit(struct lengths *l)
{
    free(l->list);
    l->list = NULL;
    l->n = 0;
}

uint32_t lengths_at(const struct lengths *l, uint64_t seed, uint64_t stream, uint64_t n)
{
    uint64_t r = random_at(seed, stream, 2 * n), q = random_at(seed, stream, 2 * n + 1);
    double v = 0;
    switch (l->kind) {
    case LENGTHS_NONE: return 0;
    case LENGTHS_FILE: return l->list[random_below(r, l->n)];
    case LENGTHS_FIXED: v = l->a; break;
    case LENGTHS_UNIFORM: v = l->a + (double)random_below(r, (uint64_t)(l->b - l->a) + 1); break;
    case LENGTHS_NORMAL: v = l->a + l->b * random_normal(r, q); break;
    case LENGTHS_LOGNORMAL: {
        /* of the logarithm, so that mean and deviation of the lengths are a and b */
        double variance = log(1 + l->b * l->b / (l->a * l->a));
        v = exp(log(l->a) - variance / 2 + sqrt(variance) * random_normal(r, q));
        break;
    }
    }
    v = round(v);
    return v < l->least ? l->least : v > l->most ? l->most : (uint32_t)v;
}
