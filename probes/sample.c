/* sample.c: files kept open, counters that become rates, names of devices in keys. */
#include "probes/sample.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 1 << 16, SHORT = 1024, NAME_LONGEST = 20 };
static const int64_t SHORTEST_NS = 100000000; /* a rate over less would be the granularity of what counts, or one burst */

/* Opens the file at the first call only. Returns false with the errno of that call, also later. */
static bool __attribute__((format(printf, 3, 0)))
sample_open_once(const struct host *h, struct sampled_file *f, const char *fmt, va_list ap)
{
    char path[512];
    if (f->fd)
        return true;
    if (f->why) {
        errno = f->why;
        return false;
    }
    int n = vsnprintf(path, sizeof path, fmt, ap);
    int fd = n < 0 || (size_t)n >= sizeof path ? (errno = ENAMETOOLONG, -1) : look_open(h, path);
    if (fd < 0) {
        f->why = errno;
        return false;
    }
    f->fd = fd + 1;
    return true;
}

/* Reads the file again from its start into a static buffer, to which *ret points until the next
 * call; without an incomplete last line. False with errno: not readable, or empty (ENODATA). */
static bool sample_read_again(struct sampled_file *f, struct str *ret)
{
    static char text[TEXT];
    size_t n = 0;
    while (n < sizeof text) { /* proc returns at most a page or so per call */
        ssize_t got = pread(f->fd - 1, text + n, sizeof text - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        n += (size_t)got;
        if (got < SHORT) /* the kernel would have filled half a page at least: its end, without another read */
            break;
    }
    const char *end = n == sizeof text ? memrchr(text, '\n', n) : NULL;
    if (end) /* half a number of the truncated line would be read as a counter that was reset */
        n = (size_t)(end + 1 - text);
    *ret = (struct str){text, n};
    errno = ENODATA;
    return n > 0;
}

bool sample_read(const struct host *h, struct sampled_file *f, struct str *ret, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bool open = sample_open_once(h, f, fmt, ap);
    va_end(ap);
    return open && sample_read_again(f, ret);
}

bool sample_number(const struct host *h, struct sampled_file *f, double *ret, const char *fmt, ...)
{
    struct str text;
    va_list ap;
    va_start(ap, fmt);
    bool open = sample_open_once(h, f, fmt, ap);
    va_end(ap);
    if (!open || !sample_read_again(f, &text))
        return false;
    struct str word = str_word(&text);
    errno = EINVAL;
    return str_double(str_cut(&word, '@'), ret) && isfinite(*ret);
}

void sample_close(struct sampled_file *f)
{
    if (f->fd)
        close(f->fd - 1);
    *f = (struct sampled_file){0};
}

bool sample_rate(struct sample_count *c, const struct host *h, double now, double range, double *ret)
{
    int64_t ns = h->state->now_ns;
    double more = now - c->last;
    bool is_short = c->known && ns - c->ns < SHORTEST_NS;
    if (is_short && more >= 0 && !h->state->ended)
        return false;
    if (c->known && more < 0 && range > 0 && c->last <= range && now <= range)
        more += range;
    bool counted = c->known && more >= 0, good = counted && !is_short;
    if (counted)
        c->sum += more;
    if (good)
        *ret = more / ((double)(ns - c->ns) / 1e9);
    *c = (struct sample_count){.last = now, .sum = c->sum, .ns = ns, .known = true};
    return good;
}

void sample_emit(const struct host *h, struct record *r, const char *key, double value)
{
    record_metric(r, key, round(value * 10) / 10, NULL, DIR_NONE, h->state->round, 0);
}

void sample_emit_fine(const struct host *h, struct record *r, double value, const char *fmt, ...)
{
    char key[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(key, sizeof key, fmt, ap);
    va_end(ap);
    record_metric(r, key, round(value * 1e3) / 1e3, NULL, DIR_NONE, h->state->round, 0);
}

/* Returns whether what follows the driver's word is made by the kernel or systemd: groups of at
 * most two letters and one to four digits, "p1s0f0np0", "5_0", "0n1"; disks may end in letters
 * ("sda"). */
static bool sample_is_numbered_name(struct str rest, bool disk)
{
    static const char letters[] = "opsfdnvcirb";
    for (size_t i = 0; disk && i <= 2 && i <= rest.n; i++)
        if (i == rest.n)
            return i > 0;
        else if (rest.p[i] < 'a' || rest.p[i] > 'z')
            break;
    for (size_t i = 0; i < rest.n;) {
        size_t words = 0, digits = 0;
        if (rest.p[i] == '_')
            i++;
        for (; i < rest.n && rest.p[i] != 0 && strchr(letters, rest.p[i]); i++)
            words++;
        for (; i < rest.n && str_is_digit(rest.p[i]); i++)
            digits++;
        if (words > 2 || digits == 0 || digits > 4)
            return false;
    }
    return rest.n > 0;
}

void sample_device_name(char ret[24], const char *name, const char *other, int number)
{
    static const struct {
        const char *word;
        bool disk;
    } rows[] = {{"sd", true},    {"vd", true},    {"xvd", true},      {"hd", true},     {"nvme", false}, {"mmcblk", false}, {"md", false},
                {"dm-", false},  {"pmem", false}, {"nbd", false},     {"rbd", false},   {"zd", false},   {"dasd", true},    {"eth", false},
                {"en", false},   {"ib", false},   {"bond", false},    {"hsn", false},   {"wl", false},   {"mlx", false},    {"hfi", false},
                {"roce", false}, {"opa", false},  {"bnxt_re", false}, {"irdma", false}, {"qedr", false}, {"efa", false},    {"cxi", false},
                {"rxe", false},  {"siw", false},  {"erdma_", false}};
    struct str text = str_of(name);
    for (size_t i = 0; text.n <= NAME_LONGEST && i < sizeof rows / sizeof *rows; i++)
        if (str_starts(text, rows[i].word) && sample_is_numbered_name(str_sub(text, strlen(rows[i].word), text.n), rows[i].disk)) {
            snprintf(ret, 24, "%.20s", name);
            for (char *c = ret; *c; c++)
                *c = *c == '-' ? '_' : *c;
            return;
        }
    snprintf(ret, 24, "%.12s%d", other, number);
}
