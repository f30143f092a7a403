/* mcp_tools.c: the table of tools, and how their arguments become a command line. */
#include "mcp/mcp_tools.h"

#include "base/option_names.h"
#include "mcp/mcp_cluster.h"

#include <math.h>
#include <string.h>

enum { TEXT_BYTES = 4096, LIST_ITEMS = 100, WORDS_MAX = 1000 };

#define EXPERIMENT                                                                                                                         \
    {                                                                                                                                      \
        .name = "experiment", .kind = MCP_TEXT, .option = OPTION_EXPERIMENT, .help = "Only runs of this experiment (name or id)"           \
    }
#define LAST(default)                                                                                                                      \
    {                                                                                                                                      \
        .name = "last", .kind = MCP_COUNT, .most = 1000, .option = OPTION_LAST,                                                            \
        .help = "How many of the newest runs (default: " default ")"                                                                       \
    }
#define FILTER                                                                                                                             \
    {                                                                                                                                      \
        .name = "filter", .kind = MCP_TEXT, .option = OPTION_FILTER,                                                                       \
        .help = "MLflow search syntax, e.g. metrics.`bw_MiB_per_s` > 100 AND params.`size` = '4' AND tags.benchmark = 'ior'"               \
    }
#define RUN(text)                                                                                                                          \
    {                                                                                                                                      \
        .name = "run", .kind = MCP_RUN, .help = text                                                                                       \
    }
#define RUN_NAMES "id (4 or more hexadecimal digits), last, or last~N for the Nth before it"
#define MAY_DIFFER                                                                                                                         \
    {                                                                                                                                      \
        .name = "may_differ", .kind = MCP_TEXTS, .option = OPTION_IGNORE,                                                                  \
        .help =                                                                                                                            \
            "Names of the parameters (or patterns) that may differ between the runs; without them runs with other inputs are not compared" \
    }

static const char *const list_line[] = {"ls", "--json", "--last=20", NULL};
static const struct mcp_argument list_arguments[] = {
    EXPERIMENT,
    {.name = "status", .kind = MCP_TEXT, .option = OPTION_STATUS, .help = "FINISHED, FAILED, KILLED, RUNNING, or a verdict: pass, fail"},
    LAST("20"),
    {.name = "children", .kind = MCP_FLAG, .option = OPTION_CHILDREN, .help = "Also list repetitions and points of sweeps"},
};
static const struct mcp_tool list_tool = {
    .name = "list",
    .title = "List runs",
    .help = "List the newest recorded runs with their headline metrics. A null value was not measured; it is not zero.",
    .line = list_line,
    .arguments = list_arguments,
    .count = sizeof list_arguments / sizeof *list_arguments,
    .deadline_s = 30};

static const char *const active_line[] = {"watch", "--json", NULL};
static const struct mcp_argument active_arguments[] = {
    EXPERIMENT,
    {.name = "job", .kind = MCP_TEXT, .option = OPTION_JOB, .help = "Only runs of this job of the scheduler"},
};
static const struct mcp_tool active_tool = {.name = "active",
                                            .title = "Runs in progress",
                                            .help = "The runs that have not ended: elapsed time, output and its rate, last sampled values.",
                                            .line = active_line,
                                            .arguments = active_arguments,
                                            .count = sizeof active_arguments / sizeof *active_arguments,
                                            .deadline_s = 30};

