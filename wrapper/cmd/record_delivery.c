/* record_delivery.c: records of a command by a configured exporter; see record_delivery.h. */
#include "cmd/record_delivery.h"

#include "base/clock.h"

struct delivery_notes {
    struct cmd_context *c;
    const char *noun;
    size_t refused;
};

static void report_refused_record(void *context, struct str record, const char *why)
{
    struct delivery_notes *d = context;
    (void)record;
    if (d->refused++ == 0)
        fprintf(d->c->notes, "benchwrap: %s: a %s was refused: %s\n", d->c->cmd->name, d->noun, why);
}

const struct exporter_config *record_delivery_find(const struct plan *plan, const char *name, struct err *err)
{
    const struct exporter_config *to = exporter_config_find(plan->exporters, name);
    if (to)
        return to;
    err_set(err, ERR_INPUT, "no exporter has the name %.80s", name);
    err_hint(err, "benchwrap exporter list");
    return NULL;
}

int record_delivery_send(struct cmd_context *c, const struct exporter_config *to, const struct exporter_batch *b, double wait_s,
                         const char *noun, size_t *ret_handled, size_t *ret_refused)
{
    struct delivery_notes d = {.c = c, .noun = noun};
    struct exporter_records *sender = NULL;
    const struct exporter_records_config config = {
        .exporter = to, .env = c->env, .cancel_fd = -1, .refused = report_refused_record, .context = &d};
    *ret_handled = *ret_refused = 0;
    if (exporter_records_open(&sender, &config, c->err))
        return -1;
    int64_t until_ns = clock_mono_ns() + (int64_t)(wait_s * 1e9);
    enum exporter_answer answer = exporter_records_send(sender, b, until_ns, ret_handled, c->err);
    exporter_records_close(sender);
    *ret_refused = d.refused;
    return answer == EXPORTER_SENT ? 0 : -1;
}
