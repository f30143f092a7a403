/* figure_words.c: which words name results, conditions and units in lines that no rules know. */
#include "benchmarks/figure_words.h"
#include "base/counted.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>

/* Lower-case words with one blank between and around them; camel case is divided. */
static void divide_words(struct str label, char *to, size_t size)
{
    size_t n = 0;
    to[n++] = ' ';
    for (size_t i = 0; i < label.n && n + 3 < size; i++) {
        char c = label.p[i];
        bool word = str_is_letter(c) || (c >= '0' && c <= '9');
        bool hump = i && c >= 'A' && c <= 'Z' && label.p[i - 1] >= 'a' && label.p[i - 1] <= 'z';
        if ((hump || !word) && to[n - 1] != ' ')
            to[n++] = ' ';
        if (word)
            to[n++] = str_lower(c);
    }
    if (to[n - 1] != ' ')
        to[n++] = ' ';
    to[n] = 0;
}

/* ---- the lists: sorted, in the letters of divide_words; a phrase has blanks ---- */

static const char *const progress_words[] = {"cleanup", "eta", "warm up", "warming", "warmup"};
static const char *const estimate_words[] = {"about",     "approx",    "approximate", "approximately", "estimate",
                                             "estimated", "projected", "roughly",     "theoretical"};
static const char *const condition_words[] = {"age",
                                              "audio duration",
                                              "available",
                                              "base clock",
                                              "baseline",
                                              "bogomips",
                                              "budget",
                                              "budgeted",
                                              "build",
                                              "capacity",
                                              "clip duration",
                                              "clock rate",
                                              "clock speed",
                                              "compiled",
                                              "confidence",
                                              "config",
                                              "configuration",
                                              "configured",
                                              "copyright",
                                              "core clock",
                                              "cpu mhz",
                                              "created",
                                              "cutoff",
                                              "date",
                                              "deadline",
                                              "default",
                                              "delay",
                                              "done",
                                              "epoch",
                                              "error margin",
                                              "eta",
                                              "every",
                                              "expected",
                                              "expire",
                                              "expires",
                                              "file duration",
                                              "free",
                                              "frequency",
                                              "ghz",
                                              "gpu clock",
                                              "granularity",
                                              "id",
                                              "input duration",
                                              "interval",
                                              "keepalive",
                                              "last",
                                              "length",
                                              "license",
                                              "limit",
                                              "link",
                                              "margin",
                                              "max time",
                                              "maxtime",
                                              "media duration",
                                              "memory clock",
                                              "mhz",
                                              "minimum required",
                                              "modified",
                                              "nominal",
                                              "offset",
                                              "old",
                                              "option",
                                              "options",
                                              "over a",
                                              "overhead of",
                                              "parameter",
                                              "parameters",
                                              "peak theoretical",
                                              "per connection",
                                              "period",
                                              "pid",
                                              "play time",
                                              "playtime",
                                              "poll",
                                              "polling",
                                              "port",
                                              "previous",
                                              "progress",
                                              "ramp",
                                              "ramping",
                                              "reference",
                                              "refresh",
                                              "remaining",
                                              "report",
                                              "reporting",
                                              "requested",
                                              "requesting",
                                              "requirement",
                                              "requirements",
                                              "resolution",
                                              "runtime limit",
                                              "seed",
                                              "set",
                                              "size",
                                              "sleep",
                                              "source duration",
                                              "stamp",
                                              "start",
                                              "started",
                                              "starting",
                                              "stream duration",
                                              "target",
                                              "testing",
                                              "theoretical",
                                              "think",
                                              "threshold",
                                              "tick",
                                              "ticks",
                                              "time out",
                                              "time step",
                                              "timeout",
                                              "timestamp",
                                              "timestep",
                                              "timezone",
                                              "tolerance",
                                              "track duration",
                                              "tsc",
                                              "ttl",
                                              "tz",
                                              "uptime",
                                              "version",
                                              "video duration",
                                              "warmup",
                                              "warning",
                                              "window"};
static const char *const spread_words[] = {"ci", "cv",  "dev",    "deviation", "err",   "error",       "mad", "mdev",
                                           "sd", "std", "stddev", "stderr",    "stdev", "uncertainty", "var", "variance"};