static const char *const query_line[] = {"ls", "--json", "--last=50", NULL};
static const struct mcp_argument query_arguments[] = {
    {.name = "filter",
     .kind = MCP_TEXT,
     .option = OPTION_FILTER,
     .required = true,
     .help = "MLflow search syntax, e.g. metrics.`bw_MiB_per_s` > 100 AND params.`size` = '4' AND tags.benchmark = 'ior'"},
    {.name = "columns",
     .kind = MCP_COLUMNS,
     .option = OPTION_COLUMNS,
     .help =
         "Facts to return: run_id, run_name, start_time, status, experiment, metrics.KEY, params.KEY, tags.KEY; * stands for any characters"},
    {.name = "sort", .kind = MCP_TEXTS, .option = OPTION_SORT, .help = "Keys to sort by, e.g. \"metrics.bw_MiB_per_s DESC\""},
    EXPERIMENT,
    LAST("50"),
};
static const struct mcp_tool query_tool = {
    .name = "query",
    .title = "Search runs",
    .help = "Search runs by an expression over metrics, params, tags and attributes, and return chosen facts of each.",
    .line = query_line,
    .arguments = query_arguments,
    .count = sizeof query_arguments / sizeof *query_arguments,
    .deadline_s = 60};

static const char *const show_line[] = {"show", "--json", NULL};
static const struct mcp_argument show_arguments[] = {RUN("The run: " RUN_NAMES " (default: last)")};
static const struct mcp_tool show_tool = {
    .name = "show",
    .title = "Show one run",
    .help =
        "Everything recorded about one run: command, params, metrics with units, tags, files, missing values with the reason, warnings.",
    .line = show_line,
    .arguments = show_arguments,
    .count = 1,
    .deadline_s = 30};

static const char *const compare_line[] = {"compare", "--json", NULL};
static const struct mcp_argument compare_arguments[] = {
    {.name = "base", .kind = MCP_GROUP, .help = "The runs to compare with, each " RUN_NAMES},
    {.name = "other", .kind = MCP_GROUP, .help = "The runs to judge"},
    {.name = "by",
     .kind = MCP_TEXT,
     .option = OPTION_BY,
     .help = "Instead of base and other: one group for each value of this param or tag"},
    EXPERIMENT,
    FILTER,
    MAY_DIFFER,
};
static const struct mcp_tool compare_tool = {
    .name = "compare",
    .title = "Compare runs",
    .help =
        "Compare two groups of runs: change of each metric with its 95 % interval and verdict. Refuses runs that measured something else, unless may_differ (or by) names what differs.",
    .line = compare_line,
    .arguments = compare_arguments,
    .count = sizeof compare_arguments / sizeof *compare_arguments,
    .deadline_s = 60,
    .answer = mcp_compare};

static const char *const earlier_line[] = {"compare", "--history", "--json", NULL};
static const struct mcp_argument earlier_arguments[] = {
    RUN("The run to judge: " RUN_NAMES " (default: last)"),
    MAY_DIFFER,
    {.name = "last",
     .kind = MCP_COUNT,
     .most = 1000,
     .option = OPTION_LAST,
     .help = "Compare with so many earlier runs at most (default: 50)"},
};
static const struct mcp_tool earlier_tool = {
    .name = "compare_history",
    .title = "Judge one run by earlier ones",
    .help = "Is this run as good as the earlier runs with the same inputs on the same kind of system? Other runs are not used.",
    .line = earlier_line,
    .arguments = earlier_arguments,
    .count = sizeof earlier_arguments / sizeof *earlier_arguments,
    .deadline_s = 60};

static const char *const history_line[] = {"history", "--json", NULL};
static const struct mcp_argument history_arguments[] = {
    RUN("Only runs that measured the same as this one: " RUN_NAMES " (default: all runs, in groups that measured the same)"),
    EXPERIMENT,
    FILTER,
    MAY_DIFFER,
};
static const struct mcp_tool history_tool = {
    .name = "history",
    .title = "When did a metric change",
    .help =
        "Runs from which on the level of a metric is another one, confirmed by consecutive runs, with size and chance; outliers; and what else changed at the same run.",
    .line = history_line,
    .arguments = history_arguments,
    .count = sizeof history_arguments / sizeof *history_arguments,
    .deadline_s = 60};

