/* wrapped.c: what terminals, launchers and log collectors add around a program's line. */
#include "benchmarks/wrapped.h"

#include "base/redrawn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* So many lines that begin with a time stamp, and none without before them, were stamped by another program. */
enum { STAMPED_ENOUGH = 3, LABELLED_ENOUGH = 3 };

void wrapped_deinit(struct wrapped *w)
{
    free(w->clean);
    *w = (struct wrapped){0};
}

/* Returns the buffer of w with n bytes or more; its content and address may change. NULL: out of
 * memory, and the old one stays. */
static char *wrapped_scratch(struct wrapped *w, size_t n)
{
    if (w->clean_cap < n) {
        char *more = realloc(w->clean, n);
        if (!more)
            return NULL;
        w->clean = more;
        w->clean_cap = n;
    }
    return w->clean;
}

static bool digits_until(struct str s, size_t *at)
{
    size_t from = *at;
    while (*at < s.n && str_is_digit(s.p[*at]))
        (*at)++;
    return *at > from;
}

/* Length of "<stdout>:" and its variants (Open MPI), with the blank that Open MPI 5 adds behind it;
 * 0: there is none. */
static size_t stream_name(struct str s, bool five)
{
    if (!str_starts(s, "<std"))
        return 0;
    const char *end = memchr(s.p, '>', s.n < 12 ? s.n : 12);
    if (!end || end + 1 >= s.p + s.n || end[1] != ':')
        return 0;
    size_t n = (size_t)(end + 2 - s.p);
    return five && n < s.n && s.p[n] == ' ' ? n + 1 : n;
}

/* Length of a date and time at the beginning: 9 stands for a digit or a blank before one, A for a letter. */
static size_t clock_length(struct str s)
{
    static const char *const forms[] = {"9999-99-99T99:99:99",
                                        "9999-99-99 99:99:99",
                                        "9999/99/99 99:99:99",
                                        "AAA AAA 99 99:99:99 9999",
                                        "AAA 99 99:99:99",
                                        "99:99:99",
                                        NULL};
    for (size_t f = 0; forms[f]; f++) {
        size_t i = 0;
        for (; forms[f][i] && i < s.n; i++) {
            unsigned char c = (unsigned char)s.p[i];
            bool padded = c == ' ' && i && forms[f][i - 1] == ' ' && forms[f][i + 1] == '9';
            if (forms[f][i] == '9' ? !isdigit(c) && !padded : forms[f][i] == 'A' ? !isalpha(c) : c != (unsigned char)forms[f][i])
                break;
        }
        if (!forms[f][i])
            return i;
    }
    return 0;
}

/* Length of a launcher's prefix of the line: "[1,0]<stdout>:" (Open MPI 4),
 * "[prterun-n1-7@1,0]<stdout>: " and "[1,0][n1:7]<stdout>: " (Open MPI 5), "[0] " (MPICH), "0: "
 * (srun). five: a time stamp as Open MPI 5 writes it is in front. */
static size_t rank_length(struct str s, bool five)
{
    size_t i = 0;
    if (s.n < 3)
        return 0;
    if (s.p[0] == '[') {
        const char *close = memchr(s.p, ']', s.n < 100 ? s.n : 100);
        if (!close)
            return 0;
        struct str behind = str_sub(s, (size_t)(close - s.p) + 1, s.n);
        const char *host = behind.n && behind.p[0] == '[' ? memchr(behind.p, ']', behind.n < 100 ? behind.n : 100) : NULL;
        struct str named = host ? str_sub(s, (size_t)(host - s.p) + 1, s.n) : behind;
        five = five || host || memchr(s.p, '@', (size_t)(close - s.p)) || clock_length(str_sub(s, 1, s.n)) == (size_t)(close - s.p) - 1;
        size_t stream = stream_name(named, five);
        if (stream)
            return (size_t)(named.p - s.p) + stream;
        i = 1;
        return digits_until(s, &i) && s.p + i == close && behind.n && behind.p[0] == ' ' ? i + 2 : 0;
    }
    while (i < s.n && i < 8 && s.p[i] == ' ')
        i++;
    return digits_until(s, &i) && i + 1 < s.n && s.p[i] == ':' && s.p[i + 1] == ' ' ? i + 2 : 0;
}

