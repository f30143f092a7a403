/* schedule.c: when which request is to be sent; see schedule.h. */
#include "benchmarks/native/llmload/schedule.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "benchmarks/native/llmload/random.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRIVALS_MAX = 1 << 27 };

struct arrival *schedule_room(struct schedule *s)
{
    return s->n < ARRIVALS_MAX && ARRAY_FITS(s->list, s->size, s->n + 1) ? &s->list[s->n] : NULL;
}

void schedule_deinit(struct schedule *s)
{
    free(s->list);
    free(s->texts);
    free(s->blocks);
    *s = (struct schedule){0};
}

static double uniform_unit(uint64_t *state) /* in (0, 1) */
{
    return random_unit(random_mix((*state)++)) + 0x1p-54;
}

static double normal_unit(uint64_t *state)
{
    uint64_t a = random_mix((*state)++), b = random_mix((*state)++);
    return random_normal(a, b);
}

/* Gamma with this shape and mean 1 (Marsaglia and Tsang 2000). */
static double gamma_unit(double shape, uint64_t *state)
{
    if (shape < 1)
        return gamma_unit(shape + 1, state) * (shape + 1) * pow(uniform_unit(state), 1 / shape) / shape;
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal_unit(state), v = 1 + c * x;
        v = v * v * v;
        if (v > 0 && log(uniform_unit(state)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v / shape;
    }
}

/* Distance to the next arrival where one per unit is expected. */
static double next_interval(const struct load *l, uint64_t *state)
{
    switch (l->arrivals) {
    case ARRIVALS_CONSTANT: return 1;
    case ARRIVALS_GAMMA: return gamma_unit(l->burstiness, state);
    default: return -log(uniform_unit(state));
    }
}

/* Time at which the integral of the rate from t on has grown by `need`; INFINITY: never. The rate
 * is made of straight pieces. */
static double profile_advance(const struct profile *p, double t, double need)
{
    double begin = 0;
    for (unsigned i = 0; i < p->n; i++) {
        double end = begin + p->piece[i].seconds;
        bool last = i + 1 == p->n;
        if (t >= end && !last) {
            begin = end;
            continue;
        }
        double rate = profile_at(p, t), slope = t < end && end > begin ? (p->piece[i].to - p->piece[i].from) / p->piece[i].seconds : 0;
        double room = t < end ? (rate + p->piece[i].to) / 2 * (end - t) : 0;
        if (t < end && need <= room) {
            double root = rate * rate + 2 * slope * need;
            return t + (fabs(slope) < 1e-12 ? need / rate : (sqrt(root > 0 ? root : 0) - rate) / slope);
        }
        if (t < end)
            need -= room, t = end;
        if (last)
            return p->piece[i].to > 0 ? t + need / p->piece[i].to : INFINITY;
        begin = end;
    }
    return INFINITY;
}

/* On/off bursts: time passes only while it is on. */
static double with_pauses(const struct load *l, double on_time)
{
    if (l->arrivals != ARRIVALS_BURSTS)
        return on_time;
    return on_time + floor(on_time / l->burst_on_s) * l->burst_off_s;
}

/* Refuses more arrivals than can be stored, before gigabytes are filled. */
static int check_length(const struct load *l, uint64_t most, double end, struct err *err)
{
    double full = with_pauses(l, profile_advance(&l->rate, 0, ARRIVALS_MAX));
    return most <= ARRIVALS_MAX || (!l->requests && full >= end)
               ? 0
               : err_set(err, ERR_USAGE, "--rate: the schedule would have more than %d requests; shorter, or slower", ARRIVALS_MAX);
}

/* Appends the arrivals of --rate up to the end of the load. Returns 0, or another value with
 * *err. */
static int schedule_generate(struct schedule *s, const struct load *l, struct err *err)
{
    uint64_t state = random_mix(l->seed);
    double t = 0, end = l->warmup_s + l->duration_s + l->cooldown_s;
    uint64_t most = l->requests ? l->requests + l->warmup_requests : UINT64_MAX;
    if (check_length(l, most, end, err) < 0)
        return -1;
    for (;;) {
        if (s->n || l->arrivals != ARRIVALS_CONSTANT) /* an even spacing begins at once: rate times duration is its count */
            t = profile_advance(&l->rate, t, next_interval(l, &state));
        double at = with_pauses(l, t);
        if (!(at < 1e9) || s->n >= most || (!l->requests && llround(at * 1e9) >= llround(end * 1e9)))
            return 0;
        struct arrival *a = schedule_room(s);
        if (!a)
            return s->n < ARRIVALS_MAX
                       ? err_memory(err, "the schedule")
                       : err_set(err, ERR_SYSTEM, "--rate: the schedule has more than %d requests: reduce rate or duration", ARRIVALS_MAX);
        *a = (struct arrival){.at_ns = llround(at * 1e9)};
        s->n++;
    }
}

/* Arrivals expected from the rate until then, in seconds. */
static double expected_until(const struct load *l, double at)
{
    const struct profile *p = &l->rate;
    double sum = 0, left = at;
    if (l->arrivals == ARRIVALS_BURSTS) {
        double cycle = l->burst_on_s + l->burst_off_s, whole = floor(at / cycle);
        left = whole * l->burst_on_s + fmin(at - whole * cycle, l->burst_on_s);
    }
    for (unsigned i = 0; i < p->n && left > 0; i++) {
        double part = i + 1 < p->n ? fmin(left, p->piece[i].seconds) : left, ramp = fmin(part, p->piece[i].seconds);
        double end =
            p->piece[i].seconds > 0 ? p->piece[i].from + (p->piece[i].to - p->piece[i].from) * ramp / p->piece[i].seconds : p->piece[i].to;
        sum += (p->piece[i].from + end) / 2 * ramp + p->piece[i].to * (part - ramp);
        left -= part;
    }
    return sum;
}

double schedule_expected(const struct load *l)
{
    if (l->requests)
        return (double)l->requests * (l->arrivals == ARRIVALS_CLOSED ? 1 : l->turns);
    if (l->arrivals == ARRIVALS_TRACE || l->arrivals == ARRIVALS_CLOSED)
        return 0;
    return (expected_until(l, l->warmup_s + l->duration_s) - expected_until(l, l->warmup_s)) * l->turns;
}

/* Notes how many arrivals the measured part has, and how many the rate lets expect, with their
 * standard deviation. first_ns, last_ns: the times of its first and last arrival. */
static void note_surplus(struct schedule *s, const struct load *l, size_t measured, int64_t first_ns, int64_t last_ns)
{
    bool by_time = l->duration_s > 0;
    double from = by_time ? l->warmup_s : (double)first_ns / 1e9, to = by_time ? from + l->duration_s : (double)last_ns / 1e9;
    if (l->arrivals == ARRIVALS_TRACE || l->arrivals == ARRIVALS_CLOSED || measured < 2)
        return;
    s->arrivals = (double)measured - !by_time; /* by count: those after the first, which begins the time */
    s->expected = expected_until(l, to) - expected_until(l, from);
    s->expected_sd = l->arrivals == ARRIVALS_CONSTANT ? 0.5 : sqrt(s->expected / (l->arrivals == ARRIVALS_GAMMA ? l->burstiness : 1));
}

/* Marks each arrival with its phase, and keeps this agent's share: every shares-th arrival of the
 * common schedule. Sets the offered rate of all agents together. */
static void schedule_divide(struct schedule *s, const struct load *l)
{
    size_t kept = 0, measured = 0;
    s->whole_n = s->n;
    int64_t warm = llround(l->warmup_s * 1e9), end = l->duration_s > 0 ? warm + llround(l->duration_s * 1e9) : INT64_MAX;
    int64_t first = 0, last = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct arrival a = s->list[i];
        a.phase = (uint8_t)(i < l->warmup_requests || a.at_ns < warm ? PHASE_WARMUP : a.at_ns < end ? PHASE_MEASURE : PHASE_COOLDOWN);
        if (a.phase == PHASE_MEASURE) {
            first = measured++ ? first : a.at_ns;
            last = a.at_ns;
        }
        if (i % l->shares == l->share)
            s->list[kept++] = a;
    }
    s->n = kept;
    s->measured = measured;
    if (l->duration_s > 0)
        s->offered_rate = (double)measured / l->duration_s;
    else if (measured > 1 && last > first)
        s->offered_rate = (double)(measured - 1) * 1e9 / (double)(last - first);
    note_surplus(s, l, measured, first, last);
}