static const char *const explain_line[] = {"explain", "--json", NULL};
static const struct mcp_argument explain_arguments[] = {
    {.name = "base", .kind = MCP_GROUP, .required = true, .help = "The runs to start from, each " RUN_NAMES},
    {.name = "other", .kind = MCP_GROUP, .required = true, .help = "The runs that differ"},
    {.name = "metric",
     .kind = MCP_TEXT,
     .option = OPTION_METRIC,
     .help = "The metric to explain (default: the headline metric that differs most)"},
};
static const struct mcp_tool explain_tool = {
    .name = "explain",
    .title = "Why two groups of runs differ",
    .help =
        "Recorded causes of the difference, the likeliest first, with the effect of each in all other runs. No causes: nothing recorded explains it.",
    .line = explain_line,
    .arguments = explain_arguments,
    .count = sizeof explain_arguments / sizeof *explain_arguments,
    .deadline_s = 60};

static const char *const logs_line[] = {"grep", "--json", "--all", NULL};
static const struct mcp_argument logs_arguments[] = {
    {.name = "run", .kind = MCP_RUN, .required = true, .help = "The run: " RUN_NAMES},
    {.name = "file",
     .kind = MCP_TEXT,
     .option = OPTION_FILE,
     .help = "Name or pattern of the stored file: stdout.log, stderr.log, job/script.sh, *.log (default: all texts)"},
    {.name = "pattern", .kind = MCP_TEXT, .help = "Only lines that match this regular expression (default: all lines)"},
    {.name = "any_case", .kind = MCP_FLAG, .option = OPTION_ANY_CASE, .help = "Ignore the case of letters"},
};
static const struct mcp_tool logs_tool = {
    .name = "logs",
    .title = "Read stored output",
    .help = "Lines of the output, job script, environment and logs that are stored with a run; of long files the last ones.",
    .line = logs_line,
    .end = MCP_TAIL,
    .arguments = logs_arguments,
    .count = sizeof logs_arguments / sizeof *logs_arguments,
    .deadline_s = 60,
    .answer = mcp_logs};

static const char *const plan_line[] = {"plan", "--json", NULL};
static const struct mcp_argument plan_arguments[] = {
    {.name = "command",
     .kind = MCP_WORDS,
     .required = true,
     .help = "The program and its arguments, one element for each word; no shell reads them"},
    {.name = "experiment", .kind = MCP_TEXT, .option = OPTION_EXPERIMENT, .help = "The experiment of the run"},
};
static const struct mcp_tool plan_tool = {
    .name = "plan",
    .title = "Plan a run",
    .help =
        "What would be recorded if this command ran under benchwrap: program, rules, experiment, options and where they come from. Starts nothing.",
    .line = plan_line,
    .arguments = plan_arguments,
    .count = sizeof plan_arguments / sizeof *plan_arguments,
    .deadline_s = 30};

static const struct mcp_argument run_arguments[] = {
    {.name = "command",
     .kind = MCP_WORDS,
     .required = true,
     .help = "The program and its arguments, one element for each word; no shell reads them"},
    {.name = "experiment",
     .kind = MCP_TEXT,
     .option = OPTION_EXPERIMENT,
     .help = "The experiment of the run (default: the program's name)"},
    {.name = "name", .kind = MCP_TEXT, .option = OPTION_NAME, .help = "The name of the run"},
    {.name = "note", .kind = MCP_TEXT, .option = OPTION_NOTE, .help = "The description of the run"},
    {.name = "timeout_s", .kind = MCP_COUNT, .most = 3600, .help = "Stop the program after so many seconds (default: 600)"},
};
static const struct mcp_tool run_tool = {.name = "run",
                                         .title = "Run and record a program",
                                         .help = "Run a program under benchwrap in the folder of this server, and return the recorded run.",
                                         .changes = true,
                                         .arguments = run_arguments,
                                         .count = sizeof run_arguments / sizeof *run_arguments,
                                         .deadline_s = 3700,
                                         .answer = mcp_run};

#define CLUSTER                                                                                                                            \
    {                                                                                                                                      \
        .name = "cluster", .kind = MCP_CHOICE, .words = "slurm|kubernetes",                                                                \
        .help = "The scheduler, where there are two (default: the one whose programs are here, Slurm first)"                               \
    }
