/* sweep.c: the same load at several levels; see sweep.h. */
#include "benchmarks/native/llmload/sweep.h"

#include "base/listing.h"
#include "benchmarks/native/llmload/report_parts.h"

#include <math.h>
#include <string.h>

enum { DOUBLINGS = 16, STEPS = 30 };
#define PRECISION 1.05 /* a search ends when the lowest rate that failed is at most so much above the highest that did not */

static int add_level(struct sweep *s, double v, struct err *err)
{
    if (!(v > 0) || v > 1e9)
        return err_set(err, ERR_USAGE, "--sweep: levels are numbers above 0");
    if (s->level_count == SWEEP_MAX)
        return err_set(err, ERR_USAGE, "--sweep: more than %d levels", SWEEP_MAX);
    s->levels[s->level_count++] = v;
    return 0;
}

/* "1..64*2", "10..50+10" or one number. */
static int read_levels(struct sweep *s, struct str one, struct err *err)
{
    ptrdiff_t dots = str_find(one, str_of(".."));
    double from, to, step = 2;
    if (dots < 0) {
        if (!str_double(one, &from))
            return err_set(err, ERR_USAGE, "--sweep: \"%.*s\" is not a number", (int)(one.n < 40 ? one.n : 40), one.p);
        return add_level(s, from, err);
    }
    struct str last = str_sub(one, (size_t)dots + 2, one.n);
    bool add = memchr(last.p, '+', last.n) != NULL;
    struct str end = str_cut(&last, add ? '+' : '*');
    if (!str_double(str_sub(one, 0, (size_t)dots), &from) || !str_double(end, &to) || (last.p && !str_double(last, &step)) || !(from > 0) ||
        !(to >= from) || !(add ? step > 0 : step > 1))
        return err_set(err, ERR_USAGE, "--sweep: \"%.*s\" is not FROM..TO*FACTOR or FROM..TO+STEP", (int)(one.n < 40 ? one.n : 40), one.p);
    double v = from;
    for (int i = 1; v <= to * (1 + 1e-9); i++) {
        if (add_level(s, v, err) < 0)
            return -1;
        v = add ? from + i * step : from * pow(step, i);
    }
    return 0;
}

int sweep_read(struct sweep *ret, const struct opt_set *set, const struct load *load, struct err *err)
{
    const char *text = opt_text(set, "sweep");
    *ret = (struct sweep){.search = opt_on(set, "search")};
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
    if (opt_text(set, "records") || opt_text(set, "csv"))
        return err_set(err, ERR_USAGE, "--records and --csv are of one run: not together with --sweep or --search");
    if (!str_double(str_of(opt_text(set, "search-share")), &ret->share) || !(ret->share > 0 && ret->share <= 1))
        return err_set(err, ERR_USAGE, "--search-share: a number above 0, at most 1");
    const struct objectives *o = &load->objectives;
    if (ret->search && load->arrivals == ARRIVALS_CLOSED)
        return err_set(err, ERR_USAGE, "--search needs --rate: the rate it begins with");
    if (ret->search && !o->ttft_ns && !o->itl_ns && !o->tpot_ns && !o->e2el_ns)
        return err_set(err, ERR_USAGE, "--search needs objectives: --goodput ttft:500 … or --slo PRESET");
    return 0;
}

bool sweep_wanted(const struct sweep *s)
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
    return h->n >= hdr_least(p) ? hdr_quantile(h, p) / 1e6 : NAN;
}

static void put(struct buf *to, const char *name, double v)
{
    buf_printf(to, ",\"%s\":", name);
    buf_json_double(to, v);
}

