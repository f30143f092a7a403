/* exporter_records.c: sends records that are no runs, and repeats what fails; see exporter_records.h. */
#include "exporters/exporter_records.h"

#include "base/clock.h"
#include "base/hash.h"
#include "exporters/metric_series.h"
#include "mlruns-format/record.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINK_S = 300, /* then the destination is opened again: its secrets may have changed */
    BACKOFF_MAX_S = 60,
    FAILED_HALVE = 3, /* a request that fails so often alone is divided */
    FAILED_SUSPECT = 5 /* a record that fails so often alone is refused, if the next one is accepted */
};

struct exporter_records {
    struct exporter_records_config config;
    struct exporter_link link;
    struct arena arena;
    bool is_open;
    int64_t opened_ns, not_before_ns;
    unsigned failures; /* attempts since the last that delivered something */
    unsigned failed; /* of them, attempts that failed with these records only (EXPORTER_FAILED) */
    struct exporter_record_id *ids; /* of the present batch, if its caller has none */
};

int exporter_records_open(struct exporter_records **ret, const struct exporter_records_config *config, struct err *err)
{
    *ret = NULL;
    if (!config->exporter->kind->send_records)
        return err_set(err, ERR_INPUT, "the exporter %s has the type %s, which delivers runs only", config->exporter->name,
                       config->exporter->kind->type);
    *ret = calloc(1, sizeof **ret);
    if (!*ret)
        return err_memory(err, "a sender of records");
    (*ret)->config = *config;
    return 0;
}

static void records_close_link(struct exporter_records *s)
{
    if (!s->is_open)
        return;
    if (s->config.exporter->kind->close)
        s->config.exporter->kind->close(&s->link);
    arena_deinit(&s->arena);
    s->is_open = false;
}

void exporter_records_close(struct exporter_records *s)
{
    if (s) {
        records_close_link(s);
        free(s->ids);
    }
    free(s);
}

/* Opens the destination, again where the link is older than LINK_S. Answers as exporter.h
 * describes. */
static enum exporter_answer records_open_link(struct exporter_records *s, int64_t until_ns, struct err *err)
{
    int64_t now = clock_mono_ns();
    if (s->is_open && now - s->opened_ns > LINK_S * INT64_C(1000000000))
        records_close_link(s);
    s->link.until_ns = until_ns;
    s->link.retry_after_s = -1;
    if (s->is_open)
        return EXPORTER_SENT;
    arena_init(&s->arena, 0);
    s->is_open = true;
    s->opened_ns = now;
    s->link = (struct exporter_link){.config = s->config.exporter,
                                     .env = s->config.env,
                                     .arena = &s->arena,
                                     .until_ns = until_ns,
                                     .cancel_fd = s->config.cancel_fd,
                                     .retry_after_s = -1};
    return s->config.exporter->kind->open(&s->link, err);
}

/* Until the destination may be called again. False: until_ns comes first, or the process must end. */
static bool records_wait(const struct exporter_records *s, int64_t until_ns)
{
    struct pollfd p = {.fd = s->config.cancel_fd, .events = POLLIN};
    for (;;) {
        int64_t now = clock_mono_ns(), to = s->not_before_ns < until_ns ? s->not_before_ns : until_ns;
        int64_t ms = to > now ? (to - now) / 1000000 + 1 : 0;
        if (poll(&p, 1, ms > 60000 ? 60000 : (int)ms) > 0 || now >= until_ns)
            return false;
        if (now >= s->not_before_ns)
            return true;
    }
}

static void records_back_off(struct exporter_records *s)
{
    double wait_s = s->link.retry_after_s;
    for (unsigned i = 0; s->link.retry_after_s < 0 && i <= s->failures && wait_s < BACKOFF_MAX_S; i++)
        wait_s = i == 0 ? 1 : 2 * wait_s;
    wait_s = s->link.retry_after_s < 0 && wait_s > BACKOFF_MAX_S ? BACKOFF_MAX_S : wait_s < 86400 ? wait_s : 86400;
    s->failures++;
    s->not_before_ns = clock_mono_ns() + (int64_t)(wait_s * 1e9);
    records_close_link(s); /* the next attempt reads the secrets again */
}

