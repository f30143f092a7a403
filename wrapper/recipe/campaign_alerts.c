/* campaign_alerts.c: report lines of logs that match logs.alert; see campaign_alerts.h. */
#include "recipe/campaign_alerts.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "exporters/exporter.h"
#include "logs/logs_time.h"
#include "recipe/recipe_keys.h"
#include "recipe/recipe_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 << 10,
    SHOWN_MAX = 100,
    MESSAGE_LINES = 20,
    MESSAGE_BYTES = 16 << 10,
    PAUSE_S = 10,
    SEND_S = 20,
    EXPORTERS_NAMED = 8,
    REAP_MS = 1000
};

struct campaign_alerts {
    const struct exporter_config *to[EXPORTERS_NAMED];
    size_t to_count;
    char begin[LOGS_TIME_SIZE]; /* lines of earlier executions have an earlier time */
    off_t at; /* of alerts.log, up to which lines are read */
    size_t shown;
    struct buf message; /* lines that wait for the next message */
    size_t lines, unlisted; /* in it; of them, those that it only counts */
    struct child_work sender;
    int64_t not_before_ns;
};

/* ---- sending ---- */

/* Sends the message by each exporter, in a process of its own, and writes a line on `out` for each
 * that failed. Returns 0. */
static int send_alerts(void *context, int out)
{
    const struct campaign *c = context;
    const struct campaign_alerts *a = c->alerts;
    for (size_t i = 0; i < a->to_count; i++) {
        struct err err = {0};
        char line[1200];
        if (exporter_send_message(a->to[i], c->env, a->message.p, clock_mono_ns() + SEND_S * INT64_C(1000000000), -1, true, &err) == 0)
            continue;
        int n = snprintf(line, sizeof line, "the alert was not sent by %s: %.900s\n", a->to[i]->name, err.text);
        fs_write_all(out, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
    }
    return 0;
}

static void end_sender(struct campaign *c)
{
    struct campaign_alerts *a = c->alerts;
    for (struct str rest = buf_text(&a->sender.text), line; rest.p && (line = str_cut(&rest, '\n')).n;)
        campaign_say(c, STR_FMT, STR_ARG(line));
    child_work_reap(&a->sender, REAP_MS);
    child_work_deinit(&a->sender);
    a->sender = CHILD_WORK_NONE;
}

/* Starts a process that sends the collected lines, and begins a new message; the next one waits for PAUSE_S. */
static void begin_message(struct campaign *c)
{
    struct campaign_alerts *a = c->alerts;
    const struct child_work_plan plan = {.run = send_alerts, .context = c, .name = "bw-alerts", .nice = 10, .max = READ_BYTES};
    if (a->unlisted)
        buf_printf(&a->message, "… and %zu more\n", a->unlisted);
    int sys = a->message.failed ? ENOMEM : child_work_start(&a->sender, &plan) ? errno : 0;
    if (sys) {
        campaign_say(c, "the alert was not sent: %s", strerror(sys));
        child_work_deinit(&a->sender);
        a->sender = CHILD_WORK_NONE;
    }
    a->not_before_ns = clock_mono_ns() + PAUSE_S * INT64_C(1000000000);
    buf_clear(&a->message);
    a->lines = a->unlisted = 0;
}

/* ---- lines ---- */

/* Text of a program leaves the machine: without secrets. */
static void add_to_message(struct campaign *c, struct str line)
{
    struct campaign_alerts *a = c->alerts;
    if (!a->lines++)
        buf_printf(&a->message, "benchwrap: campaign %s:\n", c->recipe->name);
    if (a->lines > MESSAGE_LINES || a->message.n + line.n > MESSAGE_BYTES) {
        a->unlisted++;
        return;
    }
    size_t before = a->message.n;
    buf_str(&a->message, line);
    buf_putc(&a->message, '\n');
    if (!a->message.failed)
        redact_text(&c->repeat.run.redaction.redact, a->message.p + before, line.n);
}

static void take_alert(struct campaign *c, struct str line)
{
    struct campaign_alerts *a = c->alerts;
    struct str time = str_sub(line, 1, 1 + strlen(a->begin));
    if (line.n < 3 || memcmp(time.p, a->begin, time.n < strlen(a->begin) ? time.n : strlen(a->begin)) < 0)
        return;
    if (a->shown++ < SHOWN_MAX)
        campaign_say(c, "alert: " STR_FMT, STR_ARG(line));
    else if (a->shown == SHOWN_MAX + 1)
        campaign_say(c, "further alerts are only in %s/logs/" LOGS_ALERTS, c->state.folder);
    if (a->to_count)
        add_to_message(c, line);
}

static void read_alerts(struct campaign *c)
{
    struct campaign_alerts *a = c->alerts;
    char text[READ_BYTES];
    CLEANUP_FD int fd = place_open(c->state.dir, "logs/" LOGS_ALERTS, O_RDONLY, 0);
    for (ssize_t n; fd >= 0 && (n = pread(fd, text, sizeof text, a->at)) > 0;) {
        const char *end = memrchr(text, '\n', (size_t)n);
        if (!end)
            return;
        struct str rest = {text, (size_t)(end - text) + 1};
        a->at += (off_t)rest.n;
        while (rest.p && rest.n)
            take_alert(c, str_cut(&rest, '\n'));
    }
}

/* ---- the campaign's calls ---- */

int campaign_alerts_begin(struct campaign *c, struct err *err)
{
    const struct yaml *logs = yaml_get(c->recipe->root, "logs"), *list = yaml_get(logs, "notify");
    struct campaign_alerts *a = ARENA_NEW(c->arena, struct campaign_alerts);
    if (!a)
        return err_memory(err, "logs.alert");
    c->alerts = a;
    *a = (struct campaign_alerts){.sender = CHILD_WORK_NONE};
    buf_init(&a->message, 2 * MESSAGE_BYTES);
    logs_time_text(clock_wall_ms() * 1000000, a->begin);
    for (const struct yaml *y = list && list->kind == YAML_LIST ? list->child : list; y && !yaml_is_null(y);
         y = list->kind == YAML_LIST ? y->next : NULL) {
        char name[EXPORTER_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)(y->text.n < EXPORTER_NAME_MAX ? y->text.n : EXPORTER_NAME_MAX), y->text.p);
        const struct exporter_config *x = exporter_config_find(c->repeat.plan.exporters, name);
        if (!x || !exporter_is_enabled(x)) {
            yaml_complain(y, c->recipe->file, err, "logs.notify: no exporter has the name \"%.64s\"", name);
            return err_hint(err, "benchwrap exporter list");
        }
        if (!x->kind->send_message)
            return yaml_complain(y, c->recipe->file, err, "logs.notify: exporters of type %s send no messages", x->kind->type);
        if (a->to_count == EXPORTERS_NAMED)
            return yaml_complain(y, c->recipe->file, err, "logs.notify: more than %d exporters", EXPORTERS_NAMED);
        a->to[a->to_count++] = x;
    }
    return 0;
}

void campaign_alerts_poll(struct campaign *c)
{
    struct campaign_alerts *a = c->alerts;
    if (!a || !yaml_get(yaml_get(c->recipe->root, "logs"), "alert"))
        return;
    read_alerts(c);
    if (a->sender.pid && child_work_read(&a->sender))
        end_sender(c);
    if (a->lines && !a->sender.pid && clock_mono_ns() >= a->not_before_ns)
        begin_message(c);
}

void campaign_alerts_end(struct campaign *c, int wait_ms)
{
    struct campaign_alerts *a = c->alerts;
    int64_t until = clock_mono_ns() + wait_ms * INT64_C(1000000);
    campaign_alerts_poll(c);
    for (int i = 0; i < 2 && (a->sender.pid || a->lines); i++) { /* the message on its way, then the last one */
        if (!a->sender.pid)
            begin_message(c);
        if (a->sender.pid && !child_work_wait(&a->sender, until))
            campaign_say(c, "the alert was not sent within %.1f s", wait_ms / 1e3);
        if (a->sender.pid)
            end_sender(c);
    }
    buf_deinit(&a->message);
}