/* Sets the hash of the complete schedule, before it is divided, so that all agents have the same.
 * It does not depend on the machine's byte order. */
static void schedule_set_hash(struct schedule *s, const struct load *l)
{
    struct sha256 h;
    sha256_init(&h);
    if (!s->n) {
        char text[400];
        int n = snprintf(text, sizeof text, "closed %.9g %.9g %llu %llu %.9g %.9g %u %llu", profile_at(&l->concurrency, 0),
                         profile_seconds(&l->concurrency), (unsigned long long)l->requests, (unsigned long long)l->warmup_requests,
                         l->warmup_s, l->duration_s, l->turns, (unsigned long long)l->seed);
        sha256_add(&h, text, (size_t)n);
    }
    for (unsigned i = 0; !s->n && l->concurrency.n > 1 && i < l->concurrency.n; i++) {
        char piece[100];
        int n = snprintf(piece, sizeof piece, " %.9g-%.9g@%.9g", l->concurrency.piece[i].from, l->concurrency.piece[i].to,
                         l->concurrency.piece[i].seconds);
        sha256_add(&h, piece, (size_t)n);
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct arrival *a = &s->list[i];
        uint64_t words[] = {(uint64_t)a->at_ns, a->index, a->session, a->input_tokens, a->output_tokens};
        unsigned char bytes[sizeof words];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (unsigned char)(words[k / 8] >> 8 * (k % 8)); /* the same on every machine */
        sha256_add(&h, bytes, sizeof bytes);
    }
    sha256_end(&h, s->hash);
}

