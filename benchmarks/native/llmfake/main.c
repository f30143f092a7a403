/* main.c: llmfake: a server that answers like those that run language models, by an exact schedule,
 * and with the faults that --fault sets. */
#include "benchmarks/native/llmfake/fake.h"

#include "base/man.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct opt_row rows[] = {
#define OPTION(name, letter, kind, arg, env, value, group, help) {name, letter, kind, arg, env, value, group, help, 0},
#include "benchmarks/native/llmfake/options.def"
#undef OPTION
};
enum { ROWS = sizeof rows / sizeof rows[0], USAGE_STATUS = 125 };

static const char description[] =
    "Answers POST /v1/chat/completions, /v1/completions, /api/chat and /api/generate, streamed or not, and GET /health, /v1/models, /api/tags. Each event is "
    "sent by an exact schedule from the request's arrival on; with --log the true time of every arrival and send is written down.\n"
    "\n"
    "It prints one line, its address. SIGTERM or SIGINT ends it. Then it prints, as JSON on standard error, what it served and how late it was.\n"
    "\n"
    "A request for /fault/NAME/v1/… fails in that way, whatever --fault says.\n"
    "\n"
    "prompt_tokens of an answer is a quarter of the request body's bytes.";
static const char examples[] = "$ llmfake --ttft 100ms --itl 10ms --log sent.bin\nAnswers of a steady model.\n"
                               "$ llmfake --fault in-band:0.1 --fault 429:0.2\nA third of the requests fails.\n";

/* Reads "T" or "T:SIGMA". Returns 0, or -1 with *err. */
static int read_delay(struct delay *ret, const struct opt_set *set, const char *name, struct err *err)
{
    struct str rest = str_of(opt_text(set, name)), time = str_cut(&rest, ':');
    *ret = (struct delay){0};
    if (!str_duration(time, &ret->median_s) || ret->median_s < 0 ||
        (rest.p && (!str_double(rest, &ret->sigma) || !(ret->sigma >= 0 && ret->sigma < 10))))
        return err_set(err, ERR_USAGE, "--%s: expected T or T:SIGMA as in 20ms:0.3, got \"%.40s\"", name, opt_text(set, name));
    return 0;
}

/* Sets the share of one fault from "NAME:SHARE", 1 without a share. Returns 0, or -1 with *err,
 * which names the known faults. */
static int read_fault(struct fake *f, const char *text, struct err *err)
{
    struct str rest = str_of(text), name = str_cut(&rest, ':');
    double share = 1;
    struct buf known CLEANUP_BUF;
    buf_init(&known, 2000);
    if (rest.p && (!str_double(rest, &share) || !(share >= 0 && share <= 1)))
        return err_set(err, ERR_USAGE, "--fault: expected NAME:SHARE with a share from 0 to 1, got \"%.40s\"", text);
    for (int i = 1; i < FAULTS; i++) {
        if (str_is(name, fault_names[i])) {
            f->fault_share[i] = share;
            return 0;
        }
        buf_printf(&known, "%s%s", i > 1 ? ", " : "", fault_names[i]);
    }
    return err_set(err, ERR_USAGE, "--fault: expected one of %s, got \"%.40s\"", known.p, text);
}

/* Reads "ADDRESS:PORT". f->host points into `host`, which must outlive f. Returns 0, or -1 with
 * *err. */
static int fake_read_listen(struct fake *f, const char *text, struct buf *host, struct err *err)
{
    struct str all = str_of(text);
    const char *colon = memrchr(all.p, ':', all.n);
    uint64_t port;
    if (!colon || !str_uint(str_sub(all, (size_t)(colon - all.p) + 1, all.n), &port) || port > 65535)
        return err_set(err, ERR_USAGE, "--listen: expected ADDRESS:PORT, got \"%.60s\"", text);
    buf_add(host, all.p, (size_t)(colon - all.p));
    f->host = host->p ? host->p : "";
    f->port = (uint16_t)port;
    return 0;
}

static int fake_read_count(const struct opt_set *set, const char *name, int64_t low, int64_t high, int64_t *ret, struct err *err)
{
    *ret = opt_integer(set, name);
    return *ret < low || *ret > high ? err_set(err, ERR_USAGE, "--%s: expected a number from %lld to %lld, got \"%lld\"", name,
                                               (long long)low, (long long)high, (long long)*ret)
                                     : 0;
}

/* Reads the options that are numbers, and makes the slots, which the caller frees. Returns 0, or -1
 * with *err. */
static int fake_read_counts(struct fake *f, const struct opt_set *set, struct err *err)
{
    int64_t threads, tokens, per_chunk, pad, split, seed, slots;
    if (fake_read_count(set, "threads", 1, 256, &threads, err) < 0 || fake_read_count(set, "tokens", 0, 10000000, &tokens, err) < 0 ||
        fake_read_count(set, "per-chunk", 1, 1000, &per_chunk, err) < 0 || fake_read_count(set, "pad", 0, 60000, &pad, err) < 0 ||
        fake_read_count(set, "split", 0, 1 << 20, &split, err) < 0 || fake_read_count(set, "seed", 0, INT64_MAX, &seed, err) < 0 ||
        fake_read_count(set, "slots", 0, 100000, &slots, err) < 0)
        return -1;
    if (slots && !(f->slots = slots_new((unsigned)slots)))
        return err_sys(err, "--slots");
    f->threads = (unsigned)threads, f->tokens = (uint32_t)tokens, f->per_chunk = (unsigned)per_chunk;
    f->pad = (unsigned)pad, f->split = (unsigned)split, f->seed = (uint64_t)seed;
    return 0;
}

