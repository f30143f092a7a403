/* guess_words.c: the meaning of words: names, units, which way is better, what is a result and what
 * was requested. */
#include "benchmarks/guess_parts.h"
#include "base/counted.h"
#include "mlruns-format/key.h"

#include <stdio.h>

bool guess_letters(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (str_is_letter(s.p[i]))
            return true;
    return false;
}

size_t guess_number(struct str s)
{
    size_t i = 0, digits = 0, groups = 0;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        i++;
    for (; i < s.n && str_is_digit(s.p[i]); i++)
        digits++;
    while (digits && digits <= 3 * (1 + groups) && i + 3 < s.n && s.p[i] == ',' && str_is_digit(s.p[i + 1]) && str_is_digit(s.p[i + 2]) &&
           str_is_digit(s.p[i + 3]) && !(i + 4 < s.n && str_is_digit(s.p[i + 4]))) { /* 1,234,567 */
        i += 4;
        digits += 3;
        groups++;
    }
    if (i + 1 < s.n && s.p[i] == '.' && str_is_digit(s.p[i + 1]))
        for (i++; i < s.n && str_is_digit(s.p[i]); i++)
            digits++;
    if (!digits || digits > 30)
        return 0;
    size_t e = i;
    if (e < s.n && (s.p[e] == 'e' || s.p[e] == 'E')) {
        e++;
        if (e < s.n && (s.p[e] == '-' || s.p[e] == '+'))
            e++;
        size_t from = e;
        while (e < s.n && str_is_digit(s.p[e]))
            e++;
        if (e > from && e - from <= 3)
            i = e;
    }
    return i;
}

bool guess_is_number(struct str s)
{
    return s.n && guess_number(s) == s.n;
}

const struct unit *guess_unit(struct str text)
{
    text = str_trim(text);
    if (text.n > 2 && ((text.p[0] == '(' && text.p[text.n - 1] == ')') || (text.p[0] == '[' && text.p[text.n - 1] == ']')))
        text = str_trim(str_sub(text, 1, text.n - 2));
    while (text.n && strchr(",;.", text.p[text.n - 1]))
        text.n--;
    if (str_is(text, "#/sec"))
        return units_find(STR("op/s"));
    if (!text.n || text.n > 24 || str_is(text, "h") || str_is(text, "op") || str_is(text, "day"))
        return NULL;
    return units_find(text);
}

struct str guess_last_word(struct str *text, const char *marks)
{
    while (text->n && strchr(marks, text->p[text->n - 1]))
        text->n--;
    size_t from = text->n;
    while (from && !strchr(marks, text->p[from - 1]))
        from--;
    struct str word = str_sub(*text, from, text->n - from);
    text->n = from;
    return word;
}

/* The unit of "mbytes_per_sec" by what is counted, the last word of COUNTED. What may be in a multiple that no
 * table knows has none, everything else is counted one by one. */
static const struct unit *rate_of(struct str counted)
{
    static const char *const named[] = {"ops", "iops", "b", "size", "data"};
    struct str noun = guess_last_word(&counted, " _-.:"), multiple = guess_last_word(&counted, " _-.:");
    char rate[64];
    if (noun.n && noun.n < 30 && multiple.n < 30) {
        bool many = counted_multiple(multiple) > 0;
        snprintf(rate, sizeof(rate), STR_FMT "%s" STR_FMT "/s", (int)(many ? multiple.n : 0), multiple.p, many ? " " : "", STR_ARG(noun));
        const struct unit *u = units_find(str_of(rate));
        if (u || many || counted_may_hide(noun))
            return u;
        for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
            if (str_ends_anycase(noun, named[i]))
                return NULL;
    }
    return units_find(STR("op_per_s"));
}

/* "cycles_to_ns", "ticks_per_us": a factor between two units, whose last word is no unit of the value. */
static bool is_conversion(struct str label)
{
    struct str rest = label, last = guess_last_word(&rest, " _-."), before = guess_last_word(&rest, " _-.");
    return last.n && rest.n && (str_is(before, "to") || str_is(before, "per"));
}

