/* prom.c: read pages of metrics; see prom.h. */
#include "base/prom.h"

static bool name_byte(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (!first && c >= '0' && c <= '9');
}

static size_t prom_skip_blanks(struct str s, size_t at)
{
    while (at < s.n && (s.p[at] == ' ' || s.p[at] == '\t'))
        at++;
    return at;
}

/* Returns the offset after the closing quote of a string that begins at `at`; 0: it has no end. */
static size_t string_end(struct str s, size_t at)
{
    for (at++; at < s.n; at++)
        if (s.p[at] == '\\')
            at++;
        else if (s.p[at] == '"')
            return at + 1;
    return 0;
}

/* Returns the index behind the closing brace of the labels that begin with "{" at `at`; 0: there is
 * none. */
static size_t braces_end(struct str s, size_t at)
{
    for (at++; at < s.n;)
        if (s.p[at] == '"') {
            if (!(at = string_end(s, at)))
                return 0;
        } else if (s.p[at++] == '}')
            return at;
    return 0;
}

/* Moves a name in quotes from the labels to s->name: {"name in quotes", label="value"}, with any
 * letters, since Prometheus 3. False: there is none. */
static bool quoted_name(struct prom_sample *s)
{
    size_t at = prom_skip_blanks(s->labels, 0), end = at < s->labels.n && s->labels.p[at] == '"' ? string_end(s->labels, at) : 0;
    if (!end)
        return false;
    s->name = str_sub(s->labels, at + 1, end - at - 2);
    end = prom_skip_blanks(s->labels, end);
    s->labels = str_sub(s->labels, end < s->labels.n && s->labels.p[end] == ',' ? end + 1 : end, s->labels.n);
    return s->name.n > 0;
}

/* Reads one line into *ret, whose texts refer to the line. False: it is no sample. */
static bool prom_parse_sample(struct str line, struct prom_sample *ret)
{
    size_t at = 0;
    while (at < line.n && name_byte(line.p[at], at == 0))
        at++;
    *ret = (struct prom_sample){.name = str_sub(line, 0, at), .text = str_sub(line, 0, at)};
    at = prom_skip_blanks(line, at);
    if (at < line.n && line.p[at] == '{') {
        size_t end = braces_end(line, at);
        if (!end)
            return false;
        ret->labels = str_sub(line, at + 1, end - at - 2);
        if (!ret->name.n && !quoted_name(ret))
            return false;
        ret->text = str_sub(line, 0, end);
        at = end;
    }
    struct str rest = str_sub(line, at, line.n), number = str_word(&rest);
    if (str_is(number, "+Inf"))
        number = STR("inf");
    return ret->name.n && number.n && str_double(number, &ret->value); /* a time stamp and an exemplar may follow */
}

int prom_next(struct str *rest, struct prom_sample *ret)
{
    while (rest->p) {
        struct str line = str_trim(str_cut(rest, '\n'));
        if (!line.n || line.p[0] == '#')
            continue;
        return prom_parse_sample(line, ret) ? 1 : -1;
    }
    return 0;
}

/* Appends the value of a label with its escapes undone. False: `to` is full or out of memory. */
static bool put_label_value(struct str escaped, struct buf *to)
{
    for (size_t i = 0; i < escaped.n; i++) {
        char c = escaped.p[i];
        if (c == '\\' && i + 1 < escaped.n)
            c = escaped.p[++i] == 'n' ? '\n' : escaped.p[i];
        buf_putc(to, c);
    }
    return !to->failed;
}

bool prom_label_next(struct str *labels, struct str *ret_name, struct buf *value)
{
    size_t at = prom_skip_blanks(*labels, 0), begin;
    buf_clear(value);
    if (at < labels->n && labels->p[at] == ',')
        at = prom_skip_blanks(*labels, at + 1);
    for (begin = at; at < labels->n && name_byte(labels->p[at], at == begin);)
        at++;
    *ret_name = str_sub(*labels, begin, at - begin);
    at = prom_skip_blanks(*labels, at);
    if (!ret_name->n || at >= labels->n || labels->p[at] != '=')
        return false;
    at = prom_skip_blanks(*labels, at + 1);
    size_t end = at < labels->n && labels->p[at] == '"' ? string_end(*labels, at) : 0;
    if (!end || !put_label_value(str_sub(*labels, at + 1, end - at - 2), value))
        return false;
    *labels = str_sub(*labels, end, labels->n);
    return true;
}
