/* report_warnings.c: what a reader of the result must know, one sentence a line: the table, the
 * JSON and the recorder have the same ones. */
#include "benchmarks/native/llmload/report_parts.h"

#include "base/stats.h"

#include <math.h>

enum { SURPLUS_SD = 2 };

/* Ends the sentence that was begun. */
static void end_sentence(struct buf *to)
{
    buf_putc(to, '\n');
}

static void warn_of_endings(const struct metrics *m, struct buf *to)
{
    for (int e = 0; e < ENDINGS; e++)
        if (m->ended[PHASE_MEASURE][e] && e != ENDING_OK) {
            buf_printf(to, "%llu %s: ", (unsigned long long)m->ended[PHASE_MEASURE][e], ending_rows[e].name);
            buf_plain(to, str_of(m->first_error[e][0] ? m->first_error[e] : ending_rows[e].help), 160);
            end_sentence(to);
        }
}

/* Appends why rates are missing. */
static void warn_of_short_run(const struct report_derived *d, struct buf *to)
{
    if (d->completed && !d->has_rates)
        buf_printf(to, "too short for rates: %llu completed request%s in %.3g s; 10 requests, or 0.1 s, show one\n",
                   (unsigned long long)d->completed, str_plural((double)d->completed), d->seconds);
}

static void warn_of_answers(const struct metrics *m, struct buf *to)
{
    if (m->short_answers)
        buf_printf(to, "%llu answer%s shorter than --ignore-eos requires\n", (unsigned long long)m->short_answers,
                   m->short_answers == 1 ? " is" : "s are");
    if (m->several)
        buf_printf(to, "%llu answer%s several choices: times between their tokens are left out\n", (unsigned long long)m->several,
                   m->several == 1 ? " has" : "s have");
    if (m->in_one_piece)
        buf_printf(to, "%llu answer%s came in one piece, without a stream: no time of a first token\n", (unsigned long long)m->in_one_piece,
                   str_plural(m->in_one_piece));
}

static void warn_of_sends(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct outcome *o = r->outcome;
    const struct metrics *m = &o->m;
    if (m->dropped)
        buf_printf(to, "%llu arrival%s never sent\n", (unsigned long long)m->dropped, m->dropped == 1 ? " was" : "s were");
    if (r->load->arrivals != ARRIVALS_CLOSED && m->late) {
        buf_printf(to, "%llu request%s sent more than 10 ms behind the schedule", (unsigned long long)m->late,
                   m->late == 1 ? " was" : "s were");
        if (d->sent_rate < 0.99 * o->offered_rate)
            buf_printf(to, ": %.4g requests/s were sent, %.4g scheduled", d->sent_rate, o->offered_rate);
        end_sentence(to);
    }
    if (fabs(o->arrivals - o->expected) > SURPLUS_SD * o->expected_sd && fabs(d->surplus) > 0.01)
        buf_printf(to, "the schedule has %.3g %% %s arrivals than --rate requires; another --seed has another number\n",
                   100 * fabs(d->surplus), d->surplus > 0 ? "more" : "fewer");
}

void report_warnings(const struct load_report *r, const struct report_derived *d, struct buf *to)
{
    const struct outcome *o = r->outcome;
    if (o->why_early)
        buf_printf(to, "ended early: %s: the values are those until then\n", o->why_early);
    if (d->client.is_late)
        report_client_say(&d->client, to), end_sentence(to);
    warn_of_short_run(d, to);
    warn_of_endings(&o->m, to);
    warn_of_answers(&o->m, to);
    warn_of_sends(r, d, to);
    if (r->prompts->warning)
        buf_plain(to, str_of(r->prompts->warning), 300), end_sentence(to);
    if (o->trouble[0])
        buf_plain(to, str_of(o->trouble), 300), end_sentence(to);
}

void report_foresee(const struct load *l, double requests, struct buf *to)
{
    int first = 0;
    while (first < REPORT_TABLE_POINTS && requests >= (double)stats_quantile_needs(report_points[first].p))
        first++;
    if (first == REPORT_TABLE_POINTS)
        return;
    const struct report_point *last = &report_points[REPORT_TABLE_POINTS - 1];
    buf_printf(to, "%.0f request%s too few for ", requests, requests < 1.5 ? " is" : "s are");
    for (int i = first; i < REPORT_TABLE_POINTS; i++)
        buf_printf(to, "%s%s", i == first ? "" : i == REPORT_TABLE_POINTS - 1 ? " and " : ", ", report_points[i].name);
    buf_printf(to, " of their latencies: %s needs %llu", last->name, (unsigned long long)stats_quantile_needs(last->p));
    buf_puts(to, l->requests ? " (--requests)" : l->duration_s > 0 ? " (--duration)" : "");
}

void report_warning_lines(const struct screen *screen, struct str warnings, struct buf *to)
{
    while (warnings.n) {
        buf_puts(to, "  ! ");
        screen_wrap(screen, str_cut(&warnings, '\n'), 4, 4, to);
        buf_putc(to, '\n');
    }
}

void report_warning_list(struct str warnings, struct json_out *j)
{
    json_open(j, "warnings", '[');
    while (warnings.n)
        json_str(j, NULL, str_cut(&warnings, '\n'));
    json_close(j, ']');
}