static const char *const statistic_words[] = {"50",   "50th",       "75",      "75th",    "90",    "90th",    "95",  "95th",
                                              "99",   "99th",       "average", "avg",     "best",  "fastest", "max", "maximum",
                                              "mean", "median",     "min",     "minimum", "p50",   "p75",     "p90", "p95",
                                              "p99",  "percentile", "slowest", "sum",     "total", "worst"};
static const char *const time_words[] = {
    "built",  "compiled in", "completed", "cpu",    "delay avg", "done in", "duration", "elapsed", "executed", "finished",
    "jitter", "latencies",   "latency",   "passed", "processed", "ran",     "real",     "rtt",     "runtime",  "seconds",
    "sys",    "system",      "time",      "took",   "tpot",      "ttft",    "user",     "wall",    "walltime"};
/* The nouns that alone show what a number is, a time or a rate. */
static const char *const time_noun_words[] = {"delay",   "duration", "elapsed", "lat",  "latencies", "latency", "rtt",  "runtime", "secs",
                                              "seconds", "time",     "times",   "took", "tpot",      "ttft",    "wait", "walltime"};
static const char *const rate_noun_words[] = {"bandwidth", "bw", "fps", "iops", "qps", "rate", "rps", "speed", "throughput", "tps"};
static const char *const elapsed_words[] = {"cpu",   "elapsed", "execution", "overall", "real", "run time",
                                            "taken", "took",    "total",     "user",    "wall"};
static const char *const task_time_words[] = {
    "build time",  "compile time", "computation time", "decode time",  "decoding time",   "encode time", "encoding time", "execution time",
    "index time",  "insert time",  "load time",        "parse time",   "processing time", "query time",  "read time",     "render time",
    "search time", "solve time",   "sort time",        "startup time", "training time",   "write time"};
/* Times of what is modelled or waited for, which no clock measures. */
static const char *const model_time_words[] = {"arrival", "constant", "decay",      "end",         "exposure",  "final",
                                               "half",    "idle",     "initial",    "integration", "life",      "max simulation",
                                               "model",   "physical", "relaxation", "service",     "simulated", "simulation",
                                               "sleep",   "step",     "stop",       "think",       "virtual",   "wait"};
static const char *const span_words[] = {"duration", "length", "run time", "runtime", "test duration", "test time"};
static const char *const other_span_words[] = {"time"};
static const char *const third_span_words[] = {"average", "avg",     "cpu",   "elapsed",  "latency", "max",   "mean",
                                               "min",     "overall", "real",  "response", "rtt",     "spent", "sys",
                                               "system",  "took",    "total", "used",     "user",    "wall"};
static const char *const score_words[] = {"acceptance fraction",
                                          "accuracy",
                                          "aic",
                                          "auc",
                                          "bandwidth",
                                          "best cost",
                                          "best value",
                                          "bic",
                                          "bleu",
                                          "chi square",
                                          "coefficient of determination",
                                          "compression ratio",
                                          "concordance",
                                          "divergence",
                                          "efficiency",
                                          "elbo",
                                          "f1",
                                          "final cost",
                                          "fitness",
                                          "function value",
                                          "imbalance",
                                          "inertia",
                                          "iou",
                                          "log evidence",
                                          "log likelihood",
                                          "log loss",
                                          "loglik",
                                          "loglikelihood",
                                          "logz",
                                          "loss",
                                          "mae",
                                          "map",
                                          "mean absolute error",
                                          "mean squared error",
                                          "mse",
                                          "ndcg",
                                          "objective",
                                          "objective value",
                                          "optimal value",
                                          "performance",
                                          "perplexity",
                                          "precision",
                                          "psnr",
                                          "r squared",
                                          "r2",
                                          "recall",
                                          "residual",
                                          "rmse",
                                          "rouge",
                                          "silhouette",
                                          "speed up",
                                          "speedup",
                                          "squared error",
                                          "ssim",
                                          "throughput",
                                          "total cost",
                                          "wer"};
static const char *const score_word_words[] = {"dmips",   "figure of merit", "fom",    "glups", "gups",         "index score",
                                               "mips",    "mlups",           "mups",   "mwips", "optimal cost", "optimal objective",
                                               "optimum", "overall score",   "rating", "score", "throughput"};
