/* sweep.c: the same load at several levels; see sweep.h. */
#include "benchmarks/native/llmload/sweep.h"

#include "base/stats.h"
#include "base/listing.h"
#include "benchmarks/native/llmload/report_parts.h"
#include "benchmarks/native/llmload/schedule.h"

#include <math.h>
#include <string.h>

static int add_level(struct load_sweep *s, double v, struct err *err)
{
    if (!(v > 0) || v > 1e9)
        return err_set(err, ERR_USAGE, "--sweep: expected levels > 0 and <= 1e9, got %g", v);
    if (s->level_count == SWEEP_MAX)
        return err_set(err, ERR_USAGE, "--sweep: more than %d levels", SWEEP_MAX);
    s->levels[s->level_count++] = v;
    return 0;
}

/* "1..64*2", "10..50+10" or one number. */
static int read_levels(struct load_sweep *s, struct str one, struct err *err)
{
    ptrdiff_t dots = str_find(one, str_of(".."));
    double from, to, step = 2;
    if (dots < 0) {
        if (!str_double(one, &from))
            return err_set(err, ERR_USAGE, "--sweep: expected a number, got \"%.*s\"", (int)(one.n < 40 ? one.n : 40), one.p);
        return add_level(s, from, err);
    }
    struct str last = str_sub(one, (size_t)dots + 2, one.n);
    bool add = memchr(last.p, '+', last.n) != NULL;
    struct str end = str_cut(&last, add ? '+' : '*');
    if (!str_double(str_sub(one, 0, (size_t)dots), &from) || !str_double(end, &to) || (last.p && !str_double(last, &step)) || !(from > 0) ||
        !(to >= from) || !(add ? step > 0 : step > 1))
        return err_set(err, ERR_USAGE, "--sweep: expected FROM..TO*FACTOR or FROM..TO+STEP, got \"%.*s\"", (int)(one.n < 40 ? one.n : 40),
                       one.p);
    double v = from;
    for (int i = 1; v <= to * (1 + 1e-9); i++) {
        if (add_level(s, v, err) < 0)
            return -1;
        v = add ? from + i * step : from * pow(step, i);
    }
    return 0;
}

int sweep_read(struct load_sweep *ret, const struct opt_set *set, const struct load *load, struct err *err)
{
    const char *text = opt_text(set, OPTION_SWEEP);
    *ret = (struct load_sweep){.search = opt_on(set, OPTION_SEARCH)};
    buf_init(&ret->json, 16 << 20);
    for (struct str rest = str_of(text ? text : ""); text && rest.p;)
        if (read_levels(ret, str_trim(str_cut(&rest, ',')), err) < 0)
            return -1;
    if (!sweep_wanted(ret))
        return 0;
    if (text && ret->search)
        return err_set(err, ERR_USAGE, "--sweep and --search cannot be together");
    if (load->trace || load->rate.n > 1 || (load->arrivals == ARRIVALS_CLOSED && load->concurrency.n > 1))
        return err_set(err, ERR_USAGE, "--sweep and --search need one --rate or --concurrency, no trace and no profile");
    if (opt_text(set, OPTION_RECORDS) || opt_text(set, OPTION_CSV))
        return err_set(err, ERR_USAGE, "--records and --csv are of one run: not together with --sweep or --search");
    double *share = &ret->answer.share;
    if (!str_double(str_of(opt_text(set, OPTION_SEARCH_SHARE)), share) || !(*share > 0 && *share <= 1))
        return err_set(err, ERR_USAGE, "--search-share: expected a number > 0 and <= 1, got \"%.40s\"", opt_text(set, OPTION_SEARCH_SHARE));
    const struct objectives *o = &load->objectives;
    if (ret->search && load->arrivals == ARRIVALS_CLOSED)
        return err_set(err, ERR_USAGE, "--search needs --rate: the rate it begins with");
    if (ret->search && !o->ttft_ns && !o->itl_ns && !o->tpot_ns && !o->e2el_ns)
        return err_set(err, ERR_USAGE, "--search needs objectives: --goodput ttft:500 … or --slo PRESET");
    return 0;
}

bool sweep_wanted(const struct load_sweep *s)
{
    return s->search || s->level_count;
}

static void set_level(struct load *load, double v)
{
    struct profile *p = load->arrivals == ARRIVALS_CLOSED ? &load->concurrency : &load->rate;
    p->n = 1;
    p->piece[0].from = p->piece[0].to = v;
    p->piece[0].seconds = 0;
}

static double or_nan(const struct hdr *h, double p)
{
    return hdr_states(h, p) ? hdr_quantile(h, p) / 1e6 : NAN;
}