#define PARTITION                                                                                                                          \
    {                                                                                                                                      \
        .name = "partition", .kind = MCP_TEXT, .cluster = "slurm", .help = "Slurm: only this partition"                                    \
    }
#define NAMESPACE                                                                                                                          \
    {                                                                                                                                      \
        .name = "namespace", .kind = MCP_TEXT, .cluster = "kubernetes",                                                                    \
        .help = "Kubernetes: the namespace (default: that of the user's configuration)"                                                    \
    }

static const struct mcp_argument queue_arguments[] = {
    {.name = "all",
     .kind = MCP_FLAG,
     .help =
         "Also list jobs of other users (Slurm; else these are only counted) or of other namespaces (Kubernetes; else these are not read), without names"},
    PARTITION,
    NAMESPACE,
    CLUSTER,
};
static const struct mcp_tool queue_tool = {
    .name = "cluster_queue",
    .title = "Cluster: the queue",
    .help =
        "What waits and runs on the cluster. Slurm: jobs with state, reason, nodes, times, and counts of other users' jobs. Kubernetes: Jobs and pods with state, reason, node, age.",
    .source = MCP_CLUSTER,
    .arguments = queue_arguments,
    .count = sizeof queue_arguments / sizeof *queue_arguments,
    .deadline_s = 10,
    .answer = mcp_cluster_queue};

static const struct mcp_argument nodes_arguments[] = {
    PARTITION,
    {.name = "state",
     .kind = MCP_TEXT,
     .help =
         "Only nodes in these states, with commas between them. Slurm: down, drain, idle, alloc, mix. Kubernetes: ready, notready, unknown, cordoned"},
    CLUSTER,
};
static const struct mcp_tool nodes_tool = {
    .name = "cluster_nodes",
    .title = "Cluster: the nodes",
    .help =
        "Nodes with state, reason and since when. Slurm: processors, memory and GPUs. Kubernetes: conditions, taints, unschedulable, what pods can get.",
    .source = MCP_CLUSTER,
    .arguments = nodes_arguments,
    .count = sizeof nodes_arguments / sizeof *nodes_arguments,
    .deadline_s = 10,
    .answer = mcp_cluster_nodes};

static const struct mcp_argument job_arguments[] = {
    {.name = "job",
     .kind = MCP_TEXT,
     .required = true,
     .help = "Slurm: the job's id: 1234, 1234_5 or 1234+1. Kubernetes: the name of a Job or a pod"},
    NAMESPACE,
    CLUSTER,
};
static const struct mcp_tool job_tool = {
    .name = "cluster_job",
    .title = "Cluster: one job",
    .help =
        "One job: what the scheduler knows of it (Slurm: now and by accounting; Kubernetes: its pods, their exit codes and events), the runs in the tree that belong to it, and its archived script and output.",
    .source = MCP_CLUSTER,
    .arguments = job_arguments,
    .count = sizeof job_arguments / sizeof *job_arguments,
    .deadline_s = 20,
    .answer = mcp_cluster_job};

static const struct mcp_argument log_arguments[] = {
    {.name = "daemon",
     .kind = MCP_CHOICE,
     .words = "slurmctld|slurmd|slurmdbd|kubelet|containerd|crio",
     .help = "A daemon on this machine, of the cluster's scheduler"},
    {.name = "pod", .kind = MCP_TEXT, .cluster = "kubernetes", .help = "Kubernetes: instead of a daemon, a pod"},
    {.name = "container", .kind = MCP_TEXT, .cluster = "kubernetes", .help = "Kubernetes: the container, where the pod has several"},
    {.name = "previous", .kind = MCP_FLAG, .cluster = "kubernetes", .help = "Kubernetes: of the container before its last restart"},
    {.name = "lines", .kind = MCP_COUNT, .most = 500, .help = "How many of the last lines (default: 100)"},
    NAMESPACE,
    CLUSTER,
};
static const struct mcp_tool log_tool = {
    .name = "cluster_log",
    .title = "Cluster: a log",
    .help =
        "The last lines of the log of a daemon on this machine (from the file that Slurm's configuration names, or the journal) or of a pod.",
    .source = MCP_CLUSTER,
    .end = MCP_TAIL,
    .arguments = log_arguments,
    .count = sizeof log_arguments / sizeof *log_arguments,
    .deadline_s = 10,
    .answer = mcp_cluster_log};

