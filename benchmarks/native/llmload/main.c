/* main.c: llmload: measures services that run language models. The only printer of errors. */
/* link: libcjson libpcre2-8 */
#include "benchmarks/native/llmload/verbs.h"

#include "base/man.h"
#include "benchmarks/native/llmload/agent/api.h"
#include "benchmarks/native/llmload/agent/coordinate.h"
#include "benchmarks/native/llmload/around.h"
#include "benchmarks/native/llmload/inputs.h"
#include "benchmarks/native/llmload/options.h"
#include "benchmarks/native/llmload/prompts/prompts.h"
#include "benchmarks/native/llmload/calibrate.h"
#include "benchmarks/native/llmload/report.h"
#include "benchmarks/native/llmload/schedule.h"
#include "benchmarks/native/llmload/sweep.h"
#include "benchmarks/native/llmload/tokens/sentencepiece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORT_MAX = 256 << 20, USAGE_STATUS = 125 };

static const char description[] =
    "Sends requests to a service that runs a language model and measures what comes back: time to first token, gaps between tokens, throughput, failures. "
    "It speaks the OpenAI API (chat and completions: vLLM, SGLang, TGI, llama.cpp, proxies) and Ollama's own.\n"
    "\n"
    "A closed loop (--concurrency) keeps so many streams busy. An open loop (--rate, --trace) sends when its schedule says so, whatever the service does; "
    "latencies are reported from the actual and from the scheduled send. The schedule is made before the first request and named by its hash.\n"
    "\n"
    "Arrivals are the kernel's receive stamps on TCP, one per read. Events that share one are counted and left out of the percentiles of gaps. "
    "Where the client was late, and one read brought a first or last token with other events, its time is an interval: it is counted and no sample, unless it is known to 0.1 ms or 1 %. "
    "Above 1 % of such tokens or gaps, or of reads or sends more than 10 ms late, the result says that the client was the bottleneck. A request has "
    "succeeded when its status was 2xx, no error object came, a finish reason or [DONE] came, and the body ended cleanly.\n"
    "\n"
    "Own traces are JSON lines: {\"at_s\": 1.5, \"input_tokens\": 100, \"output_tokens\": 20, \"session\": 3, \"text\": \"…\"}, all but at_s as wished.\n"
    "\n"
    "SIGINT, SIGTERM and SIGUSR1 end the run; what was measured until then is printed.";
static const char examples[] = "$ llmload http://localhost:8000 --concurrency 16 --requests 1000\n"
                               "Sixteen streams at a time until 1000 requests are through.\n"
                               "$ llmload http://localhost:8000 --model M --rate 20 --duration 60s --warmup 10s --json\n"
                               "Twenty requests per second, Poisson, for a minute after ten seconds of warm-up.\n";
static const char statuses[] = "0\tdone\n1\tno request succeeded, or the run could not be made, with a message\n125\ta wrong command line\n"
                               "128+n\tended by signal n; the results until then were printed\n";
/* What users of vLLM's benchmark, GuideLLM, k6 or Locust type. tests/cli/t0921-words.t types every
 * row. */
static const struct opt_word words[] = {
#define WORD(place, typed, answer) {place, typed, answer},
#include "benchmarks/native/llmload/words.def"
#undef WORD
    {NULL, NULL, NULL}};
static const char usage[] = "URL [--model M] [--concurrency C | --rate R] [--requests N | --duration T] [--json]";

static int llmload_print(struct buf *b, FILE *to, struct err *err)
{
    if (b->failed)
        return err_memory(err, "the output");
    if (fwrite(b->p ? b->p : "", 1, b->n, to) != b->n || fflush(to) != 0)
        return err_sys(err, "writing the result");
    return 0;
}

