/* logs_record.c: parses log lines and writes them as JSON records; see logs_record.h. */
#include "logs/logs_record.h"

#include "base/json.h"
#include "logs/logs_time.h"

enum { LEVEL_MAX = 10, COMPONENT_MAX = 64, PROCESS_MAX = 128, HOST_MAX = 255 };

static const char *const format_names[] = {"raw", "slurm", "syslog", "dmesg", "json", "auto"};

bool logs_format_find(struct str name, enum logs_format *ret)
{
    for (size_t i = 0; i < sizeof format_names / sizeof *format_names; i++)
        if (str_is(name, format_names[i])) {
            *ret = (enum logs_format)i;
            return true;
        }
    return false;
}

/* The parts of a line. Texts point into it; what it lacks is empty. */
struct logs_parts {
    bool has_time;
    int64_t time_ns;
    struct str computer, level, component, process, message;
    int64_t pid; /* -1: none */
};

static struct str record_skip_blanks(struct str s)
{
    while (s.n && str_is_blank(s.p[0]))
        s = str_sub(s, 1, s.n);
    return s;
}

/* A word of these characters before ':' at the beginning; it is cut off. False: there is none. */
static bool record_cut_word(struct str *text, size_t max, const char *extra, struct str *ret)
{
    size_t n = 0;
    while (n < text->n && n < max &&
           (str_is_letter(text->p[n]) || str_is_digit(text->p[n]) || text->p[n] == '_' || (text->p[n] && strchr(extra, text->p[n]))))
        n++;
    if (n == 0 || n >= text->n || text->p[n] != ':')
        return false;
    *ret = str_sub(*text, 0, n);
    *text = record_skip_blanks(str_sub(*text, n + 1, text->n));
    return true;
}

/* Returns the line behind "[time] "; a line without brackets as it is. */
static struct str record_skip_brackets(struct str line)
{
    const char *end = line.n && line.p[0] == '[' ? memchr(line.p, ']', line.n < 100 ? line.n : 100) : NULL;
    return end ? record_skip_blanks(str_sub(line, (size_t)(end + 1 - line.p), line.n)) : line;
}

/* Parses the part of a line of Slurm's logs behind the time: `debug: sched/backfill:
 * _attempt_backfill: no jobs to backfill` or `[123.batch] error: …`. Level and component may be
 * absent. */
static void parse_slurm(struct str rest, struct logs_parts *ret)
{
    struct str word, before = rest;
    if (rest.n && rest.p[0] == '[') { /* a step's daemon */
        const char *end = memchr(rest.p, ']', rest.n < COMPONENT_MAX ? rest.n : COMPONENT_MAX);
        if (end && end > rest.p + 1 && str_is_digit(rest.p[1])) {
            ret->component = str_sub(rest, 1, (size_t)(end - rest.p) - 1);
            before = rest = record_skip_blanks(str_sub(rest, ret->component.n + 2, rest.n));
        }
    }
    if (record_cut_word(&rest, LEVEL_MAX, "", &word) && logs_severity_find(word) != LOGS_UNKNOWN)
        ret->level = word;
    else
        rest = before;
    before = rest;
    if (!ret->component.n && record_cut_word(&rest, COMPONENT_MAX, "/", &word) &&
        (memchr(word.p, '/', word.n) || str_is(word, "sched") || str_is(word, "backfill")))
        ret->component = word;
    else
        rest = before;
    ret->message = rest;
}

/* "name[123]: text", "name: text". */
static void parse_process(struct str rest, struct logs_parts *ret)
{
    size_t n = 0;
    uint64_t pid;
    while (n < rest.n && n < PROCESS_MAX && (unsigned char)rest.p[n] > ' ' && rest.p[n] != ':' && rest.p[n] != '[')
        n++;
    struct str name = str_sub(rest, 0, n), after = str_sub(rest, n, rest.n);
    if (after.n && after.p[0] == '[') {
        const char *end = memchr(after.p, ']', after.n < 20 ? after.n : 20);
        if (end && str_uint(str_sub(after, 1, (size_t)(end - after.p) - 1), &pid) && pid < INT64_MAX) {
            ret->pid = (int64_t)pid;
            after = str_sub(after, (size_t)(end - after.p) + 1, after.n);
        }
    }
    if (n && after.n && after.p[0] == ':') {
        ret->process = name;
        rest = record_skip_blanks(str_sub(after, 1, after.n));
    } else
        ret->pid = -1;
    ret->message = rest;
}