/* Returns the metric by which levels are compared. */
static enum steady_rate decided_by(const struct saturation_point *p)
{
    return isfinite(p->goodput_per_s) ? STEADY_GOOD : isfinite(p->tokens_per_s) ? STEADY_TOKENS : STEADY_REQUESTS;
}

static double point_worth(const struct saturation_point *p)
{
    const double values[] = {[STEADY_GOOD] = p->goodput_per_s, [STEADY_TOKENS] = p->tokens_per_s, [STEADY_REQUESTS] = p->requests_per_s};
    double v = values[decided_by(p)];
    return isfinite(v) ? v : -1;
}

/* Returns whether point i may be as good as the best one: its interval does not end below that of the
 * best one. */
static bool is_alike(const struct load_sweep *s, size_t i)
{
    return i != s->best && !stats_is_below(s->high[i], s->low[s->best]);
}

/* Returns whether every other point is shown to be worse than the best one. False without points. */
static bool is_certain(const struct load_sweep *s)
{
    bool certain = s->point_count > 0;
    for (size_t i = 0; i < s->point_count; i++)
        certain &= !is_alike(s, i);
    return certain;
}

/* Appends the level that is being noted to the JSON of the points. */
static void put_point(struct load_sweep *s, const struct saturation_point *p, const struct load *load, const struct outcome *o,
                      const struct report_derived *d)
{
    const struct metrics *m = &o->m;
    const struct search_trial *t = &s->trials[s->point_count];
    struct json_out j = {.to = &s->json, .layout = JSON_TIGHT, .comma = s->point_count > 0};
    json_open(&j, NULL, '{');
    json_printf(&j, "level", "%.9g", p->load);
    json_uint(&j, "seed", load->seed);
    json_uint(&j, "completed", d->completed);
    json_uint(&j, "failed", d->failed);
    json_uint(&j, "dropped", m->dropped);
    json_text(&j, "schedule_sha256", o->schedule_hash);
    json_known(&j, "offered_rate", load->arrivals == ARRIVALS_CLOSED ? NAN : t->offered_rate);
    json_known(&j, "achieved_rate", t->sent_rate);
    json_known(&j, "request_throughput", p->requests_per_s);
    json_known(&j, "output_throughput", p->tokens_per_s);
    json_known(&j, "request_goodput", p->goodput_per_s);
    json_known(&j, "median_ttft_ms", p->ttft_ms);
    json_known(&j, "p99_ttft_ms", p->ttft_p99_ms);
    json_known(&j, "mean_itl_ms", p->itl_ms);
    json_known(&j, "p99_itl_ms", or_nan(&m->h[METRIC_ITL], 0.99));
    json_known(&j, "median_e2el_ms", or_nan(&m->h[METRIC_E2EL], 0.5));
    json_known(&j, "mean_concurrency", d->concurrency);
    json_known(&j, "ci_low", s->low[s->point_count]);
    json_known(&j, "ci_high", s->high[s->point_count]);
    if (d->has_objectives) {
        json_known(&j, "good_share", d->good_share);
        json_flag(&j, "met", s->met[s->point_count]);
    }
    json_flag(&j, "client_was_bottleneck", d->client.is_late);
    json_close(&j, '}');
}

/* Returns whether a level may have missed its goal only because of the client: SPOILT more good
 * requests for each one that was sent late, has an unknown time, or was due in processor time that
 * the hypervisor used would have met it. A late request makes those behind it wait. */
static bool miss_is_doubtful(const struct load_sweep *s, const struct outcome *o, const struct report_derived *d)
{
    enum { SPOILT = 10 };
    const struct metrics *m = &o->m;
    double late = (double)m->sends_late + (double)m->good_unknown + (o->steal_percent > 0 ? d->due * o->steal_percent / 100 : 0);
    return late > 0 && (double)m->good + SPOILT * late >= s->answer.share * d->due;
}

