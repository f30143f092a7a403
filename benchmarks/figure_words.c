/* figure_words.c: which words name results, conditions and units in lines that no rules know. */
#include "benchmarks/figure_words.h"
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
                                              "criteria",
                                              "criterion",
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
                                              "thr",
                                              "thresh",
                                              "threshold",
                                              "tick",
                                              "ticks",
                                              "time out",
                                              "time step",
                                              "timeout",
                                              "timestamp",
                                              "timestep",
                                              "timezone",
                                              "tol",
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
                                              "weight",
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
static const char *const task_time_words[] = {"build time",   "compile time",  "computation time", "decode time", "decoding time",
                                              "encode time",  "encoding time", "execution time",   "index time",  "insert time",
                                              "load time",    "parse time",    "processing time",  "query time",  "read time",
                                              "render time",  "response time", "search time",      "solve time",  "sort time",
                                              "startup time", "training time", "turnaround time",  "write time"};
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
static const char *const score_words[] = {"acc",
                                          "acceptance fraction",
                                          "accuracy",
                                          "aic",
                                          "auc",
                                          "availability",
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
                                          "energy",
                                          "f1",
                                          "final cost",
                                          "fitness",
                                          "function value",
                                          "hit rate",
                                          "imbalance",
                                          "inertia",
                                          "iou",
                                          "kappa",
                                          "kappa statistic",
                                          "log evidence",
                                          "log likelihood",
                                          "log loss",
                                          "loglik",
                                          "loglikelihood",
                                          "logz",
                                          "loss",
                                          "m ap",
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
                                          "real time factor",
                                          "recall",
                                          "resid",
                                          "residual",
                                          "reward",
                                          "rmse",
                                          "rouge",
                                          "rtf",
                                          "silhouette",
                                          "speed up",
                                          "speedup",
                                          "squared error",
                                          "ssim",
                                          "success rate",
                                          "throughput",
                                          "total cost",
                                          "transaction rate",
                                          "transfer rate",
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

/* Their last word would be a condition or a deviation by itself. */
static const char *const no_condition_words[] = {"absolute error", "data set", "dev set",   "eval set",     "evaluation set",
                                                 "squared error",  "test set", "train set", "training set", "validation set"};
static const char *const energy_words[] = {"affinity", "energy", "enthalpy", "gap"};

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
                            rate_noun_list = LIST(rate_noun_words), model_time_list = LIST(model_time_words), step_list = LIST(step_words),
                            energy_list = LIST(energy_words), no_condition_list = LIST(no_condition_words);

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

enum { FIGURE_LABEL_MAX = 200 };

/* Has a text of divide_words one of the words or phrases? */
static bool has_listed(const char *text, struct indexed_words *list)
{
    for (const char *at = text; *at; at++)
        if (*at != ' ' && at[-1] == ' ' && begins_listed(list, at))
            return true;
    return false;
}

/* Has the label one of the words or phrases? */
static bool has_any(struct str label, struct indexed_words *list)
{
    char text[FIGURE_LABEL_MAX];
    divide_words(str_sub(label, 0, FIGURE_LABEL_MAX - 50), text, sizeof text);
    return has_listed(text, list);
}

bool figure_is_any(struct str word, const char *list)
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
    return figure_is_any(word, "info debug notice trace log stats root main stdout result: bench");
}

bool figure_is_small(struct str word)
{
    return figure_is_any(word, "is of in at was to and with for on by the a an took takes are were about approximately after required x");
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
        figure_is_any(
            first, "epoch step iter iteration batch round pass trial sample chunk progress seed warmup interval cycle loop run rep repeat "
                   "repetition attempt try frame generation gen level depth block worker thread rank process node job client test"))
        return true;
    return figure_is_any(first, "warning warning: error error: usage: usage warn note: hint:") || has_any(line, &progress_list);
}

bool figure_is_loop(struct str word)
{
    return figure_is_any(word, "epoch iter iteration step round generation gen");
}

bool figure_is_round(struct str title)
{
    return figure_is_loop(title) || figure_is_any(title, "it n_gen ngen");
}

bool figure_is_round_value(struct str title)
{
    return figure_is_any(title, "avg best cost error fitness fval max mean min norm obj objective target");
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
    char text[FIGURE_LABEL_MAX];
    divide_words(str_sub(label, 0, FIGURE_LABEL_MAX - 50), text, sizeof text);
    for (char *at = text; *at; at++)
        if (*at != ' ' && at[-1] == ' ' && begins_listed(&no_condition_list, at))
            memset(strchr(at, ' ') + 1, 'x', 3);
    return has_listed(text, &condition_list) || has_listed(text, &spread_list) || figure_is_any(str_word(&rest), "running using");
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
    return figure_is_any(word, "n count num samples");
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
    if (figure_is_any(cut_last_word(&name), "per"))
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
    if (figure_is_any(label, "elapsed runtime walltime usertime systime cputime realtime exectime") || has_any(label, &task_time_list))
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

bool figure_is_energy(struct str label)
{
    return has_any(label, &energy_list);
}

bool figure_is_memory(struct str label)
{
    return has_any(label, &memory_list);
}