const struct mcp_tool *const mcp_tools[] = {&list_tool,    &active_tool,  &query_tool,   &show_tool, &compare_tool,
                                            &earlier_tool, &history_tool, &explain_tool, &logs_tool, &plan_tool,
                                            &run_tool,     &queue_tool,   &nodes_tool,   &job_tool,  &log_tool};
const size_t mcp_tools_count = sizeof mcp_tools / sizeof *mcp_tools;

const struct mcp_tool *mcp_tool_find(const char *name, bool allow_run)
{
    for (size_t i = 0; i < mcp_tools_count; i++)
        if (strcmp(mcp_tools[i]->name, name) == 0)
            return mcp_tools[i]->changes && !allow_run ? NULL : mcp_tools[i];
    return NULL;
}

/* ---- the list of tools ---- */

/* Writes the JSON schema of an argument as a member. */
static void put_argument_schema(struct json_out *to, const struct mcp_argument *x)
{
    static const char *const types[] = {
        [MCP_RUN] = "string",    [MCP_GROUP] = "array",   [MCP_WORDS] = "array",  [MCP_TEXT] = "string",  [MCP_TEXTS] = "array",
        [MCP_COLUMNS] = "array", [MCP_COUNT] = "integer", [MCP_FLAG] = "boolean", [MCP_CHOICE] = "string"};
    json_open(to, x->name, '{');
    json_text(to, "type", types[x->kind]);
    json_text(to, "description", x->help);
    if (strcmp(types[x->kind], "array") == 0) {
        json_open(to, "items", '{');
        json_text(to, "type", "string");
        json_close(to, '}');
        json_int(to, "minItems", 1);
    }
    if (x->kind == MCP_COUNT) {
        json_int(to, "minimum", 1);
        json_int(to, "maximum", x->most);
    }
    if (x->kind == MCP_CHOICE) {
        json_open(to, "enum", '[');
        for (struct str rest = str_of(x->words); rest.p;)
            json_str(to, NULL, str_cut(&rest, '|'));
        json_close(to, ']');
    }
    json_close(to, '}');
}

/* Writes a tool with the schema of its arguments and the annotations. */
static void put_tool(struct json_out *to, const struct mcp_tool *tool)
{
    json_open(to, NULL, '{');
    json_text(to, "name", tool->name);
    json_text(to, "title", tool->title);
    json_text(to, "description", tool->help);
    json_open(to, "inputSchema", '{');
    json_text(to, "type", "object");
    json_open(to, "properties", '{');
    for (size_t i = 0; i < tool->count; i++)
        put_argument_schema(to, &tool->arguments[i]);
    json_close(to, '}');
    json_open(to, "required", '[');
    for (size_t i = 0; i < tool->count; i++)
        if (tool->arguments[i].required)
            json_text(to, NULL, tool->arguments[i].name);
    json_close(to, ']');
    json_flag(to, "additionalProperties", false);
    json_close(to, '}');
    json_open(to, "annotations", '{');
    json_flag(to, "readOnlyHint", !tool->changes);
    json_flag(to, "destructiveHint", tool->changes);
    json_flag(to, "openWorldHint", tool->source == MCP_CLUSTER || tool->changes);
    json_close(to, '}');
    json_close(to, '}');
}