/* Notes what a level gave. Did enough requests meet the objectives? */
static bool note(struct sweep *s, const struct load *load, const struct outcome *o, double level)
{
    const struct metrics *m = &o->m;
    struct report r = {.load = load, .outcome = o};
    struct derived d;
    report_derive(&d, &r);
    double share = isfinite(d.good_share) ? d.good_share : 0;
    bool met = d.completed && share >= s->share;
    struct saturation_point *p = &s->points[s->point_count];
    *p = (struct saturation_point){.load = level,
                                   .requests_per_s = (double)d.completed / d.seconds,
                                   .tokens_per_s = m->output_tokens ? (double)m->output_tokens / d.seconds : NAN,
                                   .ttft_ms = or_nan(&m->h[METRIC_TTFT], 0.5),
                                   .ttft_p99_ms = or_nan(&m->h[METRIC_TTFT], 0.99),
                                   .itl_ms = report_mean(m, METRIC_ITL),
                                   .goodput_per_s = d.has_objectives ? (double)m->good / d.seconds : NAN};
    s->met[s->point_count++] = met;
    buf_printf(&s->json, "%s{\"level\":%.9g,\"completed\":%llu,\"failed\":%llu,\"dropped\":%llu,\"schedule_sha256\":\"%s\"",
               s->point_count > 1 ? "," : "", level, (unsigned long long)d.completed, (unsigned long long)d.failed,
               (unsigned long long)m->dropped, o->schedule_hash);
    put(&s->json, "request_throughput", p->requests_per_s);
    put(&s->json, "output_throughput", p->tokens_per_s);
    put(&s->json, "request_goodput", p->goodput_per_s);
    put(&s->json, "median_ttft_ms", p->ttft_ms);
    put(&s->json, "p99_ttft_ms", p->ttft_p99_ms);
    put(&s->json, "mean_itl_ms", p->itl_ms);
    put(&s->json, "p99_itl_ms", or_nan(&m->h[METRIC_ITL], 0.99));
    put(&s->json, "median_e2el_ms", or_nan(&m->h[METRIC_E2EL], 0.5));
    put(&s->json, "mean_concurrency", d.concurrency);
    if (d.has_objectives)
        put(&s->json, "good_share", share), buf_printf(&s->json, ",\"met\":%s", met ? "true" : "false");
    buf_putc(&s->json, '}');
    return met;
}

static double worth(const struct saturation_point *p)
{
    double v = isfinite(p->goodput_per_s) ? p->goodput_per_s : isfinite(p->tokens_per_s) ? p->tokens_per_s : p->requests_per_s;
    return isfinite(v) ? v : -1;
}

struct going {
    struct sweep *s;
    struct outcome *best;
    struct load *load;
    const struct prompt_source *prompts;
    struct result_sink *sinks;
    const struct engine_hooks *hooks;
    bool have_best, best_met, over;
};

/* One level. 1: met, 0: not, -1: it could not be run. */
static int one(struct going *g, double level, struct err *err)
{
    struct outcome o;
    set_level(g->load, level);
    if (engine_run(&o, g->load, g->prompts, g->sinks, g->hooks, err) < 0) {
        outcome_deinit(&o);
        return -1;
    }
    struct sweep *s = g->s;
    bool met = note(s, g->load, &o, level);
    size_t i = s->point_count - 1;
    bool better = !g->have_best || (s->search ? (met && (!g->best_met || level > s->points[s->best].load))
                                              : worth(&s->points[i]) > worth(&s->points[s->best]));
    g->over = o.why_early != NULL || s->point_count == SWEEP_MAX;
    if (o.why_early && g->have_best) { /* what ended early is told, and so is that it did */
        g->best->signal = o.signal;
        g->best->why_early = o.why_early;
    }
    if (better) {
        if (g->have_best)
            outcome_deinit(g->best);
        *g->best = o;
        g->have_best = true;
        g->best_met = met;
        s->best = i;
    } else {
        outcome_deinit(&o);
    }
    return met;
}

/* Doubles until a rate fails (halves until one holds), then halves the distance. */
static int search(struct going *g, struct err *err)
{
    double good = 0, bad = 0, level = g->load->rate.piece[0].to;
    for (int i = 0; i < STEPS && !g->over; i++) {
        if (good > 0 && bad > 0 && bad / good <= PRECISION)
            break;
        if (i > DOUBLINGS && (!(good > 0) || !(bad > 0)))
            break;
        if (g->load->duration_s > 0 && level * g->load->duration_s < 2)
            break; /* less than two requests say nothing */
        int met = one(g, level, err);
        if (met < 0)
            return -1;
        *(met ? &good : &bad) = level;
        level = good > 0 && bad > 0 ? sqrt(good * bad) : met ? level * 2 : level / 2;
    }
    g->s->found = good > 0;
    return 0;
}