/* Length of a time stamp before the line, with the blank behind it: "[12:00:01] ", "2026-11-23T12:00:01.5Z ", "Nov 23 12:00:01 " (ts, CI systems, containers),
 * "Mon Nov 23 12:00:01 2026<stdout>:" and, in brackets, "[Mon Nov 23 12:00:01 2026]<stdout>: " (Open MPI 4 and 5). 0: there is none. */
static size_t stamp_length(struct str s)
{
    size_t bracket = s.n && s.p[0] == '[', i = clock_length(str_sub(s, bracket, s.n));
    if (!i)
        return 0;
    i += bracket;
    if (i < s.n && (s.p[i] == '.' || s.p[i] == ',')) {
        i++;
        if (!digits_until(s, &i))
            return 0;
    }
    if (i < s.n && s.p[i] == 'Z')
        i++;
    else if (i < s.n && (s.p[i] == '+' || s.p[i] == '-')) {
        i++;
        if (!digits_until(s, &i))
            return 0;
        if (i < s.n && s.p[i] == ':' && ++i && !digits_until(s, &i))
            return 0;
    }
    if (bracket && (i == s.n || s.p[i++] != ']'))
        return 0;
    size_t stream = stream_name(str_sub(s, i, s.n), bracket);
    if (i == s.n || stream || rank_length(str_sub(s, i, s.n), bracket))
        return i + stream;
    return s.p[i] == ' ' || s.p[i] == '\t' ? i + 1 : 0;
}

/* The line without escape sequences and backspaces, in the scratch. */
static struct str without_escapes(struct wrapped *w, struct str s)
{
    return wrapped_scratch(w, s.n) ? (struct str){w->clean, redrawn_plain(s, w->clean)} : s;
}

/* The line without its rank. MPICH repeats it in the middle of a line when the program's writes are cut there. */
static struct str without_rank(struct wrapped *w, struct str s)
{
    size_t n = rank_length(s, false), to = 0;
    char prefix[128]; /* a copy: s may be in the scratch buffer that is written to */
    struct str line = str_sub(s, n, s.n);
    if (!n || n > sizeof(prefix) || s.p[0] != '[' || str_find(line, str_sub(s, 0, n)) < 0)
        return line;
    memcpy(prefix, s.p, n);
    char *clean = wrapped_scratch(w, s.n);
    for (size_t i = 0; clean && i < line.n;) {
        bool again = i + n <= line.n && !memcmp(line.p + i, prefix, n);
        if (again)
            i += n;
        else
            clean[to++] = line.p[i++];
    }
    return clean ? (struct str){clean, to} : line;
}