static int fake_read_options(struct fake *f, const struct opt_set *set, struct buf *host, struct err *err)
{
    static const char *const usages[] = {"last", "with-choices", "every", "zeros", "none"};
    const char *role = opt_text(set, OPTION_ROLE), *end = opt_text(set, OPTION_LINE_END);
    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++)
        if (strcmp(opt_text(set, OPTION_USAGE), usages[i]) == 0)
            f->usage = (enum usage_place)i;
    f->socket = opt_text(set, OPTION_UNIX);
    f->model = opt_text(set, OPTION_MODEL);
    f->log_path = opt_text(set, OPTION_LOG);
    f->starting_s = opt_seconds(set, OPTION_STARTING);
    f->tail_s = opt_seconds(set, OPTION_TAIL);
    f->role_alone = strcmp(role, "alone") == 0;
    f->no_role = strcmp(role, "none") == 0;
    f->crlf = strcmp(end, "crlf") == 0;
    f->cr = strcmp(end, "cr") == 0;
    f->done = !opt_on(set, OPTION_NO_DONE);
    f->close_after = opt_on(set, OPTION_CLOSE);
    f->by_close = opt_on(set, OPTION_BY_CLOSE);
    f->reasoning = opt_on(set, OPTION_REASONING);
    f->comments = opt_on(set, OPTION_COMMENTS);
    for (const struct opt_value *v = opt_find(set, OPTION_FAULT); v && v->text; v = v->next)
        if (read_fault(f, v->text, err) < 0)
            return -1;
    if (fake_read_listen(f, opt_text(set, OPTION_LISTEN), host, err) < 0 || read_delay(&f->ttft, set, "ttft", err) < 0 ||
        read_delay(&f->itl, set, "itl", err) < 0)
        return -1;
    return fake_read_counts(f, set, err);
}

static void fake_print_help(const struct opt_set *set, bool all, struct buf *to)
{
    static const char *const common[] = {"listen", "model",     "starting", "ttft",  "itl", "tokens",
                                         "usage",  "reasoning", "split",    "fault", NULL};
    buf_puts(to, "llmfake - answer like a language model's server, by an exact schedule\n\nusage: llmfake [OPTIONS]\n\n"
                 "  llmfake --ttft 100ms --itl 10ms      a steady model; prints its address\n"
                 "  llmfake --fault 429:0.2              a fifth of the requests fails\n\n");
    if (all)
        opt_help(set, to);
    else
        opt_help_brief(set, common, to), buf_puts(to, "\nAll options: \"llmfake help options\".  Manual: \"man llmfake\".\n");
}

static int fake_write_stdout(struct buf *b, struct err *err)
{
    return fwrite(b->p ? b->p : "", 1, b->n, stdout) != b->n || fflush(stdout) != 0 ? err_sys(err, "writing") : 0;
}

static int fake_main(int argc, char **argv, struct err *err)
{
    struct opt_value values[ROWS];
    struct opt_set set = {.rows = rows, .count = ROWS, .values = values};
    struct fake f = {0};
    struct buf text CLEANUP_BUF;
    int next;
    buf_init(&text, 1 << 20);
    char *help_line[] = {argv[0], (char *)"--help", argc > 2 ? argv[2] : NULL, NULL};
    if (argc > 1 && strcmp(argv[1], "help") == 0)
        argc = argc > 2 ? 3 : 2, argv = help_line;
    opt_defaults(&set, getenv);
    if (opt_parse(&set, argc, argv, &next, err) < 0)
        return -1;
    bool all = opt_on(&set, OPTION_HELP) && next + 1 == argc && (strcmp(argv[next], "options") == 0 || strcmp(argv[next], "all") == 0);
    if (next < argc && !all)
        return err_set(err, ERR_USAGE, "expected options only, got \"%.60s\"", argv[next]);
    if (opt_on(&set, OPTION_VERSION) || opt_on(&set, OPTION_HELP) || opt_on(&set, OPTION_MAN)) {
        struct man_program p = {"llmfake",   "answer like a language model's server, by an exact schedule",
                                "[OPTIONS]", description,
                                examples,    rows,
                                ROWS,        "0\tended by a signal\n1\tfailed, with a message\n125\ta wrong command line\n"};
        if (opt_on(&set, OPTION_MAN))
            man_write_program(&p, &text);
        else if (opt_on(&set, OPTION_HELP))
            fake_print_help(&set, all, &text);
        else
            buf_puts(&text, "llmfake " BW_VERSION "\n");
        return fake_write_stdout(&text, err);
    }
    if (fake_read_options(&f, &set, &text, err) < 0 || reply_make(&f, err) < 0)
        return -1;
    int status = fake_serve(&f, err);
    slots_free(f.slots);
    return status;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    if (fake_main(argc, argv, &err) == 0)
        return 0;
    fprintf(stderr, "llmfake: %s\n", err.text);
    return err.kind == ERR_USAGE ? USAGE_STATUS : 1;
}