void mcp_tools_json(struct json_out *to, bool allow_run)
{
    json_open(to, "tools", '[');
    for (size_t i = 0; i < mcp_tools_count; i++)
        if (allow_run || !mcp_tools[i]->changes)
            put_tool(to, mcp_tools[i]);
    json_close(to, ']');
}

/* ---- arguments ---- */

/* Returns whether the text names a run without leading elsewhere: [=]4 to 32 hexadecimal digits,
 * last, last~N. */
static bool is_run_name(const char *text)
{
    uint64_t back;
    const char *id = text[0] == '=' ? text + 1 : text;
    size_t n = strlen(id);
    if (n >= 4 && n <= 32 && strspn(id, "0123456789abcdef") == n)
        return true;
    return strcmp(text, "last") == 0 || (strncmp(text, "last~", 5) == 0 && strlen(text) < 16 && str_uint(str_of(text + 5), &back));
}

static bool is_argument_text(const struct json *value)
{
    const char *text = json_string(value, "");
    return json_is_string(value) && *text && strlen(text) <= TEXT_BYTES;
}

/* Returns whether it is a list of 1 to `most` texts, each of at most TEXT_BYTES; empty texts are
 * allowed. */
static bool is_text_list(const struct json *list, size_t most)
{
    size_t n = json_count(list);
    if (!json_is_array(list) || !n || n > most)
        return false;
    for (const struct json *e = json_first(list); e; e = json_next(e))
        if (!json_is_string(e) || strlen(json_string(e, "")) > TEXT_BYTES)
            return false;
    return true;
}

static bool is_run_list(const struct json *list)
{
    for (const struct json *e = json_first(list); e; e = json_next(e))
        if (!is_run_name(json_string(e, "")))
            return false;
    return is_text_list(list, LIST_ITEMS);
}

static bool is_choice(const char *words, const char *text)
{
    for (struct str rest = str_of(words); rest.p;)
        if (str_is(str_cut(&rest, '|'), text))
            return true;
    return false;
}

/* Returns what is expected instead of the value, as words for a message; NULL: the value is
 * good. */
static const char *expected_argument(const struct mcp_argument *x, const struct json *v, struct arena *a)
{
    double n = json_number(v, NAN);
    switch (x->kind) {
    case MCP_RUN: return json_is_string(v) && is_run_name(json_string(v, "")) ? NULL : RUN_NAMES;
    case MCP_GROUP: return is_run_list(v) ? NULL : "a list of 1 to 100 runs, each " RUN_NAMES;
    case MCP_WORDS: return is_text_list(v, WORDS_MAX) ? NULL : "a list of 1 to 1000 words";
    case MCP_TEXT: return is_argument_text(v) ? NULL : "a text of 1 to 4096 bytes";
    case MCP_TEXTS:
    case MCP_COLUMNS: return is_text_list(v, LIST_ITEMS) ? NULL : "a list of 1 to 100 texts";
    case MCP_COUNT: return n >= 1 && n <= x->most && n == floor(n) ? NULL : arena_printf(a, "an integer from 1 to %d", x->most);
    case MCP_FLAG: return json_is_bool(v) ? NULL : "true or false";
    case MCP_CHOICE: return json_is_string(v) && is_choice(x->words, json_string(v, "")) ? NULL : x->words;
    }
    return "nothing";
}

static const struct mcp_argument *find_argument(const struct mcp_tool *tool, const char *name)
{
    for (size_t i = 0; i < tool->count; i++)
        if (strcmp(tool->arguments[i].name, name) == 0)
            return &tool->arguments[i];
    return NULL;
}