static enum exporter_answer records_attempt(struct exporter_records *s, const struct exporter_batch *b, int64_t until_ns, size_t *taken,
                                            struct err *err)
{
    *taken = 0;
    enum exporter_answer answer = records_open_link(s, until_ns, err);
    if (answer != EXPORTER_SENT)
        return EXPORTER_LATER;
    answer = s->config.exporter->kind->send_records(&s->link, b, taken, err);
    if (answer == EXPORTER_SENT)
        s->failures = s->failed = 0;
    return answer;
}

static struct exporter_batch batch_part(const struct exporter_batch *b, size_t from, size_t count)
{
    struct exporter_batch part = *b;
    part.records += from;
    part.count = count;
    part.ids = b->ids ? b->ids + from : NULL;
    part.series = b->series ? b->series + from : NULL;
    return part;
}

/* Ids for records whose caller has none: they last as long as the sender tries this batch. NULL: out of memory. */
static const struct exporter_record_id *make_record_ids(struct exporter_records *s, size_t count)
{
    char random[33];
    struct exporter_record_id *ids = realloc(s->ids, count * sizeof *ids);
    if (!ids)
        return NULL;
    s->ids = ids;
    record_new_id(random);
    for (size_t i = 0; i < count; i++)
        ids[i] = (struct exporter_record_id){hash_bytes(1, random, 32), i};
    return ids;
}

/* Returns how many records the next attempt may have after one with `taken` records failed; 0: the
 * destination refused the first record alone. After failures it also sets the time to wait. */
static size_t records_limit_after(struct exporter_records *s, enum exporter_answer answer, size_t taken, size_t limit)
{
    if (answer == EXPORTER_REFUSED)
        return taken > 1 ? taken / 2 : 0;
    records_back_off(s);
    s->failed = answer == EXPORTER_FAILED ? s->failed + 1 : 0;
    if (s->failed < FAILED_HALVE || taken < 2)
        return limit;
    s->failed = 0;
    return taken / 2;
}

/* The first record failed often: is it at fault? It is if the destination accepts the second one. */
static bool records_accept_second(struct exporter_records *s, const struct exporter_batch *b, int64_t until_ns)
{
    const struct exporter_batch second = batch_part(b, 1, 1);
    size_t taken;
    if (s->failed < FAILED_SUSPECT || b->count < 2 || !records_wait(s, until_ns))
        return false;
    return records_attempt(s, &second, until_ns, &taken, NULL) == EXPORTER_SENT;
}

enum exporter_answer exporter_records_send(struct exporter_records *s, const struct exporter_batch *b, int64_t until_ns, size_t *handled,
                                           struct err *err)
{
    struct err why = {0};
    size_t limit = SIZE_MAX, taken;
    struct exporter_batch whole = *b;
    *handled = 0;
    whole.refused = s->config.refused;
    whole.context = s->config.context;
    if (!whole.ids && !(whole.ids = make_record_ids(s, b->count)))
        return err_memory(err, "records"), EXPORTER_LATER;
    while (*handled < b->count) {
        size_t left = b->count - *handled, accepted = 0;
        const struct exporter_batch rest = batch_part(&whole, *handled, left),
                                    part = batch_part(&whole, *handled, left < limit ? left : limit);
        if (!records_wait(s, until_ns))
            return err_set(err, ERR_REMOTE, "%s", why.text[0] ? why.text : "no time is left"), EXPORTER_LATER;
        enum exporter_answer answer = records_attempt(s, &part, until_ns, &taken, &why);
        if (answer == EXPORTER_SENT) {
            *handled += taken;
            continue;
        }
        limit = records_limit_after(s, answer, taken, limit);
        if (limit && records_accept_second(s, &rest, until_ns))
            accepted = 1;
        else if (limit)
            continue;
        s->config.refused(s->config.context, rest.records[0], why.text);
        *handled += 1 + accepted;
        limit = SIZE_MAX;
    }
    return EXPORTER_SENT;
}