/* Notes the results of a level. */
static void sweep_note_level(struct load_sweep *s, const struct load *load, const struct outcome *o, double level)
{
    const struct metrics *m = &o->m;
    struct load_report r = {.load = load, .outcome = o};
    struct report_derived d;
    report_derive(&d, &r);
    double share = isfinite(d.good_share) ? d.good_share : 0;
    s->points[s->point_count] =
        (struct saturation_point){.load = level,
                                  .requests_per_s = report_per_second(&d, (double)d.completed),
                                  .tokens_per_s = m->output_tokens ? report_per_second(&d, (double)m->output_tokens) : NAN,
                                  .ttft_ms = or_nan(&m->h[METRIC_TTFT], 0.5),
                                  .ttft_p99_ms = or_nan(&m->h[METRIC_TTFT], 0.99),
                                  .itl_ms = report_mean(m, METRIC_ITL),
                                  .goodput_per_s = d.has_objectives ? report_per_second(&d, (double)m->good) : NAN};
    double sent =
        load->turns > 1 ? o->offered_rate * fmin(1, (double)m->sent / (double)m->scheduled) : d.sent_rate; /* of sessions, as --rate */
    s->trials[s->point_count] = (struct search_trial){.sent_rate = sent,
                                                      .offered_rate = o->offered_rate,
                                                      .good = m->good,
                                                      .due = (uint64_t)d.due,
                                                      .spread = o->expected > 0 ? o->expected_sd / o->expected : 0,
                                                      .is_late = miss_is_doubtful(s, o, &d)};
    s->seeds[s->point_count] = load->seed;
    const struct saturation_point *p = &s->points[s->point_count];
    double half = point_worth(p) * steady_uncertainty(o, decided_by(p));
    s->low[s->point_count] = half > point_worth(p) ? 0 : point_worth(p) - half;
    s->high[s->point_count] = point_worth(p) + half;
    s->late[s->point_count] = d.client.is_late;
    s->failed[s->point_count] = d.failed > 0;
    s->met[s->point_count] = d.completed && share >= s->answer.share;
    put_point(s, &s->points[s->point_count], load, o, &d);
    s->point_count++;
}

struct going {
    struct load_sweep *s;
    struct outcome *best;
    struct load *load;
    const struct prompt_source *prompts;
    struct result_sink *sinks;
    const struct engine_hooks *hooks;
    bool have_best, over;
};

/* Of a search the run at the highest rate so far that met the objectives, the last one of those. */
static bool sweep_is_better(const struct going *g, size_t i)
{
    const struct load_sweep *s = g->s;
    if (!g->have_best)
        return true;
    if (!s->search)
        return point_worth(&s->points[i]) > point_worth(&s->points[s->best]);
    return s->met[i] && (!s->met[s->best] || s->points[i].load >= s->points[s->best].load);
}

/* Moves the seed to one whose schedule has arrivals: where few are expected, one may have none. */
static void skip_empty(struct load *load)
{
    enum { FEW = 30, SEEDS = 100 };
    bool few = load->arrivals != ARRIVALS_CLOSED && load->duration_s > 0 && profile_most(&load->rate) * load->duration_s < FEW;
    for (int i = 0; few && i < SEEDS; i++) {
        struct schedule s;
        struct err err = {0};
        if (schedule_make(&s, load, &err) == 0) {
            schedule_deinit(&s);
            return;
        }
        load->seed++;
    }
}

/* Runs one level, with the next seed and with prompts that no level before it has sent: a server's
 * cache knows none of them. Returns 0, or -1 with *err. */
static int sweep_run_level(struct going *g, double level, struct err *err)
{
    struct outcome o;
    set_level(g->load, level);
    skip_empty(g->load);
    if (engine_run(&o, g->load, g->prompts, g->sinks, g->hooks, err) < 0) {
        outcome_deinit(&o);
        return -1;
    }
    struct load_sweep *s = g->s;
    sweep_note_level(s, g->load, &o, level);
    size_t i = s->point_count - 1;
    g->load->seed++;
    g->load->prompts_used += o.indexes;
    g->over = o.why_early != NULL || s->point_count == SWEEP_POINTS;
    if (o.why_early && g->have_best) { /* the report has the reason */
        g->best->signal = o.signal;
        g->best->why_early = o.why_early;
    }
    if (sweep_is_better(g, i)) {
        if (g->have_best)
            outcome_deinit(g->best);
        *g->best = o;
        g->have_best = true;
        s->best = i;
    } else {
        outcome_deinit(&o);
    }
    return 0;
}

/* Called by the search: runs a load at this rate. 0 with *ret; is_over: no further run fits into
 * the time. -1 with err. */
static int try_level(void *context, double level, struct search_trial *ret, struct err *err)
{
    struct going *g = context;
    if (sweep_run_level(g, level, err) < 0)
        return -1;
    *ret = g->s->trials[g->s->point_count - 1];
    ret->is_over = g->over;
    return 0;
}

static int sweep_search(struct going *g, struct err *err)
{
    struct rate_search *answer = &g->s->answer;
    answer->begin = g->load->rate.piece[0].to;
    answer->least = g->load->duration_s > 0 ? 2 / g->load->duration_s : 0; /* less than two requests show nothing */
    if (answer->begin < answer->least)
        return err_set(err, ERR_USAGE, "--search: --rate %g for %g s is less than two requests", answer->begin, g->load->duration_s);
    return search_run(answer, try_level, g, err);
}