/* Returns a message about an argument that the tool does not have, in the arena. */
static const char *unknown_argument(const struct mcp_tool *tool, const char *name, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_puts(&b, "unknown argument \"");
    buf_plain(&b, str_of(name), 100);
    buf_puts(&b, "\"; there are: ");
    for (size_t i = 0; i < tool->count; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", tool->arguments[i].name);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

const char *mcp_arguments_check(const struct mcp_tool *tool, const struct json *arguments, struct arena *a)
{
    if (arguments && !json_is_object(arguments))
        return "expected an object of arguments";
    for (const struct json *v = json_first(arguments); v; v = json_next(v)) {
        const struct mcp_argument *x = find_argument(tool, json_key(v));
        if (!x)
            return unknown_argument(tool, json_key(v), a);
        const char *expected = expected_argument(x, v, a);
        if (expected)
            return arena_printf(a, "%s: expected %s", x->name, expected);
    }
    for (size_t i = 0; i < tool->count; i++)
        if (tool->arguments[i].required && !json_get(arguments, tool->arguments[i].name))
            return arena_printf(a, "%s is missing: %s", tool->arguments[i].name, tool->arguments[i].help);
    return NULL;
}

/* ---- the command line ---- */

struct mcp_line {
    char **words;
    size_t count;
    struct arena *a;
};

static void mcp_add_word(struct mcp_line *l, const char *word)
{
    if (word)
        l->words[l->count++] = arena_dup(l->a, word, strlen(word));
}

/* Returns "a,b": one operand, or the value of one option. */
static const char *mcp_join_texts(const struct json *list, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 2 * LIST_ITEMS * TEXT_BYTES);
    for (const struct json *e = json_first(list); e; e = json_next(e))
        buf_printf(&b, "%s%s", b.n ? "," : "", json_string(e, ""));
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Appends the option's words to the command line; a flag that is false appends none. */
static void add_option_words(struct mcp_line *l, const struct mcp_argument *x, const struct json *v)
{
    switch (x->kind) {
    case MCP_COUNT: mcp_add_word(l, arena_printf(l->a, "--%s=%d", x->option, (int)json_number(v, 1))); break;
    case MCP_FLAG:
        if (json_bool(v, false))
            mcp_add_word(l, arena_printf(l->a, "--%s", x->option));
        break;
    case MCP_COLUMNS: mcp_add_word(l, arena_printf(l->a, "--%s=%s", x->option, mcp_join_texts(v, l->a))); break;
    case MCP_TEXTS:
        for (const struct json *e = json_first(v); e; e = json_next(e))
            mcp_add_word(l, arena_printf(l->a, "--%s=%s", x->option, json_string(e, "")));
        break;
    default: mcp_add_word(l, arena_printf(l->a, "--%s=%s", x->option, json_string(v, ""))); break;
    }
}

char **mcp_arguments_line(const struct mcp_tool *tool, const struct json *arguments, const char *self, const char *tree, struct arena *a)
{
    struct mcp_line l = {.words = arena_get(a, (WORDS_MAX + 16 * LIST_ITEMS) * sizeof *l.words), .a = a};
    const struct json *words = NULL;
    if (!l.words)
        return NULL;
    mcp_add_word(&l, self);
    for (const char *const *w = tool->line; w && *w; w++)
        mcp_add_word(&l, *w);
    if (tree)
        mcp_add_word(&l, arena_printf(a, "--tree=%s", tree));
    for (size_t i = 0; i < tool->count; i++) {
        const struct mcp_argument *x = &tool->arguments[i];
        const struct json *v = json_get(arguments, x->name);
        if (v && x->option)
            add_option_words(&l, x, v);
    }
    mcp_add_word(&l, "--"); /* no operand is an option */
    for (size_t i = 0; i < tool->count; i++) {
        const struct mcp_argument *x = &tool->arguments[i];
        const struct json *v = json_get(arguments, x->name);
        if (v && x->kind == MCP_RUN)
            mcp_add_word(&l, json_string(v, ""));
        else if (v && x->kind == MCP_GROUP)
            mcp_add_word(&l, mcp_join_texts(v, a));
        else if (v && x->kind == MCP_WORDS)
            words = v;
    }
    for (const struct json *e = json_first(words); e; e = json_next(e))
        mcp_add_word(&l, json_string(e, ""));
    return a->failed ? NULL : l.words;
}