static const char *const memory_words[] = {"allocated", "footprint", "high water", "peak", "resident", "rss", "transferred"};
static const char *const count_words[] = {"count", "in all", "number", "per"};
/* Titles of a column with the difference between the rows of a table. */
static const char *const step_words[] = {"batch",   "block", "blocksize", "bytes",   "clients",   "concurrency", "connections",
                                         "cores",   "cpus",  "depth",     "dim",     "dimension", "elements",    "length",
                                         "message", "msg",   "msgsize",   "nodes",   "order",     "processes",   "procs",
                                         "ranks",   "size",  "streams",   "threads", "workers"};
static const char *const size_words[] = {"length", "size"};

/* A sorted list, and where the words with each first character begin in it: found on first use. */
struct indexed_words {
    const char *const *words;
    size_t n;
    size_t from[37]; /* 0-9, a-z, the end */
    bool indexed;
};

#define LIST(array)                                                                                                                        \
    {                                                                                                                                      \
        .words = (array), .n = sizeof(array) / sizeof((array)[0])                                                                          \
    }

static struct indexed_words progress_list = LIST(progress_words), estimate_list = LIST(estimate_words),
                            condition_list = LIST(condition_words), spread_list = LIST(spread_words),
                            statistic_list = LIST(statistic_words), time_list = LIST(time_words), span_list = LIST(span_words),
                            other_span_list = LIST(other_span_words), third_span_list = LIST(third_span_words),
                            score_list = LIST(score_words), score_word_list = LIST(score_word_words), memory_list = LIST(memory_words),
                            count_list = LIST(count_words), size_list = LIST(size_words), elapsed_list = LIST(elapsed_words),
                            task_time_list = LIST(task_time_words), time_noun_list = LIST(time_noun_words),
                            rate_noun_list = LIST(rate_noun_words), model_time_list = LIST(model_time_words), step_list = LIST(step_words);

static size_t initial_index(char c)
{
    return str_is_digit(c) ? (size_t)(c - '0') : (size_t)(c - 'a') + 10;
}

static void index_words(struct indexed_words *list)
{
    for (size_t i = 0, first = 0; first < 37; first++) {
        while (i < list->n && initial_index(list->words[i][0]) < first)
            i++;
        list->from[first] = i;
    }
    list->indexed = true;
}

/* Begins one of the list's words or phrases at `at`, in a text of divide_words? */
static bool begins_listed(struct indexed_words *list, const char *at)
{
    size_t first = initial_index(*at);
    if (!list->indexed)
        index_words(list);
    for (size_t i = list->from[first]; i < list->from[first + 1]; i++) {
        const char *word = list->words[i];
        size_t k = 1;
        while (word[k] && word[k] == at[k])
            k++;
        if (!word[k] && at[k] == ' ')
            return true;
    }
    return false;
}

/* Has the label one of the words or phrases? */
static bool has_any(struct str label, struct indexed_words *list)
{
    char text[200];
    divide_words(str_sub(label, 0, 150), text, sizeof text);
    for (const char *at = text; *at; at++)
        if (*at != ' ' && at[-1] == ' ' && begins_listed(list, at))
            return true;
    return false;
}

/* Is the word, whatever its case, one of the list's? The list is in lower case, with a blank between words. */
static bool is_any(struct str word, const char *list)
{
    char text[32];
    if (!word.n || word.n >= sizeof text)
        return false;
    for (size_t i = 0; i < word.n; i++)
        text[i] = str_lower(word.p[i]);
    text[word.n] = 0;
    for (const char *at = strstr(list, text); at; at = strstr(at + 1, text))
        if ((at == list || at[-1] == ' ') && (at[word.n] == ' ' || !at[word.n]))
            return !memchr(text, ' ', word.n);
    return false;
}

bool figure_is_level(struct str word)
{
    return is_any(word, "info debug notice trace log stats root main stdout result: bench");
}

bool figure_is_small(struct str word)
{
    return is_any(word, "is of in at was to and with for on by the a an took takes are were about approximately after required x");
}