bool sweep_is_found(const struct load_sweep *s)
{
    return s->answer.rate > 0 && !s->answer.why;
}

int sweep_run(struct load_sweep *s, struct outcome *ret, struct load *load, const struct prompt_source *prompts, struct result_sink *sinks,
              const struct engine_hooks *hooks, struct err *err)
{
    struct going g = {.s = s, .best = ret, .load = load, .prompts = prompts, .sinks = sinks, .hooks = hooks};
    int status = 0;
    if (s->search)
        status = sweep_search(&g, err);
    for (size_t i = 0; i < s->level_count && status >= 0 && !g.over; i++)
        status = sweep_run_level(&g, s->levels[i], err);
    if (status < 0 && !g.have_best)
        return -1;
    if (g.have_best) { /* the report is of that one */
        set_level(load, s->points[s->best].load);
        load->seed = s->seeds[s->best];
    }
    return status < 0 ? -1 : 0;
}

static const char *const rate_words[] = {[STEADY_GOOD] = "good requests", [STEADY_TOKENS] = "tokens", [STEADY_REQUESTS] = "requests"};

/* Prints the metric by which the levels were compared, and those that cannot be distinguished from
 * the highest. */
static void put_alike(const struct load_sweep *s, struct json_out *j)
{
    static const char *const keys[] = {
        [STEADY_GOOD] = "request_goodput", [STEADY_TOKENS] = "output_throughput", [STEADY_REQUESTS] = "request_throughput"};
    json_text(j, "decided_by", keys[decided_by(&s->points[s->best])]);
    json_open(j, "alike_levels", '[');
    for (size_t i = 0; i < s->point_count; i++)
        if (is_alike(s, i))
            json_printf(j, NULL, "%.9g", s->points[i].load);
    json_close(j, ']');
}

/* "WHAT at 2 of 7 levels: 8, 16" */
static void warn_of_levels(const struct load_sweep *s, const bool *has, const char *what, struct buf *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s->point_count; i++)
        n += has[i];
    if (!n)
        return;
    buf_printf(to, "%s at %zu of %zu levels", what, n, s->point_count);
    const char *before = ": ";
    for (size_t i = 0; i < s->point_count; i++)
        if (has[i]) {
            buf_printf(to, "%s%.5g", before, s->points[i].load);
            before = ", ";
        }
    buf_putc(to, '\n');
}

/* "the highest rate is uncertain by 12 %: …": too few requests a run for the share, or for arrivals
 * that are random. */
static void warn_of_short_runs(const struct load_sweep *s, struct buf *to)
{
    const double allowed = 0.05;
    const struct rate_search *a = &s->answer;
    const struct search_trial *t = &s->trials[s->best];
    double off = search_uncertainty(t->spread), due = (double)t->due, least = (double)search_least(a->share);
    double needed = fmax(least, off > allowed ? ceil(due * (off / allowed) * (off / allowed)) : 0);
    if (!s->search || !(a->rate > 0) || due >= needed)
        return;
    buf_puts(to, "the highest rate is uncertain");
    if (off > allowed)
        buf_printf(to, " by %.2g %%%s, and more likely too high", 100 * off, due < least ? " or more" : "");
    buf_printf(to, ": a run has %.0f requests, %.4g needed (--duration)\n", due, needed);
}

static void sweep_warnings(const struct load_sweep *s, struct buf *to)
{
    if (s->search)
        warn_of_short_runs(s, to);
    warn_of_levels(s, s->late, "the client was the bottleneck", to);
    warn_of_levels(s, s->failed, "requests failed", to);
}

void sweep_json(const struct load_sweep *s, const struct load *load, struct json_out *j)
{
    double reported = s->points[s->best].load;
    struct buf warnings CLEANUP_BUF;
    buf_init(&warnings, REPORT_WARNINGS_MAX);
    sweep_warnings(s, &warnings);
    json_open(j, "sweep", '{');
    json_text(j, "level_is", load->arrivals == ARRIVALS_CLOSED ? "concurrency" : "rate");
    json_flag(j, "search", s->search);
    json_known(j, "best_level", s->search || is_certain(s) ? reported : NAN);
    json_known(j, "reported_level", reported);
    if (!s->search)
        put_alike(s, j);
    if (s->search) {
        const struct rate_search *a = &s->answer;
        json_printf(j, "good_share_needed", "%.9g", a->share);
        json_flag(j, "found", sweep_is_found(s));
        json_known(j, "highest_rate", sweep_is_found(s) ? a->rate : NAN);
        json_known(j, "highest_met", a->rate > 0 ? a->rate : NAN);
        json_known(j, "lowest_missed", a->missed > 0 ? a->missed : NAN);
        json_text(j, "inconclusive", a->why);
    }
    json_open(j, "points", '[');
    json_members(j, buf_text(&s->json));
    json_close(j, ']');
    report_warning_list(buf_text(&warnings), j);
    json_close(j, '}');
}