static void print_help(const struct opt_set *set, struct buf *to)
{
    static const char *const common[] = {"url",        "model",    "key-env", "wait-ready", "concurrency",  "rate",
                                         "requests",   "duration", "warmup",  "sweep",      "input-tokens", "dataset",
                                         "max-tokens", "goodput",  "details", "json",       "records",      NULL};
    buf_puts(to,
             "llmload - measure a service that runs a language model\n\nusage: llmload [OPTIONS] URL\n       llmload COMMAND [OPTIONS]\n\n"
             "  llmload http://localhost:8000 -c 16 -n 1000      16 streams, 1000 requests\n"
             "  llmload http://localhost:8000 -r 20 -d 60s       20 requests/s for a minute\n"
             "  llmload http://localhost:8000 --sweep 1..64*2    where it saturates\n"
             "  llmload compare A.json B.json                    what changed\n\n");
    opt_help_brief(set, common, to);
    buf_puts(to, "\nCommands    selftest, agent, share, compare, tokens: \"llmload COMMAND --help\"\n"
                 "All options: \"llmload help options\".  Manual: \"man llmload\".\n");
}

static void print_all_options(const struct opt_set *set, struct buf *to)
{
    buf_printf(to, "usage: llmload %s\n", usage);
#define VERB(function, name, arguments, what) buf_printf(to, "       llmload %s %s\n           %s\n", name, arguments, what);
#include "benchmarks/native/llmload/verbs.def"
#undef VERB
    buf_putc(to, '\n');
    opt_help(set, to);
    struct err agents = {0}, pieces = {0};
    bool has_agents = api_check(&agents) == 0, has_pieces = sentencepiece_check(&pieces) == 0;
    if (!has_agents || !has_pieces)
        buf_printf(to, "\nNot available here:\n");
    for (const struct err *e = &agents; e; e = e == &agents ? &pieces : NULL)
        if (*e->text)
            buf_printf(to, "  %s\n", e->text);
}

/* Returns whether the word is an objective such as "ttft:500". Other tools accept several behind
 * one --goodput. */