const struct unit *guess_unit_in(struct str label)
{
    static const char *const rates[] = {"per second", "per_second", "per sec", "per_sec", "per-second", "per-sec", "PerSecond", "PerSec"};
    static const struct {
        const char *end, *unit;
    } ends[] = {{"_ns", "ns"},
                {"_us", "us"},
                {"_usec", "us"},
                {"_ms", "ms"},
                {"_msec", "ms"},
                {"_sec", "s"},
                {"_secs", "s"},
                {"_seconds", "s"},
                {"Nanoseconds", "ns"}, /* timeTakenSeconds */
                {"Nanos", "ns"},
                {"Microseconds", "us"},
                {"Micros", "us"},
                {"Milliseconds", "ms"},
                {"Millis", "ms"},
                {"Seconds", "s"},
                {"_bytes", "B"},
                {"_percent", "percent"},
                {"equests/sec", "op_per_s"},
                {"_iops", "op_per_s"},
                {"Gflops", "GFLOP_per_s"},
                {"GFLOPS", "GFLOP_per_s"}};
    label = str_trim(label);
    for (size_t i = 0; i < label.n; i++)
        if (label.p[i] == '(' || label.p[i] == '[') {
            const char *close = memchr(label.p + i, label.p[i] == '(' ? ')' : ']', label.n - i);
            const struct unit *u = close ? guess_unit(str_sub(label, i, (size_t)(close + 1 - label.p) - i)) : NULL;
            if (u)
                return u;
        }
    if (str_is(label, "iops"))
        return units_find(STR("op_per_s"));
    bool has_er = str_has(label, "er"); /* as all rates have; most labels have not, and need no search */
    for (size_t i = 0; has_er && i < sizeof(rates) / sizeof(rates[0]); i++) {
        ptrdiff_t at = str_find(label, str_of(rates[i])); /* also in the middle: "ops-per-second-real-time" */
        struct str behind = at >= 0 ? str_sub(label, (size_t)at + strlen(rates[i]), label.n) : label;
        if (at >= 0 && (!behind.n || strchr(" _-", behind.p[0])))
            return rate_of(str_sub(label, 0, (size_t)at));
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (str_ends(label, ends[i].end) && !is_conversion(label))
            return units_find(str_of(ends[i].unit));
    const char *before = label.n ? memrchr(label.p, ' ', label.n) : NULL;
    if (!before && label.n) /* "bandwidth_MB/s", "bw_GBps" */
        before = memrchr(label.p, '_', label.n);
    struct str last = before ? str_sub(label, (size_t)(before + 1 - label.p), label.n) : label;
    return memchr(last.p, '/', last.n) || str_ends_anycase(last, "bps") ? guess_unit(last)
                                                                        : NULL; /* "Best Rate MB/s", "Requests/sec" is none */
}

const struct unit *guess_contract(const struct unit *u)
{
    static const char *const names[] = {
#define UNIT(name, dimension, factor) #name,
#include "mlruns-format/units.def"
#undef UNIT
    };
    const struct unit *best = NULL;
    for (size_t i = 0; u && i < sizeof(names) / sizeof(names[0]); i++) {
        const struct unit *c = units_find(str_of(names[i]));
        if (!c || strcmp(c->dimension, u->dimension))
            continue;
        bool fits = c->factor <= u->factor, best_fits = best && best->factor <= u->factor;
        if (!best || (fits && !best_fits) || (fits == best_fits && (fits ? c->factor > best->factor : c->factor < best->factor)))
            best = c;
    }
    return best;
}

/* Lower case, words parted by one blank, with a blank at both ends: so that a search finds whole
 * words. */
static void normalize_words(struct str label, char *to, size_t size)
{
    size_t n = 0;
    to[n++] = ' ';
    for (size_t i = 0; i < label.n && n + 3 < size; i++) {
        char c = label.p[i];
        bool word = str_is_letter(c) || str_is_digit(c);
        bool hump = i && c >= 'A' && c <= 'Z' && label.p[i - 1] >= 'a' && label.p[i - 1] <= 'z';
        if ((hump || !word) && to[n - 1] != ' ')
            to[n++] = ' ';
        if (word)
            to[n++] = (char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
    }
    if (to[n - 1] != ' ')
        to[n++] = ' ';
    to[n] = 0;
}

/* Returns whether the label contains one of the words (NULL-terminated) as complete words. */
static bool has_word(struct str label, const char *const *words)
{
    char text[300], word[40];
    normalize_words(label, text, sizeof(text));
    for (; *words; words++) {
        snprintf(word, sizeof(word), " %s ", *words);
        if (strstr(text, word))
            return true;
    }
    return false;
}

static const char *const rate_words[] = {"bandwidth", "bw",     "throughput", "rate",       "speed", "iops",   "ops",   "per second",
                                         "per sec",   "sec",    "bitrate",    "tps",        "qps",   "rps",    "score", "performance",
                                         "perf",      "gflops", "mflops",     "tflops",     "flops", "teps",   "gteps", "algbw",
                                         "busbw",     "copy",   "scale",      "add",        "triad", "ns day", "gbps",  "mbps",
                                         "goodput",   "rating", "gup",        "bandwidths", "rates", NULL};
static const char *const time_words[] = {"latency", "time",     "elapsed",  "clat", "slat",   "lat",  "delay",     "duration",
                                         "wall",    "walltime", "seconds",  "rtt",  "jitter", "wait", "loop",      "cost",
                                         "real",    "runtime",  "hours ns", "usec", "ttft",   "tpot", "latencies", NULL};
static const char *const bad_words[] = {"errors", "error", "failed", "failures", "failure",  "retransmits",
                                        "retr",   "lost",  "drops",  "dropped",  "residual", NULL};
static const char *const stat_words[] = {"avg",     "average", "mean",  "median",     "min",  "max",  "minimum",
                                         "maximum", "best",    "total", "percentile", "p50",  "p90",  "p95",
                                         "p99",     "result",  "50th",  "90th",       "95th", "99th", NULL};
static const char *const spread_words[] = {"stddev", "stdev", "std", "dev", "deviation", "mdev", "sd", "variance", "var", "cv", NULL};
static const char *const param_words[] = {
    "size",   "bytes",      "threads", "thread",  "processes", "ranks",   "nodes",   "iterations", "repetitions", "nb",
    "blocks", "clients",    "tasks",   "count",   "number",    "n",       "p",       "q",          "depth",       "width",
    "limit",  "block size", "length",  "level",   "warmup",    "steps",   "atoms",   "elements",   "root",        "concurrency",
    "cpus",   "cores",      "streams", "samples", "msg",       "message", "repeats", "port",       NULL};
static const char *const noise_words[] = {"date",      "timestamp", "timesecs", "pid",     "port",      "seed",     "epoch", "version",
                                          "copyright", "revision",  "id",       "address", "started",   "finished", "uuid",  "md5",
                                          "rank",      "socket",    "cookie",   "ts",      "max procs", NULL};

static const char *const class_words[] = {"range", "bucket", "bin", "mid point", "midpoint", "cumulative", "histogram", NULL};

bool guess_is_result(struct str label)
{
    return has_word(label, rate_words) || has_word(label, time_words) || has_word(label, bad_words) || has_word(label, stat_words) ||
           has_word(label, spread_words);
}

bool guess_is_param(struct str label)
{
    return has_word(label, param_words);
}

bool guess_is_spread(struct str label)
{
    return has_word(label, spread_words);
}

bool guess_is_class(struct str label)
{
    return has_word(label, class_words);
}

bool guess_is_noise(struct str label)
{
    return has_word(label, noise_words);
}

enum direction guess_direction(struct str label, const struct unit *u)
{
    static const char *const per_second[] = {"sec", "per second", "bandwidth", "throughput", NULL};
    static const char *const rates[] = {"byte/s", "op/s", "bit/s", "token/s", "flop/s", "teps", NULL};
    if (guess_is_spread(label))
        return DIR_NONE;
    for (size_t i = 0; u && rates[i]; i++)
        if (!strcmp(u->dimension, rates[i]))
            return DIR_HIGHER;
    if (u && !strcmp(u->dimension, "second"))
        return has_word(label, time_words) || has_word(label, stat_words) ? DIR_LOWER : DIR_NONE;
    if (u)
        return !strcmp(u->dimension, "byte") && has_word(label, per_second) ? DIR_HIGHER : DIR_NONE;
    if (has_word(label, time_words) || has_word(label, bad_words))
        return DIR_LOWER;
    return has_word(label, rate_words) ? DIR_HIGHER : DIR_NONE;
}

/* Does a word begin at i, in the middle of "timeTakenSeconds"? Not in "MiB". */
static bool is_camel_word_begin(struct str s, size_t i)
{
    return i > 1 && i + 1 < s.n && s.p[i] >= 'A' && s.p[i] <= 'Z' && s.p[i + 1] >= 'a' && s.p[i + 1] <= 'z' && s.p[i - 1] >= 'a' &&
           s.p[i - 1] <= 'z' && s.p[i - 2] >= 'a' && s.p[i - 2] <= 'z';
}

/* "95th percentile", "99%", "50.00th" -> p95 …; NULL: it is none. */
static const char *percentile_name(struct str label, struct arena *a)
{
    label = str_trim(label);
    size_t n = guess_number(label);
    struct str rest = str_sub(label, n, label.n);
    if (!n || n > 8 || !(str_starts(rest, "th") || str_starts(rest, "%") || str_starts(rest, "st ") || str_starts(rest, "nd ")))
        return NULL;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    buf_putc(&b, 'p');
    for (size_t i = 0; i < n; i++)
        if (str_is_digit(label.p[i]))
            buf_putc(&b, label.p[i]);
    return arena_dup(a, b.p, b.n);
}

const char *guess_segment(struct str label, struct arena *a)
{
    const char *p = percentile_name(label, a);
    if (p)
        return p;
    CLEANUP_BUF struct buf plain, b;
    buf_init(&plain, GUESS_LINE_MAX + 1);
    buf_init(&b, GUESS_LINE_MAX * 4);
    const struct unit *u = guess_unit_in(label);
    for (size_t i = 0; i < label.n; i++) { /* without the text in brackets */
        const char *close = label.p[i] == '(' || label.p[i] == '[' ? memchr(label.p + i, label.p[i] == '(' ? ')' : ']', label.n - i) : NULL;
        if (is_camel_word_begin(label, i))
            buf_putc(&plain, '_');
        if (close)
            i = (size_t)(close - label.p);
        else
            buf_putc(&plain, label.p[i]);
    }
    struct str text = str_trim(buf_text(&plain));
    const char *tail = text.n ? memrchr(text.p, strchr(text.p, ' ') ? ' ' : '_', text.n) : NULL;
    if (u && tail && guess_unit_in((struct str){tail, (size_t)(text.p + text.n - tail)}) == u) /* the unit is added by itself */
        text.n = (size_t)(tail - text.p);
    key_segment(&b, text.n ? text : label);
    size_t from = 0, n;
    while (from < b.n && (b.p[from] == '_' || str_is_digit(b.p[from])))
        from++;
    n = b.n > from + 48 ? 48 : b.n - from;
    while (n && b.p[from + n - 1] == '_')
        n--;
    return n && str_is_letter(b.p[from]) ? arena_dup(a, b.p + from, n) : "value";
}

void guess_pattern_numbers(struct buf *to, struct str text, bool keep_numbers, struct loose_numbers *ret)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool apart = !i || !str_is_letter(text.p[i - 1]);
        struct str token = !i || str_is_blank(text.p[i - 1]) ? str_sub(text, i, text.n) : (struct str){"", 0};
        token = token.n ? str_word(&token) : token;
        if (token.n > 3 && token.p == text.p + i &&
            (str_has(token, "://") || str_starts(token, "/") || str_starts(token, "./"))) { /* another one next time */
            buf_puts(to, "\\S+");
            i += token.n - 1;
            continue;
        }
        size_t n = apart && str_is_digit(c) && !keep_numbers ? guess_number(str_sub(text, i, text.n)) : 0;
        char behind = i + n < text.n ? text.p[i + n] : ' ';
        bool fraction = n && memchr(text.p + i, '.', n); /* "after 3.01s" */
        if (n && (fraction || !str_is_letter(behind)) && behind != '%') {
            buf_puts(to, GUESS_LOOSE_NUMBER);
            if (ret && ret->n < GUESS_LOOSE_MAX)
                ret->number[ret->n++] = str_sub(text, i, n);
            i += n - 1;
        } else if (str_is_digit(c) && !apart) { /* all of "sha256": "sha224" is another name */
            for (; i < text.n && str_is_digit(text.p[i]); i++)
                buf_putc(to, text.p[i]);
            i--;
        } else if (c == ' ' || c == '\t') {
            while (i + 1 < text.n && (text.p[i + 1] == ' ' || text.p[i + 1] == '\t'))
                i++;
            buf_puts(to, "\\s+");
        } else {
            if (strchr("\\^$.|?*+()[]{}", c))
                buf_putc(to, '\\');
            buf_putc(to, c);
        }
    }
}

void guess_pattern(struct buf *to, struct str text, bool keep_numbers)
{
    guess_pattern_numbers(to, text, keep_numbers, NULL);
}

void guess_quoted(struct buf *to, struct str text)
{
    buf_putc(to, '\'');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            buf_putc(to, '\'');
        buf_putc(to, text.p[i]);
    }
    buf_putc(to, '\'');
}
