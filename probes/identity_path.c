/* identity_path.c: hides absolute paths in warnings and reasons of a public run. */
#include "probes/identity_path.h"

#include "base/str.h"
#include "probes/identity_label.h"

static bool path_is_of_system(struct str path)
{
    static const char *const places[] = {"/proc", "/sys",  "/dev",  "/etc",     "/usr",     "/lib",       "/lib64",  "/opt",
                                         "/bin",  "/sbin", "/boot", "/var/lib", "/var/run", "/var/spool", "/var/log"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t n = strlen(places[i]);
        if (str_starts(path, places[i]) && (path.n == n || path.p[n] == '/'))
            return !str_starts(path, "/dev/shm/");
    }
    return false;
}

/* Returns whether a path begins at text[at]: a "/" before a name, and not behind another name or
 * "http:/". */
static bool path_begins(const char *text, size_t n, size_t at)
{
    return text[at] == '/' && at + 1 < n && (identity_is_name_byte(text[at + 1]) || strchr("*?[{~", text[at + 1])) &&
           (at == 0 || !(identity_is_name_byte(text[at - 1]) || strchr("/\\)]}*?", text[at - 1])));
}

/* Returns the end of the path that begins at `from`: the quote that closes it, else a blank before
 * a word that has no "/". */
static size_t path_end(const char *text, size_t n, size_t from)
{
    char quote = from > 0 && strchr("\"'`", text[from - 1]) ? text[from - 1] : 0;
    const char *close = quote ? memchr(text + from, quote, n - from) : NULL;
    if (close)
        return (size_t)(close - text);
    size_t to = from;
    while (to < n && !strchr(" \t\r\n\"'`,;()<>|", text[to]))
        to++;
    for (size_t end = to; end + 1 < n && text[end] == ' ' && text[end + 1] != '/';) { /* "/data/Jane Doe/x" */
        bool more = false;
        for (end++; end < n && !strchr(" \t\r\n\"'`,;()<>|", text[end]); end++)
            more = more || (text[end] == '/' && end + 1 < n && identity_is_name_byte(text[end + 1]));
        if (!more)
            break;
        to = end;
    }
    return to;
}

size_t identity_hide_paths(char *text, size_t n)
{
    size_t count = 0;
    for (size_t at = 0; at < n; at++) {
        if (!path_begins(text, n, at))
            continue;
        size_t to = path_end(text, n, at);
        bool changed = false, kept = !memchr(text + at + 1, '/', to - at - 1) || path_is_of_system((struct str){text + at, to - at});
        for (size_t i = at; i < to && !kept; i++) /* "/s" and "/nope" stay */
            if (identity_is_name_byte(text[i]) && !strchr("._-", text[i])) {
                changed = changed || text[i] != 'd';
                text[i] = 'd';
            }
        count += changed;
        at = to > at ? to - 1 : at;
    }
    return count;
}