/* Writes the schedule as CSV: index, at_s, session, input_tokens, output_tokens. ERR_SYSTEM. */
static int schedule_write(const struct schedule *s, const char *path, struct err *err)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, (size_t)1 << 33);
    buf_puts(&b, "index,at_s,session,input_tokens,output_tokens\n");
    for (size_t i = 0; i < s->n; i++) {
        const struct arrival *a = &s->list[i];
        buf_printf(&b, "%llu,%.9f,%llu,%u,%u\n", (unsigned long long)a->index, (double)a->at_ns / 1e9, (unsigned long long)a->session,
                   a->input_tokens, a->output_tokens);
    }
    if (b.failed)
        return err_memory(err, "the schedule's text");
    return fs_write(AT_FDCWD, path, buf_text(&b), 0666, false, err) < 0 ? err_wrap(err, "keeping the schedule") : 0;
}

int schedule_make(struct schedule *ret, const struct load *l, struct err *err)
{
    *ret = (struct schedule){0};
    if (l->arrivals != ARRIVALS_CLOSED) {
        int status = l->arrivals == ARRIVALS_TRACE ? schedule_read_trace(ret, l, err) : schedule_generate(ret, l, err);
        if (status == 0 && !ret->n)
            status = err_set(err, ERR_USAGE, "the schedule is empty: no request is sent in that time at that rate");
        if (status < 0) {
            schedule_deinit(ret);
            return -1;
        }
        for (size_t i = 0; i < ret->n; i++)
            ret->list[i].index = i, ret->list[i].session = ret->trace_kind ? ret->list[i].session : i;
    }
    schedule_set_hash(ret, l);
    if (l->schedule_out && schedule_write(ret, l->schedule_out, err) < 0)
        return -1;
    schedule_divide(ret, l);
    return 0;
}
