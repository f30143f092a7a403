/* topology_xml.c: reduces a hwloc XML to what the allow-list names. All else may identify the machine. */
#include "probes/topology_xml.h"

static const char *const elements[] = {
#define ELEMENT(name) name,
#define ATTRIBUTE(name)
#define INFO(name)
#include "probes/topology_xml.def"
#undef ELEMENT
#undef ATTRIBUTE
#undef INFO
};
static const char *const attributes[] = {
#define ELEMENT(name)
#define ATTRIBUTE(name) name,
#define INFO(name)
#include "probes/topology_xml.def"
#undef ELEMENT
#undef ATTRIBUTE
#undef INFO
};
static const char *const infos[] = {
#define ELEMENT(name)
#define ATTRIBUTE(name)
#define INFO(name) name,
#include "probes/topology_xml.def"
#undef ELEMENT
#undef ATTRIBUTE
#undef INFO
};
#define LISTED(list, name) topology_xml_is_listed(list, sizeof list / sizeof *list, name)

static bool topology_xml_is_listed(const char *const *list, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, list[i]))
            return true;
    return false;
}

/* Reads the next name="value" of a tag. 1; 0 at the end; -1: what follows is no attribute. */
static int topology_xml_next_attribute(struct str *rest, struct str *ret_name, struct str *ret_value)
{
    *rest = str_trim(*rest);
    if (rest->n == 0)
        return 0;
    ptrdiff_t equal = str_find(*rest, STR("=\""));
    if (equal <= 0)
        return -1;
    *ret_name = str_trim(str_sub(*rest, 0, (size_t)equal));
    struct str value = str_sub(*rest, (size_t)equal + 2, rest->n);
    ptrdiff_t end = str_find(value, STR("\""));
    if (end < 0)
        return -1;
    *ret_value = str_sub(value, 0, (size_t)end);
    *rest = str_sub(value, (size_t)end + 1, value.n);
    return 1;
}

/* Writes the inside of a tag, "object type=… /", if it is allowed. 1: written; 0: left out; -1: not
 * understood. */
static int topology_xml_write_tag(struct str inside, struct buf *to)
{
    bool alone = str_ends(inside, "/");
    struct str rest = alone ? str_sub(inside, 0, inside.n - 1) : inside, key, value;
    struct str name = str_word(&rest);
    int more;
    if (!LISTED(elements, name))
        return 0;
    if (str_is(name, "info")) {
        struct str look = rest;
        while ((more = topology_xml_next_attribute(&look, &key, &value)) > 0)
            if (str_is(key, "name") && !LISTED(infos, value))
                return 0;
        if (more < 0)
            return -1;
    }
    buf_putc(to, '<');
    buf_str(to, name);
    while ((more = topology_xml_next_attribute(&rest, &key, &value)) > 0) {
        if (!LISTED(attributes, key))
            continue;
        buf_putc(to, ' ');
        buf_str(to, key);
        buf_puts(to, "=\"");
        buf_str(to, value);
        buf_putc(to, '"');
    }
    buf_puts(to, alone ? "/>" : ">");
    return more < 0 ? -1 : 1;
}

/* Returns the text before the next tag, and moves *xml to that. Blanks and numbers between tags are
 * values of allowed elements; the blanks before a left-out tag go with it. */
static struct str topology_xml_pull_text(struct str *xml)
{
    ptrdiff_t at = str_find(*xml, STR("<"));
    struct str text = str_sub(*xml, 0, at < 0 ? xml->n : (size_t)at);
    *xml = str_sub(*xml, text.n, xml->n);
    return text;
}

int topology_xml_scrub(struct str xml, struct buf *to, struct err *err)
{
    size_t depth = 0, left_out_at = 0; /* 0: nothing is being left out */
    while (xml.n > 0) {
        struct str text = topology_xml_pull_text(&xml);
        ptrdiff_t end = str_find(xml, STR(">"));
        if (xml.n == 0 || end < 0) {
            if (xml.n > 0 || str_trim(text).n > 0)
                break;
            return depth == 0 && !to->failed ? 0 : err_set(err, ERR_INPUT, "the topology's XML ends early, or is too long");
        }
        struct str inside = str_sub(xml, 1, (size_t)end - 1);
        xml = str_sub(xml, (size_t)end + 1, xml.n);
        bool declaration = str_starts(inside, "?") || str_starts(inside, "!DOCTYPE");
        bool closing = str_starts(inside, "/"), alone = str_ends(inside, "/");
        if (declaration) {
            buf_str(to, text);
            buf_putc(to, '<');
            buf_str(to, inside);
            buf_putc(to, '>');
            continue;
        }
        if (closing && depth == 0)
            break;
        if (left_out_at == 0) {
            size_t mark = to->n;
            buf_str(to, text);
            int done = 1;
            if (closing) {
                buf_putc(to, '<');
                buf_str(to, inside);
                buf_putc(to, '>');
            } else
                done = topology_xml_write_tag(inside, to);
            if (done < 0)
                break;
            if (done == 0) {
                if (to->p)
                    to->p[to->n = mark] = 0;
                left_out_at = alone ? 0 : depth + 1;
            }
        }
        if (closing && left_out_at == depth)
            left_out_at = 0;
        depth += closing ? (size_t)-1 : !alone;
    }
    return err_set(err, ERR_INPUT, "the topology's XML is not understood");
}