bool figure_is_progress(struct str line)
{
    static const char *const marks[] = {"%|",   "it/s]",  "[==",      "[##",         "[>",   "\xe2\x96\x88", "ETA",
                                        "eta ", "frame=", "Stream #", "Encoding as", "...%", "remaining",    "so far"};
    bool present[256] = {false};
    for (size_t i = 0; i < line.n; i++)
        present[(unsigned char)line.p[i]] = true;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = marks[i];
        while (*at && present[(unsigned char)*at])
            at++;
        if (!*at && str_has(line, marks[i]))
            return true;
    }
    struct str rest = line, first = str_word(&rest), second = str_word(&rest);
    while (first.n && strchr("[:", first.p[0]))
        first = str_sub(first, 1, first.n);
    while (first.n && strchr("]:#", first.p[first.n - 1]))
        first.n--;
    bool counted = second.n > 0;
    for (size_t i = 0; i < second.n; i++) /* "3", "3/10:", "[12]", "#4", not "3.5ms" */
        counted = counted && (str_is_digit(second.p[i]) || strchr("#[]():/,", second.p[i]));
    if (counted &&
        is_any(first,
               "epoch step iter iteration batch round pass trial sample chunk progress seed warmup interval cycle loop run rep repeat "
               "repetition attempt try frame generation gen level depth block worker thread rank process node job client test"))
        return true;
    return is_any(first, "warning warning: error error: usage: usage warn note: hint:") || has_any(line, &progress_list);
}

bool figure_is_loop(struct str word)
{
    return is_any(word, "epoch iter iteration step round generation gen");
}

bool figure_is_round(struct str title)
{
    return figure_is_loop(title) || is_any(title, "it n_gen ngen");
}

bool figure_is_round_value(struct str title)
{
    return is_any(title, "avg best cost error fitness fval max mean min norm obj objective target");
}

bool figure_is_estimate(struct str line)
{
    return has_any(line, &estimate_list);
}

struct str figure_without_estimate(struct str line)
{
    ptrdiff_t at = str_find(line, STR(", estimated "));
    return at > 0 ? str_sub(line, 0, (size_t)at) : line;
}

bool figure_is_condition(struct str label)
{
    struct str rest = label;
    return has_any(label, &condition_list) || figure_is_spread(label) || str_is_anycase(str_word(&rest), "running");
}

bool figure_is_rate_condition(struct str label)
{
    char text[200], kept[200];
    size_t n = 0;
    divide_words(str_sub(label, 0, 150), text, sizeof text);
    struct str rest = str_of(text);
    static const char *const targets[] = {" rate ", " speed ", " throughput ", " bandwidth ", " point ", " value ", " level "};
    bool of_rate = false;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        of_rate = of_rate || str_has(rest, targets[i]);
    for (struct str word; (word = str_word(&rest)).n;) /* "set" may be what was done: "SET: 81000 requests per second" */
        if (!begins_listed(&size_list, word.p) && !(str_is(word, "set") && !of_rate))
            n += (size_t)snprintf(kept + n, sizeof kept - n, STR_FMT " ", STR_ARG(word));
    return n && figure_is_condition(str_of(kept));
}

bool figure_is_spread(struct str label)
{
    return has_any(label, &spread_list);
}

bool figure_is_amount(struct str word)
{
    return is_any(word, "n count num samples");
}

bool figure_is_statistic(struct str label)
{
    return has_any(label, &statistic_list);
}

bool figure_is_time(struct str label)
{
    return has_any(label, &time_list) || figure_is_statistic(label);
}

/* Removes the last word of the name and returns it: "latency" of "read latency:", and of
 * "ReadLatency". Empty: there is none. */
static struct str cut_last_word(struct str *name)
{
    struct str word = guess_last_word(name, " _-.:=()[]");
    for (size_t i = word.n; i > 1; i--)
        if (str_lower(word.p[i - 1]) != word.p[i - 1] && word.p[i - 2] >= 'a' && word.p[i - 2] <= 'z') {
            name->n += i - 1;
            return str_sub(word, i - 1, word.n);
        }
    return word;
}

/* Ends the name in a noun of the list, perhaps with statistics behind it ("latency avg")? "per" before it makes it another's. */
static bool ends_in_noun(struct str name, struct indexed_words *nouns, struct str *ret_rest)
{
    struct str word = cut_last_word(&name), rest = name;
    while (!has_any(word, nouns)) {
        if (!word.n || !figure_is_statistic(word))
            return false;
        word = cut_last_word(&name);
        rest = name;
    }
    if (is_any(cut_last_word(&name), "per"))
        return false;
    if (ret_rest)
        *ret_rest = str_trim(rest);
    return true;
}

bool figure_ends_in_time(struct str name, struct str *ret_rest)
{
    return ends_in_noun(name, &time_noun_list, ret_rest);
}