int sweep_run(struct sweep *s, struct outcome *ret, struct load *load, const struct prompt_source *prompts, struct result_sink *sinks,
              const struct engine_hooks *hooks, struct err *err)
{
    struct going g = {.s = s, .best = ret, .load = load, .prompts = prompts, .sinks = sinks, .hooks = hooks};
    int status = 0;
    if (s->search)
        status = search(&g, err);
    for (size_t i = 0; i < s->level_count && status >= 0 && !g.over; i++)
        status = one(&g, s->levels[i], err);
    if (status < 0 && !g.have_best)
        return -1;
    if (g.have_best)
        set_level(load, s->points[s->best].load); /* the report tells of that one */
    return status < 0 ? -1 : 0;
}

void sweep_json(const struct sweep *s, const struct load *load, struct buf *to)
{
    buf_printf(to, ",\"sweep\":{\"level_is\":\"%s\",\"search\":%s,\"best_level\":%.9g",
               load->arrivals == ARRIVALS_CLOSED ? "concurrency" : "rate", s->search ? "true" : "false", s->points[s->best].load);
    if (s->search)
        buf_printf(to, ",\"good_share_needed\":%.9g,\"found\":%s", s->share, s->found ? "true" : "false");
    if (s->search && s->found)
        put(to, "highest_rate", s->points[s->best].load);
    buf_puts(to, ",\"points\":[");
    buf_str(to, buf_text(&s->json));
    buf_puts(to, "]}");
}

void sweep_table(const struct sweep *s, const struct load *load, const struct screen *screen, struct buf *to)
{
    const struct listing_column columns[] = {
        {.key = "level", .heading = load->arrivals == ARRIVALS_CLOSED ? "streams" : "offered/s", .right = true},
        {.key = "requests", .heading = "requests/s", .right = true},
        {.key = "tokens", .heading = "tokens/s", .right = true, .no_empty = true},
        {.key = "goodput", .heading = "goodput/s", .right = true, .no_empty = true},
        {.key = "ttft50", .heading = "first p50", .right = true, .drop = 2},
        {.key = "ttft99", .heading = "first p99", .right = true, .drop = 1},
        {.key = "itl", .heading = "between", .right = true, .drop = 3},
        {.key = "verdict", .heading = "", .whole = true, .no_empty = true},
    };
    struct arena arena;
    struct listing l;
    arena_init(&arena, 1 << 20);
    listing_init(&l, columns, sizeof columns / sizeof *columns, &arena);
    buf_putc(to, '\n');
    if (s->search && s->found) {
        CLEANUP_BUF struct buf answer;
        buf_init(&answer, 400);
        buf_printf(&answer, "highest rate at which %g %% of the requests met every objective: %.5g requests/s", 100 * s->share,
                   s->points[s->best].load);
        screen_wrap(screen, buf_text(&answer), 0, 2, to);
        buf_putc(to, '\n');
    }
    if (s->search && !s->found)
        buf_puts(to, "no rate met the objectives\n");
    for (size_t i = 0; i < s->point_count; i++) {
        const struct saturation_point *p = &s->points[i];
        const double values[] = {p->load, p->requests_per_s, p->tokens_per_s, p->goodput_per_s, p->ttft_ms, p->ttft_p99_ms, p->itl_ms};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            report_cell(&l, values[k]);
        listing_text(&l, s->search ? (s->met[i] ? (i == s->best ? "best" : "met") : "missed") : i == s->best ? "best" : "");
    }
    if (listing_render(&l, screen, to) < 0)
        to->failed = true;
    buf_puts(to, "  ms: first token, mean time between tokens\n");
    listing_deinit(&l);
    arena_deinit(&arena);
}

void sweep_deinit(struct sweep *s)
{
    buf_deinit(&s->json);
}
