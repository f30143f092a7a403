/* secret_manifest.c: finds the values of Kubernetes secrets in YAML and JSON, on lines of their own or in one line. */
#include "probes/secret_manifest.h"

#include "probes/secret_names.h"

enum manifest_kind { MANIFEST_NONE, MANIFEST_BEGUN, MANIFEST_SECRET, MANIFEST_OTHER };
enum { NAME_BYTES = 16, BASE64_LEAST = 8 };

typedef void value_found(void *context, size_t at, size_t n);

static bool manifest_is_quote(char c)
{
    return c == '"' || c == '\'' || c == '\\';
}

static size_t manifest_line_end(struct str t, size_t from)
{
    const char *end = from < t.n ? memchr(t.p + from, '\n', t.n - from) : NULL;
    return end ? (size_t)(end - t.p) : t.n;
}

static size_t manifest_skip_spaces(struct str t, size_t at)
{
    while (at < t.n && str_is_blank(t.p[at]))
        at++;
    return at;
}

/* Returns whether the value is base64 of complete bytes. known false: the kind of the manifest is
 * not known yet, and the value must also differ from a word by padding, or by letters of both cases
 * with a digit. */
static bool manifest_is_base64(struct str v, bool known)
{
    bool upper = false, small = false, digit = false;
    size_t padding = 0;
    while (padding < 2 && v.n > 0 && v.p[v.n - 1] == '=') {
        v.n--;
        padding++;
    }
    if ((v.n + padding) % 4 != 0 || v.n + padding < BASE64_LEAST)
        return false;
    for (size_t i = 0; i < v.n; i++) {
        char c = v.p[i];
        upper |= c >= 'A' && c <= 'Z';
        small |= c >= 'a' && c <= 'z';
        digit |= c >= '0' && c <= '9';
        if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !strchr("+/-_", c))
            return false;
    }
    return known || padding > 0 || (upper && small && digit);
}

/* Reports the value that begins at `at` or behind quotes and blanks there, without its quotes,
 * where it has the form of a secret. */
static void manifest_report_value(const struct manifest *m, struct str t, size_t at, size_t end, value_found *each, void *context)
{
    bool number;
    while (at < end && (str_is_blank(t.p[at]) || manifest_is_quote(t.p[at])))
        at++;
    size_t to = at;
    while (to < end && !manifest_is_quote(t.p[to]) && t.p[to] != '\r' && (m->is_plain || !strchr(" \t,}", t.p[to])))
        to++;
    struct str value = str_trim(str_sub(t, at, to - at));
    if (value.n == 0 || strchr("|>{[", value.p[0]))
        return;
    if (m->is_plain ? secret_is_value(SECRET_NAME_WHOLE, value, &number) : manifest_is_base64(value, m->kind == MANIFEST_SECRET))
        each(context, at, value.n);
}

void manifest_check_lines(struct manifest *m, struct str t, size_t from, value_found *each, void *context)
{
    for (size_t end; m->in_data && from < t.n; from = end + 1) {
        end = manifest_line_end(t, from);
        size_t begin = manifest_skip_spaces(t, from), colon = begin;
        if (begin == end || t.p[begin] == '\r' || t.p[begin] == '#')
            continue;
        if (begin - from <= m->indent) {
            m->in_data = false;
            return;
        }
        while (colon < end && !(t.p[colon] == ':' && (colon + 1 == end || str_is_blank(t.p[colon + 1]) || t.p[colon + 1] == '\r' ||
                                                      manifest_is_quote(t.p[colon + 1]))))
            colon++;
        manifest_report_value(m, t, colon < end ? colon + 1 : begin, end, each, context);
    }
}

/* Reports the values of entries up to the closing brace: {"name":"value","name":"value"}. */
static void manifest_report_inline(const struct manifest *m, struct str t, size_t from, size_t end, value_found *each, void *context)
{
    for (; from < end && t.p[from] != '}'; from++)
        if (t.p[from] == ':')
            manifest_report_value(m, t, from + 1, end, each, context);
}

/* Returns the letters of the name that ends before the colon, without its quotes. */
static struct str manifest_name_at(struct str t, size_t colon)
{
    size_t end = colon, from;
    while (end > 0 && manifest_is_quote(t.p[end - 1]))
        end--;
    for (from = end; from > 0 && end - from < NAME_BYTES && str_lower(t.p[from - 1]) >= 'a' && str_lower(t.p[from - 1]) <= 'z';)
        from--;
    return str_sub(t, from, end - from);
}

/* Reports the values in braces behind the colon, or begins the section whose values are in the
 * lines below. */
static void manifest_begin_section(struct manifest *m, struct str t, size_t name, size_t colon, value_found *each, void *context)
{
    size_t end = manifest_line_end(t, colon), at = manifest_skip_spaces(t, colon + 1), from = name;
    while (from > 0 && t.p[from - 1] != '\n')
        from--;
    if (at < end && t.p[at] == '{' && str_trim(str_sub(t, at + 1, end - at - 1)).n > 0) {
        manifest_report_inline(m, t, at + 1, end, each, context);
        return;
    }
    if (at < end && !strchr("{#\r", t.p[at]))
        return;
    for (size_t i = from; i < name; i++)
        if (!str_is_blank(t.p[i]) && !manifest_is_quote(t.p[i]) && t.p[i] != '-')
            return;
    m->in_data = true;
    m->indent = (unsigned short)(name - from - (name > from && manifest_is_quote(t.p[name - 1])));
    manifest_check_lines(m, t, end + 1, each, context);
}

void manifest_check_colon(struct manifest *m, struct str t, size_t colon, value_found *each, void *context)
{
    if (colon < 4 || !memchr("nda\"'", t.p[colon - 1], 5))
        return;
    struct str name = manifest_name_at(t, colon);
    size_t at = (size_t)(name.p - t.p), value = colon + 1;
    if (str_is(name, "apiVersion")) {
        m->kind = m->kind == MANIFEST_SECRET ? MANIFEST_SECRET : MANIFEST_BEGUN;
    } else if (str_is(name, "kind")) {
        while (value < t.n && (str_is_blank(t.p[value]) || manifest_is_quote(t.p[value])))
            value++;
        struct str kind = str_sub(t, value, 6);
        if (str_is_anycase(kind, "secret") && !(value + 6 < t.n && str_lower(t.p[value + 6]) >= 'a' && str_lower(t.p[value + 6]) <= 'z'))
            m->kind = MANIFEST_SECRET;
        else if (m->kind != MANIFEST_NONE)
            m->kind = MANIFEST_OTHER;
    } else if (str_is(name, "stringData") || (str_is(name, "data") && (m->kind == MANIFEST_BEGUN || m->kind == MANIFEST_SECRET))) {
        m->is_plain = name.n > 4;
        manifest_begin_section(m, t, at, colon, each, context);
    }
}