bool figure_ends_in_rate(struct str name, struct str *ret_rest)
{
    if (ends_in_noun(name, &rate_noun_list, ret_rest))
        return true;
    while (name.n && strchr(" :=", name.p[name.n - 1]))
        name.n--;
    const struct unit *u = figure_unit_of_label(name);
    if (!u || !figure_is_rate(u))
        return false;
    if (ret_rest) /* "operations per second", "runs/s" */
        *ret_rest = (struct str){"", 0};
    return true;
}

bool figure_is_span(struct str label)
{
    return has_any(label, &span_list) || (has_any(label, &other_span_list) && !has_any(label, &third_span_list));
}

bool figure_is_elapsed(struct str label)
{
    return has_any(label, &elapsed_list);
}

bool figure_is_task_time(struct str label)
{
    return has_any(label, &task_time_list);
}

bool figure_is_measured(struct str label)
{
    if (has_any(label, &model_time_list))
        return false;
    if (is_any(label, "elapsed runtime walltime usertime systime cputime realtime exectime") || has_any(label, &task_time_list))
        return true;
    bool time = figure_ends_in_time(label, NULL) || str_ends_anycase(label, "time taken") || str_ends_anycase(label, "time used");
    return time && (has_any(label, &elapsed_list) || figure_is_statistic(label));
}

bool figure_is_score(struct str label)
{
    return figure_is_score_word(label) || has_any(label, &score_list);
}

bool figure_is_score_name(struct str name)
{
    char text[80];
    divide_words(str_sub(name, 0, 60), text, sizeof text);
    struct str words = str_trim(str_of(text));
    for (size_t i = 0; i < score_list.n; i++)
        if (str_is(words, score_list.words[i]))
            return true;
    return false;
}

bool figure_is_score_word(struct str label)
{
    return str_is_anycase(label, "points") || has_any(label, &score_word_list);
}

bool figure_is_count(struct str label)
{
    return has_any(label, &count_list);
}

bool figure_is_step(struct str title)
{
    return has_any(title, &step_list) || str_is(title, "n") || str_is(title, "N") || figure_is_round(title);
}

bool figure_is_memory(struct str label)
{
    return has_any(label, &memory_list);
}

bool figure_is_rate(const struct unit *u)
{
    return strstr(u->dimension, "/s") || !strcmp(u->dimension, "teps");
}

bool figure_is_time_or_rate(const struct unit *u)
{
    return u && (!strcmp(u->dimension, "second") || figure_is_rate(u));
}

bool figure_is_counted(const struct unit *u)
{
    return u && u->factor == 1 && (!strcmp(u->dimension, "op/s") || !strcmp(u->dimension, "token/s") || !strcmp(u->dimension, "teps"));
}

bool figure_is_loose_bytes(const struct unit *u)
{
    return u && (u->factor == 1e3 || u->factor == 1e6 || u->factor == 1e9 || u->factor == 1e12);
}

const char *figure_rate_name(const struct unit *u)
{
    return !strcmp(u->dimension, "byte/s") || !strcmp(u->dimension, "bit/s") ? "bandwidth" : "rate";
}

static bool is_second(struct str s)
{
    return is_any(s, "s sec second secs seconds");
}

/* A counted noun: letters alone, and none that may stand for an unknown multiple ("MH", "kfoos"). */
static bool is_counted(struct str amount)
{
    if (amount.n < 3 || amount.n > 20)
        return is_any(amount, "op it ev tx");
    for (size_t i = 0; i < amount.n; i++)
        if (!str_is_letter(amount.p[i]) && amount.p[i] != '_')
            return false;
    return !counted_may_hide(amount) && !units_find(amount);
}

bool figure_rate(struct str amount, struct str time, const struct unit **ret)
{
    char text[64];
    if (!is_second(time) || amount.n > 40)
        return false;
    snprintf(text, sizeof text, STR_FMT "/s", STR_ARG(amount));
    const struct unit *u = units_find(str_of(text));
    *ret = u && figure_is_rate(u) ? u : is_counted(amount) ? units_find(STR("op/s")) : NULL;
    return *ret != NULL;
}

static bool is_span_of_time(struct str s)
{
    return is_second(s) || is_any(s, "ms us ns msec usec nsec min mins minute minutes h hour hours day days");
}

bool figure_per_one(struct str time, struct str one, const struct unit **ret)
{
    const struct unit *u = units_find(time);
    bool good =
        u && !strcmp(u->dimension, "second") && !is_span_of_time(one) && (is_counted(one) || is_any(one, "iter iteration call req step"));
    *ret = good ? u : NULL;
    return good;
}

