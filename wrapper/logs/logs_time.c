/* logs_time.c: times and levels at the beginning of log lines; see logs_time.h. */
#include "logs/logs_time.h"

#include <string.h>
#include <time.h>

enum { SECOND_NS = 1000000000, DAY_S = 86400, LEVEL_BYTES = 160 };

/* A number of exactly n digits. */
static bool time_digits(struct str *text, size_t n, int *ret)
{
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        if (i >= text->n || !str_is_digit(text->p[i]))
            return false;
        *ret = *ret * 10 + (text->p[i] - '0');
    }
    *text = (struct str){text->p + n, text->n - n};
    return true;
}

static bool time_letter(struct str *text, const char *any)
{
    if (!text->n || !text->p[0] || !strchr(any, text->p[0]))
        return false;
    *text = (struct str){text->p + 1, text->n - 1};
    return true;
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t time_days(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct time_parts {
    int year, month, day, hour, minute, second;
};

static bool time_parts_are_valid(const struct time_parts *t)
{
    return t->month >= 1 && t->month <= 12 && t->day >= 1 && t->day <= 31 && t->hour < 24 && t->minute < 60 && t->second <= 60;
}

/* Returns the seconds since 1970 of a time in the machine's zone. Calls the slow mktime once for
 * each hour. */
static int64_t time_of_zone(const struct time_parts *t)
{
    static __thread struct time_parts last;
    static __thread int64_t last_s;
    if (last.year != t->year || last.month != t->month || last.day != t->day || last.hour != t->hour) {
        struct tm tm = {.tm_year = t->year - 1900, .tm_mon = t->month - 1, .tm_mday = t->day, .tm_hour = t->hour, .tm_isdst = -1};
        last = *t;
        last_s = (int64_t)mktime(&tm);
    }
    return last_s + t->minute * 60 + t->second;
}

static int64_t time_of_utc(const struct time_parts *t)
{
    return time_days(t->year, t->month, t->day) * DAY_S + t->hour * 3600 + t->minute * 60 + t->second;
}

static bool time_of_day(struct str *text, struct time_parts *t)
{
    return time_digits(text, 2, &t->hour) && time_letter(text, ":") && time_digits(text, 2, &t->minute) && time_letter(text, ":") &&
           time_digits(text, 2, &t->second);
}

static int64_t time_fraction(struct str *text)
{
    int64_t ns = 0, unit = SECOND_NS / 10;
    if (text->n < 2 || (text->p[0] != '.' && text->p[0] != ',') || !str_is_digit(text->p[1]))
        return 0;
    *text = (struct str){text->p + 1, text->n - 1};
    for (; text->n && str_is_digit(text->p[0]); *text = (struct str){text->p + 1, text->n - 1}) {
        ns += unit * (text->p[0] - '0');
        unit /= 10;
    }
    return ns;
}

/* "+02:00", "-0500". Moves text only where it has one. */
static bool time_offset(struct str *text, int *ret_s)
{
    struct str rest = *text;
    int hours, minutes, sign = rest.n && rest.p[0] == '-' ? -1 : 1;
    if (!time_letter(&rest, "+-") || !time_digits(&rest, 2, &hours))
        return false;
    time_letter(&rest, ":");
    if (!time_digits(&rest, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *text = rest;
    *ret_s = sign * (hours * 3600 + minutes * 60);
    return true;
}

/* 2025-09-08T21:11:35.869+02:00 */
static bool time_read_iso(struct str *text, int64_t *ret_ns)
{
    struct time_parts t;
    int offset_s = 0;
    if (!time_digits(text, 4, &t.year) || !time_letter(text, "-/") || !time_digits(text, 2, &t.month) || !time_letter(text, "-/") ||
        !time_digits(text, 2, &t.day) || !time_letter(text, "T ") || !time_of_day(text, &t) || !time_parts_are_valid(&t) || t.year < 1970 ||
        t.year > 2261) /* beyond, nanoseconds do not fit */
        return false;
    int64_t fraction = time_fraction(text);
    bool is_utc = time_letter(text, "Z") || time_offset(text, &offset_s);
    *ret_ns = ((is_utc ? time_of_utc(&t) : time_of_zone(&t)) - offset_s) * SECOND_NS + fraction;
    return true;
}

/* "Sep  8 21:11:35" */
static bool time_read_short(struct str *text, int64_t now_ns, int64_t *ret_ns)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct time_parts t = {.month = 0};
    struct tm now;
    time_t now_s = (time_t)(now_ns / SECOND_NS);
    for (int m = 0; m < 12 && text->n >= 6; m++)
        if (memcmp(text->p, months + (size_t)3 * (size_t)m, 3) == 0)
            t.month = m + 1;
    if (!t.month || !localtime_r(&now_s, &now))
        return false;
    *text = (struct str){text->p + 3, text->n - 3};
    if (!time_letter(text, " "))
        return false;
    size_t digits = time_letter(text, " ") ? 1 : text->n > 1 && str_is_digit(text->p[1]) ? 2 : 1;
    if (!time_digits(text, digits, &t.day) || !time_letter(text, " ") || !time_of_day(text, &t) || !time_parts_are_valid(&t))
        return false;
    t.year = now.tm_year + 1900;
    int64_t s = time_of_zone(&t), half = (int64_t)183 * DAY_S;
    if (s > now_s + half || s < now_s - half) {
        t.year += s > now_s ? -1 : 1;
        s = time_of_zone(&t);
    }
    *ret_ns = s * SECOND_NS + time_fraction(text);
    return true;
}

static bool time_read_any(struct str text, int64_t now_ns, int64_t *ret_ns)
{
    struct str rest = text;
    return text.n && (str_is_digit(text.p[0]) ? time_read_iso(&rest, ret_ns) : time_read_short(&rest, now_ns, ret_ns));
}

bool logs_line_time(struct str line, int64_t now_ns, int64_t *ret_ns)
{
    if (line.n && line.p[0] == '<') { /* the priority of a syslog message, and with RFC 5424 "1 " */
        const char *end = memchr(line.p, '>', line.n < 5 ? line.n : 5);
        line = end ? str_sub(line, (size_t)(end + 1 - line.p), line.n) : line;
        if (str_starts(line, "1 "))
            line = str_sub(line, 2, line.n);
    } else if (line.n && line.p[0] == '[')
        line = str_sub(line, 1, line.n);
    return time_read_any(line, now_ns, ret_ns);
}

const char *logs_time_text(int64_t time_ns, char ret[LOGS_TIME_SIZE])
{
    static __thread int64_t last_s = INT64_MIN;
    static __thread char text[20] = "1970-01-01T00:00:00";
    int64_t s = time_ns / SECOND_NS, us = time_ns % SECOND_NS / 1000;
    if (us < 0) {
        us += 1000000;
        s--;
    }
    if (s != last_s) {
        struct tm tm;
        time_t t = (time_t)s;
        if (!gmtime_r(&t, &tm) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
            memcpy(text, "1970-01-01T00:00:00", sizeof text);
        last_s = s;
    }
    memcpy(ret, text, 19);
    ret[19] = '.';
    for (int i = 25; i >= 20; i--, us /= 10)
        ret[i] = (char)('0' + us % 10);
    memcpy(ret + 26, "Z", 2);
    return ret;
}

/* ---- levels ---- */

static const struct {
    const char *name;
    enum logs_severity severity;
} severity_names[] = {
    {"fatal", LOGS_FATAL},  {"critical", LOGS_FATAL}, {"emerg", LOGS_FATAL},     {"alert", LOGS_FATAL},     {"panic", LOGS_FATAL},
    {"error", LOGS_ERROR},  {"err", LOGS_ERROR},      {"traceback", LOGS_ERROR}, {"exception", LOGS_ERROR}, {"warning", LOGS_WARNING},
    {"warn", LOGS_WARNING}, {"info", LOGS_INFO},      {"notice", LOGS_INFO},     {"verbose", LOGS_DEBUG},   {"debug", LOGS_DEBUG},
    {"debug2", LOGS_DEBUG}, {"debug3", LOGS_DEBUG},   {"debug4", LOGS_DEBUG},    {"debug5", LOGS_DEBUG},    {"trace", LOGS_DEBUG},
};

enum logs_severity logs_severity_find(struct str name)
{
    for (size_t i = 0; i < sizeof severity_names / sizeof *severity_names; i++)
        if (str_is_anycase(name, severity_names[i].name))
            return severity_names[i].severity;
    return LOGS_UNKNOWN;
}

/* A level is written in capitals, or something that levels have follows: "error:", "[info]", "level=warn". */
static bool is_level_place(struct str line, size_t at, size_t n)
{
    char before = at ? line.p[at - 1] : 0, after = at + n < line.n ? line.p[at + n] : 0;
    bool is_capital = line.p[at] >= 'A' && line.p[at] <= 'Z' && (n < 2 || (line.p[at + 1] >= 'A' && line.p[at + 1] <= 'Z'));
    if (is_capital)
        return true;
    return after == ':' || (before == '[' && after == ']') || (before == '<' && after == '>') || before == '=' ||
           (before == '"' && after == '"');
}

enum logs_severity logs_line_severity(struct str line)
{
    line = str_sub(line, 0, LEVEL_BYTES);
    if (line.n > 6 && strchr("IWEF", line.p[0]) && str_is_digit(line.p[1]) && str_is_digit(line.p[4]) && line.p[5] == ' ') /* klog: E0102 */
        return line.p[0] == 'I' ? LOGS_INFO : line.p[0] == 'W' ? LOGS_WARNING : line.p[0] == 'E' ? LOGS_ERROR : LOGS_FATAL;
    for (size_t i = 0, n; i < line.n; i += n ? n : 1) {
        n = 0;
        while (i + n < line.n && (str_is_letter(line.p[i + n]) || (n && str_is_digit(line.p[i + n]))))
            n++;
        if (n < 3 || n > 9)
            continue;
        enum logs_severity s = logs_severity_find(str_sub(line, i, n));
        if (s != LOGS_UNKNOWN && is_level_place(line, i, n))
            return s;
    }
    return LOGS_UNKNOWN;
}
