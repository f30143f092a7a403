/* logs_format.c: writes merged lines of a campaign as text and as JSON; see logs_format.h. */
#include "logs/logs_format.h"

#include "base/json_out.h"
#include "logs/logs_source.h"

#include <string.h>

static const char *path_of_output(const char *given, const char *usual)
{
    return !given ? usual : *given ? given : NULL;
}

struct logs_paths logs_paths_of(const struct logs_outputs *outputs)
{
    static const struct logs_outputs usual;
    const struct logs_outputs *o = outputs ? outputs : &usual;
    return (struct logs_paths){path_of_output(o->out, LOGS_OUT), path_of_output(o->error, LOGS_ERR), path_of_output(o->lines, LOGS_LINES)};
}

bool logs_path_is_free(const char *path)
{
    static const char *const own[] = {LOGS_READY, LOGS_SUMMARY, LOGS_CLOCKS, LOGS_ALERTS};
    struct logs_source_name name;
    struct str rest = str_of(path), file = str_of(path);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(path, own[i]) == 0)
            return false;
    while (path[0] != '/' && rest.p)
        if (str_is(str_cut(&rest, '/'), ".."))
            return false;
    if (str_ends(file, LOGS_INDEX_SUFFIX))
        file.n -= strlen(LOGS_INDEX_SUFFIX);
    else if (str_ends(file, LOGS_SEEN_SUFFIX))
        file.n -= strlen(LOGS_SEEN_SUFFIX);
    return !logs_source_name_read(file, &name);
}

const char *logs_component_text(const struct logs_line *line, char ret[LOGS_COMPONENT_SIZE])
{
    snprintf(ret, LOGS_COMPONENT_SIZE, line->instance ? "%s.%u" : "%s", line->component, line->instance);
    return ret;
}

struct str logs_request_id(struct str line)
{
    const char *at = line.p, *end = line.p ? line.p + line.n : NULL;
    while (end && (at = memchr(at, '0', (size_t)(end - at)))) {
        size_t n = 0;
        while (at + n < end && str_is_digit(at[n]))
            n++;
        bool is_part = at > line.p && (str_is_digit(at[-1]) || at[-1] == '.');
        bool goes_on = at + n + 1 < end && at[n] == '.' && str_is_digit(at[n + 1]);
        if (n == LOGS_REQUEST_DIGITS && !is_part && !goes_on)
            return (struct str){at, n};
        at += n;
    }
    return (struct str){NULL, 0};
}

void logs_text_write(struct buf *to, const struct logs_line *line, bool plain)
{
    char time[LOGS_TIME_SIZE], component[LOGS_COMPONENT_SIZE];
    buf_putc(to, '[');
    buf_add(to, logs_time_text(line->time_ns, time), LOGS_TIME_SIZE - 1);
    buf_add(to, "] [", 3);
    buf_puts(to, line->node);
    buf_add(to, "] [", 3);
    buf_puts(to, logs_component_text(line, component));
    buf_add(to, "] ", 2);
    if (plain)
        buf_plain(to, line->text, line->text.n);
    else
        buf_str(to, line->text);
    buf_puts(to, line->has_more ? LOGS_MORE "\n" : "\n");
}

void logs_json_write(struct buf *to, const struct logs_line *line)
{
    char time[LOGS_TIME_SIZE], component[LOGS_COMPONENT_SIZE];
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "timestamp", logs_time_text(line->time_ns, time));
    json_text(&j, "node", line->node);
    json_text(&j, "component", logs_component_text(line, component));
    json_str(&j, "message", line->text);
    json_text(&j, "stream", line->is_error ? "stderr" : "stdout");
    const struct str request = logs_request_id(line->text);
    if (request.n)
        json_str(&j, "request_id", request);
    if (line->has_more)
        json_flag(&j, "more", true);
    json_close(&j, '}');
    buf_putc(to, '\n');
}