static bool is_plain_word(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!str_is_letter(s.p[i]) && s.p[i] != '_')
            return false;
    return s.n >= 3;
}

enum { UNIT_WORD_MAX = 28 };

/* "SECONDS", as programs in Fortran print it. */
static const struct unit *upper_case_time(struct str word)
{
    static const struct {
        const char *words, *unit;
    } times[] = {{"SECOND SECONDS SEC SECS", "s"}, {"MILLISECONDS MSEC", "ms"}, {"MICROSECONDS USEC", "us"}, {"NANOSECONDS NSEC", "ns"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (str_has_word(times[i].words, word))
            return units_find(str_of(times[i].unit));
    return NULL;
}

/* A word of at most UNIT_WORD_MAX bytes, by the tables. */
static bool search_unit(struct str word, const struct unit **ret, struct str *ret_raw)
{
    static const char *const per_second[] = {"fps", "nps", "pps", "lps", "cps", "ips", "FPS", "NPS", "PPS", "LPS", "CPS", "IPS"};
    const char *slash = memchr(word.p, '/', word.n);
    if (str_is(word, "#/sec") || str_is(word, "c/s") || str_is(word, "i/s") || str_is(word, "1/s")) {
        *ret = units_find(STR("op/s"));
        return true;
    }
    for (size_t i = 0; i < sizeof per_second / sizeof *per_second; i++)
        if (str_is(word, per_second[i])) {
            *ret = units_find(STR("op/s"));
            return true;
        }
    bool many = word.n == 4 && counted_multiple(str_sub(word, 0, 1)) > 0;
    for (size_t i = 0; many && i < sizeof per_second / sizeof *per_second; i++)
        if (str_is(str_sub(word, 1, 3), per_second[i])) { /* "kfps" */
            *ret_raw = word;
            return true;
        }
    if (is_any(word,
               "mips mwips dmips mops lpm h/s kh/s mh/s gh/s th/s mpix/s mpixels/s kpps mpps gpts mlups glups mlup/s glup/s kreq/s elo "
               "cycles/op cpb ns/day")) {
        *ret_raw = word;
        return true;
    }
    if (slash && is_any(str_sub(word, 0, (size_t)(slash - word.p)), "mflop mflops gflop gflops tflop tflops") &&
        is_second(str_sub(word, (size_t)(slash + 1 - word.p), word.n))) { /* "MFlops/s" */
        char text[8] = {(char)(word.p[0] & ~0x20), 'F', 'L', 'O', 'P', 'S', 0};
        *ret = units_find(str_of(text));
        return *ret != NULL;
    }
    if (slash && is_any(str_sub(word, 0, (size_t)(slash - word.p)), "cycles cycle clocks instructions") &&
        is_plain_word(str_sub(word, (size_t)(slash + 1 - word.p), word.n))) {
        *ret_raw = word;
        return true;
    }
    if (slash && is_any(str_sub(word, 0, (size_t)(slash - word.p)), "kbytes kbyte") &&
        is_second(str_sub(word, (size_t)(slash + 1 - word.p), word.n))) {
        *ret_raw = word;
        return true;
    }
    if (str_starts(word, "KB/s")) { /* 1000 to one program and 1024 to another */
        *ret_raw = word;
        return true;
    }
    if (slash) {
        struct str amount = str_sub(word, 0, (size_t)(slash - word.p)), per = str_sub(word, amount.n + 1, word.n);
        if (is_second(per) ? figure_rate(amount, STR("s"), ret) : figure_per_one(amount, per, ret))
            return true;
        if (!is_span_of_time(per) || !is_plain_word(amount))
            return false;
        *ret_raw = word;
        return true;
    }
    if (is_any(
            word,
            "h d day days b op ops m k g t pct hour hours ma a v c f x ps io requests request events transactions queries messages samples "
            "images steps iterations updates tasks token tokens tok edges bit bits"))
        return false;
    *ret = units_find(word);
    *ret = *ret ? *ret : upper_case_time(word);
    return *ret != NULL;
}

/* Outputs repeat few words behind their numbers: the last ones are remembered. */
bool figure_unit(struct str word, const struct unit **ret, struct str *ret_raw)
{
    static struct known_unit {
        char word[UNIT_WORD_MAX];
        unsigned char n;
        bool is_unit, is_raw;
        const struct unit *unit;
    } known[256];
    unsigned hash = (unsigned)word.n;
    if (!word.n || word.n > UNIT_WORD_MAX)
        return false;
    for (size_t i = 0; i < word.n; i++)
        hash = hash * 31 + (unsigned char)word.p[i];
    struct known_unit *k = &known[hash % 256];
    if (!str_eq(word, (struct str){k->word, k->n})) {
        struct str raw = {"", 0};
        k->unit = NULL;
        k->is_unit = search_unit(word, &k->unit, &raw);
        k->is_raw = raw.n > 0;
        memcpy(k->word, word.p, word.n);
        k->n = (unsigned char)word.n;
    }
    *ret = k->unit;
    if (k->is_raw)
        *ret_raw = word;
    return k->is_unit;
}

static bool label_has_digit(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (str_is_digit(s.p[i]))
            return true;
    return false;
}

const struct unit *figure_unit_of_label(struct str label)
{
    const struct unit *u = guess_unit_in(label);
    struct str raw = {NULL, 0};
    if (u)
        return u;
    label = str_trim(label);
    for (size_t i = 0; i < label.n; i++) { /* "(MB/s)", "[ms]" with what only this grammar reads */
        char open = label.p[i];
        const char *close = open == '(' || open == '[' ? memchr(label.p + i, open == '(' ? ')' : ']', label.n - i) : NULL;
        struct str inside = close ? str_sub(label, i + 1, (size_t)(close - label.p) - i - 1) : (struct str){"", 0};
        const char *words = inside.n ? memrchr(inside.p, ' ', inside.n) : NULL;
        if (words && !label_has_digit(inside)) /* "(Wallclock seconds)", "(in us)" */
            inside = str_sub(inside, (size_t)(words + 1 - inside.p), inside.n);
        if (close && figure_unit(inside, &u, &raw) && u)
            return u;
    }
    const char *blank = label.n ? memrchr(label.p, ' ', label.n) : NULL;
    struct str last = blank ? str_sub(label, (size_t)(blank + 1 - label.p), label.n) : label;
    if (memchr(last.p, '/', last.n) && figure_unit(last, &u, &raw))
        return u; /* "Requests/sec", "tokens/s" */
    struct str front = str_trim(str_sub(label, 0, label.n - last.n)), first_words = label, first = str_word(&first_words);
    if ((str_is(front, "in") || str_ends(front, " in")) && front.n < label.n && figure_unit(last, &u, &raw) && u)
        return u; /* "Time in seconds" */
    if (is_any(str_trim(first_words), "total overall average avg mean median max min sum aggregate") && memchr(first.p, '/', first.n) &&
        figure_unit(first, &u, &raw) && u)
        return u; /* "MB/s total" */
    const char *colon = label.n ? memrchr(label.p, ':', label.n) : NULL;
    bool alone = last.n == label.n || (colon && colon + 1 == blank) ||
                 is_any(front, "effective average avg mean total actual achieved measured"); /* "read: IOPS", "Effective rps" */
    if (is_any(last, "seconds secs milliseconds microseconds nanoseconds") && front.n &&
        !str_ends(front, " per")) /* "Total running seconds" */
        return units_find(last);
    struct str after = first_words, second = str_word(&after), third = str_word(&after);
    if (is_any(first, "seconds secs milliseconds microseconds nanoseconds") &&
        is_any(str_trim(first_words), "taken elapsed used spent total"))
        return units_find(first); /* "Seconds taken" */
    if (is_any(first, "total elapsed wall cpu user real") && is_any(second, "seconds") && is_any(third, "in for to"))
        return units_find(STR("seconds")); /* "Total seconds in IPOPT" */
    if (is_any(last, "iops qps tps fps nps pps gflops mflops tflops rps gbps mbps") && alone)
        return units_find(last) ? units_find(last) : units_find(STR("op/s"));
    if (is_any(last, "gflops mflops tflops"))
        return units_find(last);
    struct str rest = label, word, before = {NULL, 0}, middle = {NULL, 0}; /* "images per second", "Nodes/second" */
    while ((word = str_word(&rest)).n) {
        if (str_is(middle, "per") && before.n && is_second(word) && !str_is_anycase(word, "seconds") && !rest.n &&
            figure_rate(before, word, &u))
            return u;
        before = middle;
        middle = word;
    }
    return NULL;
}
