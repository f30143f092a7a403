/* perf_report.c: reads what `perf report` prints; see perf_report.h. */
#include "run/perf_report.h"

/* Reads the event's name from "# Samples: 19K of event 'cycles:u'", into the arena; the first one
 * counts. */
static void read_perf_event(struct str line, struct arena *a, struct perf_report *to)
{
    static const char before[] = "of event '";
    ptrdiff_t at = str_find(line, STR(before));
    struct str rest = at < 0 ? STR("") : str_sub(line, (size_t)at + sizeof before - 1, line.n), name = str_cut(&rest, '\'');
    const char *kept = name.n && !*to->event ? arena_dup(a, name.p, name.n) : NULL;
    if (kept)
        to->event = kept;
}

static void read_perf_comment(struct str line, struct arena *a, struct perf_report *to)
{
    static const char lost[] = "# Total Lost Samples:";
    uint64_t n;
    if (str_starts(line, "# Samples:"))
        read_perf_event(line, a, to);
    else if (str_starts(line, lost) && str_uint(str_trim(str_sub(line, sizeof lost - 1, line.n)), &n) && n <= UINT64_MAX - to->lost)
        to->lost += n;
}

/* Returns the name of the function, without the address space before it ("[.] " or "[k] "). A file
 * without symbols has no names: perf prints an address for each sample, for which this is "[no
 * symbol]". */
static struct str perf_symbol(struct str text)
{
    text = str_trim(text);
    if (text.n > 4 && text.p[0] == '[' && text.p[2] == ']' && text.p[3] == ' ')
        text = str_sub(text, 4, text.n);
    return str_starts(text, "0x") && str_hex(str_sub(text, 2, text.n), text.n - 2) ? STR("[no symbol]") : text;
}

void perf_report_parse(struct str text, struct arena *a, struct perf_report *ret)
{
    *ret = (struct perf_report){.event = ""};
    while (text.n) {
        struct str line = str_cut(&text, '\n'), rest = line;
        uint64_t samples;
        if (!str_trim(line).n)
            continue;
        if (line.p[0] == '#') {
            read_perf_comment(line, a, ret);
            continue;
        }
        struct str number = str_cut(&rest, '\t'), module = str_cut(&rest, '\t'), symbol = str_cut(&rest, '\t');
        bool is_row = symbol.p && rest.p && str_uint(str_trim(number), &samples);
        if (!is_row || !code_profile_add(&ret->profile, a, rest, module, perf_symbol(symbol), samples))
            ret->unread++;
    }
    code_profile_merge(&ret->profile, false);
}