/* The answer of a sweep in one sentence. */
static void put_highest(const struct load_sweep *s, const char *what, struct buf *to)
{
    const struct saturation_point *p = &s->points[s->best];
    size_t alike = 0;
    for (size_t i = 0; i < s->point_count; i++)
        alike += is_alike(s, i);
    buf_printf(to, "%s: %g %s, %.4g %s/s", alike ? "highest" : "best", p->load, what, point_worth(p), rate_words[decided_by(p)]);
    if (isfinite(s->low[s->best]))
        buf_printf(to, " (95 %%: %.4g … %.4g)", s->low[s->best], s->high[s->best]);
    else
        buf_puts(to, " (no interval: a level needs a second or more)");
    if (alike)
        buf_printf(to, "; no level is the best: the interval%s of %zu other%s reach%s it", str_plural(alike), alike, str_plural(alike),
                   alike == 1 ? "es" : "");
}

void sweep_answer(const struct load_sweep *s, struct buf *to)
{
    const struct rate_search *a = &s->answer;
    if (a->why)
        buf_printf(to, "inconclusive: %s", a->why);
    else if (!(a->rate > 0))
        buf_puts(to, "no rate met the objectives");
    else
        buf_printf(to, "highest rate: %.5g requests/s (%.5g missed); %g %% of the requests or more met every objective", a->rate, a->missed,
                   100 * a->share);
    if (a->why && a->rate > 0)
        buf_printf(to, " (a run at %.5g requests/s met the objectives)", a->rate);
}

/* Returns the word in the last column of a level; NULL: none. */
static const char *level_result(const struct load_sweep *s, size_t i)
{
    if (s->search)
        return !s->met[i] ? "missed" : i == s->best ? "best" : "met";
    return i == s->best ? (is_certain(s) ? "best" : "highest") : is_alike(s, i) ? "alike" : NULL;
}

void sweep_table(const struct load_sweep *s, const struct load *load, const struct screen *screen, struct buf *to)
{
    const struct listing_column columns[] = {
        {.key = "level", .heading = load->arrivals == ARRIVALS_CLOSED ? "streams" : "offered/s", .right = true},
        {.key = "sent", .heading = "sent/s", .right = true, .drop = 4},
        {.key = "requests", .heading = "requests/s", .right = true},
        {.key = "tokens", .heading = "tokens/s", .right = true, .no_empty = true},
        {.key = "goodput", .heading = "goodput/s", .right = true, .no_empty = true},
        {.key = "ttft50", .heading = "first_p50", .right = true, .drop = 2},
        {.key = "ttft99", .heading = "first_p99", .right = true, .drop = 1},
        {.key = "itl", .heading = "between", .right = true, .drop = 3},
        {.key = "verdict", .heading = "result", .whole = true},
    };
    struct arena arena;
    struct listing l;
    arena_init(&arena, 1 << 20);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    buf_putc(to, '\n');
    CLEANUP_BUF struct buf text;
    buf_init(&text, REPORT_WARNINGS_MAX);
    if (s->search)
        sweep_answer(s, &text);
    else
        put_highest(s, load->arrivals == ARRIVALS_CLOSED ? "streams" : "offered requests/s", &text);
    screen_wrap(screen, buf_text(&text), 0, 2, to);
    buf_putc(to, '\n');
    for (size_t i = 0; i < s->point_count; i++) {
        const struct saturation_point *p = &s->points[i];
        const double values[] = {p->load,    s->trials[i].sent_rate, p->requests_per_s, p->tokens_per_s, p->goodput_per_s,
                                 p->ttft_ms, p->ttft_p99_ms,         p->itl_ms};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            report_cell(&l, values[k]);
        const char *result = level_result(s, i);
        if (result)
            listing_text(&l, result);
        else
            listing_none(&l);
    }
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    buf_puts(to, "  ms: first token, mean time between tokens\n");
    buf_clear(&text);
    sweep_warnings(s, &text);
    report_warning_lines(screen, buf_text(&text), to);
    listing_deinit(&l);
    arena_deinit(&arena);
}

void sweep_deinit(struct load_sweep *s)
{
    buf_deinit(&s->json);
}