static struct str without_ends(struct str line)
{
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* Length of a name of hosts, containers and programs. */
static size_t name_length(struct str s)
{
    size_t n = 0;
    while (n < s.n && (isalnum((unsigned char)s.p[n]) || (n && strchr("._-", s.p[n]))))
        n++;
    return n;
}

/* Length of what may be a label: "host: ", "name-1  | ", "> ". */
static size_t label_length(struct str s, struct str *ret_host)
{
    size_t n = name_length(s), i = n;
    *ret_host = (struct str){NULL, 0};
    if (str_starts(s, "> "))
        return 2;
    if (!n || !isalpha((unsigned char)s.p[0]))
        return 0;
    if (str_starts(str_sub(s, n, s.n), ": ")) {
        *ret_host = str_sub(s, 0, n);
        return n + 2;
    }
    while (i < s.n && s.p[i] == ' ')
        i++;
    bool numbered = isdigit((unsigned char)s.p[n - 1]) && (memchr(s.p, '-', n) || memchr(s.p, '_', n)); /* of the service's containers */
    if (!(i > n && i + 1 < s.n && s.p[i] == '|' && s.p[i + 1] == ' '))
        return 0;
    if (!numbered) /* "container_name: db" */
        *ret_host = str_sub(s, 0, n);
    return i + 2;
}

void wrapped_begin(struct wrapped *w, struct str text, wrapped_own *is_own, const void *context)
{
    size_t lines = 0;
    struct str host = {NULL, 0}, label = {NULL, 0};
    text = wrapped_mark_skip(text);
    for (struct str rest = text; rest.n && (!lines || memchr(rest.p, '\n', rest.n));) { /* not the beginning of a line that continues */
        struct str line = without_ends(str_cut(&rest, '\n'));
        if (!str_trim(line).n)
            continue;
        if (!lines++) {
            size_t n = label_length(line, &host);
            if (!n || n >= sizeof w->label || (host.n && is_own && is_own(context, host)))
                return;
            label = str_sub(line, 0, n);
        } else if (!(line.n >= label.n && memcmp(line.p, label.p, label.n) == 0) && !str_eq(str_trim(line), str_trim(label)))
            return;
    }
    if (lines < (host.n ? LABELLED_ENOUGH : 1))
        return;
    memcpy(w->label, label.p, label.n);
    w->label[label.n] = 0;
}

/* The line without the label, of which the blanks at its end may be missing in a blank line. */
static struct str without_label(const struct wrapped *w, struct str line)
{
    struct str label = str_of(w->label), bare = str_trim(label);
    if (label.n && str_starts(line, w->label))
        return str_sub(line, label.n, line.n);
    return label.n && str_eq(str_trim(line), bare) ? (struct str){line.p, 0} : line;
}

/* Notes whether the line begins with a time stamp; a text before the first one means that later
 * stamps are the program's own. */
static void note_stamp(struct wrapped *w, struct str line)
{
    if (w->has_own_stamps || w->n_stamped >= STAMPED_ENOUGH)
        return;
    line = without_label(w, line);
    line = str_sub(line, rank_length(line, false), line.n);
    if (stamp_length(line))
        w->n_stamped++;
    else
        w->has_own_stamps = str_trim(line).n > 0;
}

struct str wrapped_mark_skip(struct str text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return str_starts(text, mark) ? str_sub(text, strlen(mark), text.n) : text;
}

bool wrapped_bare(struct wrapped *w, struct str *line)
{
    *line = wrapped_mark_skip(*line);
    bool escapes = redrawn_has_escapes(*line);
    if (escapes)
        *line = without_escapes(w, *line);
    *line = without_ends(*line);
    note_stamp(w, *line);
    return escapes;
}

/* Length of "host program[77]: ", which syslog writes behind its time stamp; 0: there is none. */
static size_t syslog_length(struct str s)
{
    size_t i = 0, word = name_length(s);
    if (!word || word == s.n || s.p[word] != ' ')
        return 0;
    i = word + 1;
    word = name_length(str_sub(s, i, s.n));
    i += word;
    if (!word || i == s.n || s.p[i++] != '[' || !digits_until(s, &i) || !str_starts(str_sub(s, i, s.n), "]:"))
        return 0;
    return i + 2 + (i + 2 < s.n && s.p[i + 2] == ' ');
}

struct str wrapped_text(struct wrapped *w, struct str line)
{
    line = without_label(w, redrawn_last(line));
    line = without_rank(w, line);
    size_t stamp = w->has_own_stamps ? 0 : stamp_length(line);
    if (!stamp)
        return line;
    bool five = line.p[0] == '[' && line.p[stamp - 1] == ']';
    line = str_sub(line, stamp, line.n);
    size_t log = syslog_length(line);
    if (log)
        return str_sub(line, log, line.n);
    return str_sub(line, rank_length(line, five), line.n);
}
