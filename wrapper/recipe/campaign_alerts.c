/* campaign_alerts.c: report lines of logs that match logs.alert; see campaign_alerts.h. */
#include "recipe/campaign_alerts.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "exporters/exporter.h"
#include "logs/logs_time.h"
#include "recipe/recipe_keys.h"
#include "recipe/recipe_logs.h"

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

/* The state of one campaign; a process executes one. */
static struct {
    const struct exporter_config *to[EXPORTERS_NAMED];
    size_t to_count;
    char begin[LOGS_TIME_SIZE]; /* lines of earlier executions have an earlier time */
    off_t at; /* of alerts.log, up to which lines are read */
    size_t shown;
    struct buf message; /* lines that wait for the next message */
    size_t lines, unlisted; /* in it; of them, those that it only counts */
    struct child_work sender;
    int64_t not_before_ns;
} alerts;

/* ---- sending ---- */

/* In a process of its own; its answer is what failed. */
static int send_alerts(void *context, int out)
{
    const struct campaign *c = context;
    for (size_t i = 0; i < alerts.to_count; i++) {
        struct err err = {0};
        char line[1200];
        if (exporter_send_message(alerts.to[i], c->env, alerts.message.p, clock_mono_ns() + SEND_S * INT64_C(1000000000), -1, &err) == 0)
            continue;
        int n = snprintf(line, sizeof line, "the alert was not sent by %s: %.900s\n", alerts.to[i]->name, err.text);
        fs_write_all(out, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
    }
    return 0;
}

static void end_sender(struct campaign *c)
{
    for (struct str rest = buf_text(&alerts.sender.text), line; rest.p && (line = str_cut(&rest, '\n')).n;)
        campaign_say(c, STR_FMT, STR_ARG(line));
    child_work_reap(&alerts.sender, REAP_MS);
    child_work_deinit(&alerts.sender);
    alerts.sender = CHILD_WORK_NONE;
}

static void begin_message(struct campaign *c)
{
    const struct child_work_plan plan = {.run = send_alerts, .context = c, .name = "bw-alerts", .nice = 10, .max = READ_BYTES};
    if (alerts.unlisted)
        buf_printf(&alerts.message, "… and %zu more\n", alerts.unlisted);
    if (alerts.message.failed || child_work_start(&alerts.sender, &plan)) {
        campaign_say(c, "the alert was not sent: no process could be made");
        child_work_deinit(&alerts.sender);
        alerts.sender = CHILD_WORK_NONE;
    }
    alerts.not_before_ns = clock_mono_ns() + PAUSE_S * INT64_C(1000000000);
    buf_clear(&alerts.message);
    alerts.lines = alerts.unlisted = 0;
}

/* ---- lines ---- */

/* Text of a program leaves the machine: without secrets. */
static void add_to_message(struct campaign *c, struct str line)
{
    char *clean = arena_dup(c->arena, line.p, line.n);
    if (!alerts.lines++)
        buf_printf(&alerts.message, "benchwrap: campaign %s:\n", c->recipe->name);
    if (!clean || alerts.lines > MESSAGE_LINES || alerts.message.n + line.n > MESSAGE_BYTES) {
        alerts.unlisted++;
        return;
    }
    redact_text(&c->repeat.run.redaction.redact, clean, line.n);
    buf_add(&alerts.message, clean, line.n);
    buf_putc(&alerts.message, '\n');
}

static void take_alert(struct campaign *c, struct str line)
{
    struct str time = str_sub(line, 1, 1 + strlen(alerts.begin));
    if (line.n < 3 || memcmp(time.p, alerts.begin, time.n < strlen(alerts.begin) ? time.n : strlen(alerts.begin)) < 0)
        return;
    if (alerts.shown++ < SHOWN_MAX)
        campaign_say(c, "alert: " STR_FMT, STR_ARG(line));
    else if (alerts.shown == SHOWN_MAX + 1)
        campaign_say(c, "further alerts are only in %s/logs/" CAMPAIGN_ALERTS, c->state.folder);
    if (alerts.to_count)
        add_to_message(c, line);
}

static void read_alerts(struct campaign *c)
{
    char text[READ_BYTES];
    CLEANUP_FD int fd = place_open(c->state.dir, "logs/" CAMPAIGN_ALERTS, O_RDONLY, 0);
    for (ssize_t n; fd >= 0 && (n = pread(fd, text, sizeof text, alerts.at)) > 0;) {
        const char *end = memrchr(text, '\n', (size_t)n);
        if (!end)
            return;
        struct str rest = {text, (size_t)(end - text) + 1};
        alerts.at += (off_t)rest.n;
        while (rest.p && rest.n)
            take_alert(c, str_cut(&rest, '\n'));
    }
}

/* ---- the campaign's calls ---- */

int campaign_alerts_begin(struct campaign *c, struct err *err)
{
    const struct yaml *logs = yaml_get(c->recipe->root, "logs"), *list = yaml_get(logs, "notify");
    alerts.sender = CHILD_WORK_NONE;
    buf_init(&alerts.message, 2 * MESSAGE_BYTES);
    logs_time_text(clock_wall_ms() * 1000000, alerts.begin);
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
        if (alerts.to_count == EXPORTERS_NAMED)
            return yaml_complain(y, c->recipe->file, err, "logs.notify: more than %d exporters", EXPORTERS_NAMED);
        alerts.to[alerts.to_count++] = x;
    }
    return 0;
}

void campaign_alerts_poll(struct campaign *c)
{
    if (!yaml_get(yaml_get(c->recipe->root, "logs"), "alert"))
        return;
    read_alerts(c);
    if (alerts.sender.pid && child_work_read(&alerts.sender))
        end_sender(c);
    if (alerts.lines && !alerts.sender.pid && clock_mono_ns() >= alerts.not_before_ns)
        begin_message(c);
}

void campaign_alerts_end(struct campaign *c, int wait_ms)
{
    int64_t until = clock_mono_ns() + wait_ms * INT64_C(1000000);
    campaign_alerts_poll(c);
    for (int i = 0; i < 2 && (alerts.sender.pid || alerts.lines); i++) { /* the message on its way, then the last one */
        if (!alerts.sender.pid)
            begin_message(c);
        if (alerts.sender.pid && !child_work_wait(&alerts.sender, until))
            campaign_say(c, "the alert was not sent within %d s", wait_ms / 1000);
        if (alerts.sender.pid)
            end_sender(c);
    }
    buf_deinit(&alerts.message);
}