/* `Sep  8 21:11:35 host name[123]: text`, `2025-09-08T21:11:35.869123+00:00 host name[123]: text`. */
static void parse_syslog(struct str line, struct logs_parts *ret)
{
    struct str rest = line;
    if (rest.n && rest.p[0] == '<') {
        const char *end = memchr(rest.p, '>', rest.n < 5 ? rest.n : 5);
        rest = end ? str_sub(rest, (size_t)(end + 1 - rest.p), rest.n) : rest;
    }
    for (int words = rest.n && str_is_letter(rest.p[0]) ? 3 : 1; words > 0; words--)
        str_word(&rest);
    struct str host = str_word(&rest);
    ret->message = record_skip_blanks(rest);
    if (!ret->has_time || !host.n || host.n > HOST_MAX || host.p[host.n - 1] == ':') { /* no host */
        ret->message = ret->has_time && host.n ? (struct str){host.p, (size_t)(line.p + line.n - host.p)} : line;
        if (ret->has_time)
            parse_process(ret->message, ret);
        return;
    }
    ret->computer = host;
    parse_process(ret->message, ret);
}

/* `[   12.345678] usb 1-1: new device`. */
static void parse_dmesg(struct str line, int64_t boot_ns, struct logs_parts *ret)
{
    double seconds;
    struct str rest = line;
    ret->message = line;
    if (!str_starts(line, "["))
        return;
    rest = str_sub(rest, 1, rest.n);
    struct str number = str_cut(&rest, ']');
    if (!rest.p || !str_double(str_trim(number), &seconds) || !(seconds >= 0 && seconds < 4e9))
        return;
    ret->has_time = boot_ns > 0;
    ret->time_ns = boot_ns + (int64_t)(seconds * 1e9);
    ret->message = record_skip_blanks(rest);
}

/* Never fails: a line in another form is the message. */
static void record_parse(enum logs_format format, struct str line, int64_t now_ns, int64_t boot_ns, struct logs_parts *ret)
{
    *ret = (struct logs_parts){.pid = -1, .message = line};
    ret->has_time = logs_line_time(line, now_ns, &ret->time_ns);
    if (format == LOGS_FORMAT_SLURM)
        parse_slurm(ret->has_time ? record_skip_brackets(line) : line, ret);
    else if (format == LOGS_FORMAT_SYSLOG)
        parse_syslog(line, ret);
    else if (format == LOGS_FORMAT_DMESG && !ret->has_time)
        parse_dmesg(line, boot_ns, ret);
}

/* ---- records ---- */

/* A JSON object in valid UTF-8, on one line. */
static bool record_is_object(struct str text)
{
    struct json *j = NULL;
    bool is_object = text.n && text.p[0] == '{' && str_valid_utf8(text) && json_parse(&j, text, NULL, NULL) == 0 && json_is_object(j);
    json_free(j);
    return is_object;
}

/* Appends the text as a member, with marks where the line is a part of a longer one. */
static void record_marked_text(struct json_out *j, const char *key, const struct logs_record_line *line, struct str text)
{
    struct buf marked CLEANUP_BUF;
    buf_init(&marked, text.n + 100);
    if (!line->is_continued && !line->has_more) {
        json_str(j, key, text);
        return;
    }
    if (line->is_continued)
        buf_puts(&marked, LOGS_PART_AFTER);
    buf_str(&marked, text);
    if (line->has_more)
        buf_puts(&marked, LOGS_PART_BEFORE);
    json_str(j, key, buf_text(&marked));
}

static void record_known(struct json_out *j, const char *key, struct str text)
{
    if (text.n)
        json_str(j, key, text);
}

void logs_record_write(const struct logs_record_form *form, const struct logs_record_line *line, struct buf *to)
{
    char time[LOGS_TIME_SIZE];
    struct logs_parts p = {.pid = -1, .message = line->text};
    if (form->format == LOGS_FORMAT_JSON && !line->is_continued && !line->has_more && record_is_object(line->text)) {
        buf_str(to, line->text);
        return;
    }
    if (line->is_continued)
        p.has_time = false;
    else if (form->is_parsed || form->format == LOGS_FORMAT_DMESG)
        record_parse(form->format, line->text, line->now_ns, form->boot_ns, &p);
    else
        p.has_time = logs_line_time(line->text, line->now_ns, &p.time_ns);
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "TimeGenerated", logs_time_text(p.has_time ? p.time_ns : line->now_ns, time));
    if (form->is_parsed) {
        if (form->format == LOGS_FORMAT_SLURM) {
            record_known(&j, "Level", p.level);
            record_known(&j, "Component", p.component);
        } else if (form->format == LOGS_FORMAT_SYSLOG) {
            record_known(&j, "Process", p.process);
            if (p.pid >= 0)
                json_int(&j, "ProcessId", p.pid);
        }
        record_marked_text(&j, "Message", line, p.message);
    } else
        record_marked_text(&j, "RawData", line, line->text);
    json_str(&j, "Computer", form->is_parsed && p.computer.n ? p.computer : str_of(form->computer));
    json_text(&j, "FilePath", line->path);
    json_close(&j, '}');
}