static bool is_objective(const char *word)
{
    static const char *const names[] = {"ttft:", "tpot:", "itl:", "e2el:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(str_of(word), names[i]))
            return true;
    return false;
}

/* Parses operands as addresses, like those of --url: `llmload URL -c 4`. -1 with err: an operand
 * cannot be one. */
static int take_operands(struct opt_set *set, int count, char **operands, struct err *err)
{
    for (int i = 0; i < count; i++) {
        char *line[] = {(char *)"llmload", (char *)"--url", operands[i], NULL};
        int next;
        if (is_objective(operands[i]))
            return err_set(err, ERR_USAGE, "\"%.60s\": expected a comma between objectives: --goodput ttft:100,tpot:20", operands[i]);
        if (!strchr(operands[i], ':') && !strchr(operands[i], '.'))
            return err_set(err, ERR_USAGE, "\"%.60s\": expected the URL of a service, such as http://localhost:8000", operands[i]);
        if (opt_parse(set, 3, line, &next, err) < 0)
            return -1;
    }
    return 0;
}

static void print_manual(const struct opt_set *set, struct buf *to)
{
    struct buf lines CLEANUP_BUF;
    buf_init(&lines, 8192);
    buf_printf(&lines, "%s\n", usage);
#define VERB(function, name, arguments, what) buf_printf(&lines, "%s %s\n", name, arguments);
#include "benchmarks/native/llmload/verbs.def"
#undef VERB
    struct man_program p = {"llmload", "measure services that run language models", lines.p, description, examples, set->rows, set->count,
                            statuses};
    man_write_program(&p, to);
}

struct extras {
    struct load_sweep sweep;
    struct calibration calibration;
    bool calibrated;
    struct coordination *agents; /* NULL: the load is made here */
};

static void put_json(const struct load_report *r, struct around *a, struct extras *x, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    report_json(r, &j);
    around_json(a, r->outcome, &j);
    if (x->agents)
        coordinate_json(x->agents, &j);
    if (sweep_wanted(&x->sweep))
        sweep_json(&x->sweep, a->load, &j);
    if (x->calibrated)
        calibration_json(&x->calibration, "calibration", &j);
    json_close(&j, '}');
    buf_putc(to, '\n');
}

static void put_table(const struct load_report *r, struct around *a, struct extras *x, struct buf *to)
{
    const struct report_wish wish = {opt_on(a->set, OPTION_DETAILS), opt_on(a->set, OPTION_DEFINE)};
    const struct screen screen = screen_of(STDOUT_FILENO);
    report_table(r, wish, &screen, to);
    around_table(a, to);
    if (x->agents)
        coordinate_table(x->agents, &screen, to);
    if (sweep_wanted(&x->sweep))
        sweep_table(&x->sweep, a->load, &screen, to);
    if (x->calibrated)
        buf_putc(to, '\n'), calibration_table(&x->calibration, 1, &screen, to);
}

/* Ends the load, then prints the result. Returns the exit status, 1 where a search found no rate,
 * or -1 with *err. */
static int print_load_report(const struct opt_set *set, struct around *a, struct extras *x, const struct prompt_source *prompts,
                             const struct outcome *o, struct err *err)
{
    struct buf out CLEANUP_BUF;
    struct load_report r = {a->load, prompts, o};
    buf_init(&out, REPORT_MAX);
    int ended = around_end(a, o, err);
    if (opt_on(set, OPTION_JSON) || a->recorder >= 0)
        put_json(&r, a, x, &out);
    if (!opt_on(set, OPTION_JSON)) {
        if (!out.failed)
            around_log(a, buf_text(&out));
        buf_clear(&out);
        put_table(&r, a, x, &out);
    }
    if (sweep_wanted(&x->sweep) && opt_text(set, OPTION_PLOTS) && ended == 0)
        ended = plots_saturation(opt_text(set, OPTION_PLOTS), x->sweep.points, x->sweep.point_count,
                                 a->load->arrivals == ARRIVALS_CLOSED ? "streams" : "offered requests/s", a->load->shown_url, err);
    if (llmload_print(&out, stdout, ended < 0 ? NULL : err) < 0 || ended < 0)
        return -1;
    if (!x->sweep.search || sweep_is_found(&x->sweep) || o->signal)
        return report_status(o);
    buf_clear(&out);
    buf_puts(&out, "llmload: ");
    sweep_answer(&x->sweep, &out); /* the table is on standard output, the reason of the exit status is not */
    buf_putc(&out, '\n');
    return llmload_print(&out, stderr, err) < 0 ? -1 : 1;
}

static int make_load_by_agents(struct extras *x, struct outcome *o, struct load *load, struct around *a, struct err *err)
{
    if (coordinate_prepare(x->agents, load->model, err) < 0)
        return -1;
    a->hooks.ready(a->hooks.context, load, schedule_expected(load));
    return coordinate_run(x->agents, o, &a->hooks, err);
}

/* The run, or the runs of a sweep, here or by agents. */
static int make_load(struct extras *x, struct outcome *o, struct load *load, struct prompt_source *prompts, struct around *a,
                     struct err *err)
{
    if (x->agents)
        return make_load_by_agents(x, o, load, a, err);
    if (sweep_wanted(&x->sweep))
        return sweep_run(&x->sweep, o, load, prompts, a->sinks, &a->hooks, err);
    return engine_run(o, load, prompts, a->sinks, &a->hooks, err);
}

static int begin_extras(const struct opt_set *set, struct extras *x, struct load *load, struct arena *arena, struct err *err)
{
    bool agents = opt_text(set, OPTION_AGENTS) != NULL;
    if (sweep_read(&x->sweep, set, load, err) < 0)
        return -1;
    if (agents && (sweep_wanted(&x->sweep) || x->calibrated))
        return err_set(err, ERR_USAGE, "--agents: searches, sweeps and --calibrate are made by one process; leave one of the two out");
    struct calibration_plan plan = calibration_plan_for(calibration_streams(load));
    if (x->calibrated && calibration_run(&x->calibration, &plan, err) < 0)
        return -1;
    return agents ? coordinate_begin(&x->agents, set, load, arena, err) : 0;
}

/* Makes the load with everything around it, and prints the report. Returns the exit status, or
 * below 0 with err. The caller frees prompts and arena. */
static int run_load(const struct opt_set *set, struct load *load, struct prompt_source *prompts, struct arena *arena, struct err *err)
{
    struct around around = {.recorder = -1};
    struct extras x = {.calibrated = opt_on(set, OPTION_CALIBRATE)};
    struct outcome outcome = {0};
    around_catch_signals();
    int status = begin_extras(set, &x, load, arena, err);
    if (status == 0)
        status = around_begin(&around, set, load, prompts, !x.agents, err);
    if (status == 0)
        status = make_load(&x, &outcome, load, prompts, &around, err);
    if (status == 0)
        status = print_load_report(set, &around, &x, prompts, &outcome, err);
    outcome_deinit(&outcome);
    around_deinit(&around);
    coordinate_free(x.agents);
    if (x.calibrated)
        calibration_deinit(&x.calibration);
    sweep_deinit(&x.sweep);
    return status;
}

/* Runs the load of the options. Returns the exit status, or a negative value with *err. */
static int llmload_run(const struct opt_set *set, struct err *err)
{
    struct load load;
    struct arena arena;
    struct prompt_source *prompts = NULL;
    arena_init(&arena, 64 << 20);
    struct input_hashes inputs = {0};
    int status = load_read(&load, set, &arena, err), served;
    load.inputs = &inputs;
    if (status == 0 && (status = coordinate_srun(set, &served, err)) > 0) { /* this task serves the first one */
        arena_deinit(&arena);
        return served;
    }
    if (status == 0)
        status = prompts_open(&prompts, set, &load, err);
    if (status == 0)
        status = run_load(set, &load, prompts, &arena, err);
    if (prompts)
        prompts->close(prompts);
    arena_deinit(&arena);
    return status;
}

/* Runs the command line. Returns the exit status, or a negative value with *err. */
static int main_line(int argc, char **argv, struct err *err)
{
    struct opt_value values[LOAD_ROWS];
    struct opt_set set = {.rows = load_rows, .count = LOAD_ROWS, .values = values, .words = words, .place = "", .permute = true};
    struct buf out CLEANUP_BUF;
    int next;
    buf_init(&out, 1 << 20);
    char *help_line[] = {argv[0], (char *)"--help", argc > 2 ? argv[2] : NULL, NULL};
    if (argc > 1 && strcmp(argv[1], "help") == 0)
        argc = argc > 2 ? 3 : 2, argv = help_line;
#define VERB(function, name, arguments, what)                                                                                              \
    if (argc > 1 && strcmp(argv[1], name) == 0)                                                                                            \
        return function(argc - 1, argv + 1, err);
#include "benchmarks/native/llmload/verbs.def"
#undef VERB
    opt_defaults(&set, getenv);
    if (opt_parse(&set, argc, argv, &next, err) < 0)
        return -1;
    if (opt_on(&set, OPTION_VERSION)) {
        buf_puts(&out, "llmload " BW_VERSION "\n");
        return llmload_print(&out, stdout, err);
    }
    bool all = next < argc && (strcmp(argv[next], "options") == 0 || strcmp(argv[next], "all") == 0);
    if (opt_on(&set, OPTION_HELP) || opt_on(&set, OPTION_MAN) || argc < 2) {
        (opt_on(&set, OPTION_MAN) ? print_manual : all ? print_all_options : print_help)(&set, &out);
        return llmload_print(&out, argc < 2 ? stderr : stdout, err) < 0 ? -1 : argc < 2 ? USAGE_STATUS : 0;
    }
    int status = take_operands(&set, argc - next, argv + next, err);
    if (status == 0)
        status = llmload_run(&set, err);
    if (status < 0)
        opt_name_as_typed(&set, err);
    opt_deinit(&set);
    return status;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    int status = main_line(argc, argv, &err);
    if (status >= 0)
        return status;
    fprintf(stderr, "llmload: %s\n", err.text);
    return engine_signal() > 0 ? 128 + engine_signal() : err.kind == ERR_USAGE ? USAGE_STATUS : 1;
}
