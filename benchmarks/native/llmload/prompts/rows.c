/* rows.c: cutting a prompt file into rows, each with its line; see rows.h. */
#include "benchmarks/native/llmload/prompts/rows.h"

#include "base/fs.h"
#include "benchmarks/native/llmload/inputs.h"
#include "benchmarks/native/llmload/tokens/unicode.h"

#include <fcntl.h>
#include <stdio.h>

#define FILE_MAX ((size_t)8 << 30)
enum { ROW_MAX = 64 << 20 };

/* json_parse counts lines from the row's own beginning, where there is one. */
static void drop_line(struct err *err)
{
    static const char head[] = "line 1, ";
    size_t n = sizeof head - 1;
    if (err && strncmp(err->text, head, n) == 0)
        memmove(err->text, err->text + n, strlen(err->text) - n + 1);
}

/* The end of the object or array at the text's begin; all of the text where it has none. */
static size_t row_end(struct str text)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']') && --depth == 0)
            return i + 1;
        if (!depth)
            break;
    }
    return text.n;
}

/* The first half of a pair of \u escapes (high), or the second. */
static bool is_half(struct str text, size_t at, bool is_high)
{
    int d = str_starts(str_sub(text, at, at + 3), "\\ud") || str_starts(str_sub(text, at, at + 3), "\\uD")
                ? str_hex_digit(at + 3 < text.n ? text.p[at + 3] : 0)
                : -1;
    return is_high ? d >= 8 && d < 12 : d >= 12;
}

/* Returns whether the JSON text has an escaped surrogate without its other half, which stands for
 * no character. */
static bool has_half_pair(struct str text)
{
    for (size_t i = 0; i + 1 < text.n; i++)
        if (text.p[i] == '\\') {
            if (is_half(text, i, false) || (is_half(text, i, true) && !is_half(text, i + 6, false)))
                return true;
            i += is_half(text, i, true) ? 11 : 1;
        }
    return false;
}

static int skip_row(struct err *err, const char *why)
{
    err_set(err, ERR_INPUT, "its text holds %s", why);
    return ROWS_SKIP;
}

/* Handles the result of reading a row: a row that was left out (ROWS_SKIP) is counted, the first
 * with its reason, and reading continues; every other result is returned. */
static int note_skip(struct rows_skipped *skipped, int rc, size_t line, struct err *err)
{
    if (rc != ROWS_SKIP)
        return rc;
    if (!skipped->count++) {
        skipped->line = line;
        snprintf(skipped->why, sizeof skipped->why, "%.190s", err->text);
    }
    err_clear(err);
    return ROWS_MORE;
}

/* Passes one JSON row to `take`. *ret_end (unless NULL): where the row ends. Returns what `take`
 * returns, or another value with *err, also for a row that is skipped. */
static int rows_take_json(struct str text, size_t *ret_end, rows_take *take, void *to, size_t line, struct err *err)
{
    struct json *j;
    size_t end = text.n;
    if (json_parse(&j, text, ret_end, err) < 0) {
        struct str broken = str_sub(text, 0, row_end(text));
        drop_line(err);
        if (!has_half_pair(broken))
            return -1;
        if (ret_end)
            *ret_end = broken.n;
        return skip_row(err, "half of a surrogate pair (\\ud800 to \\udfff)");
    }
    if (ret_end)
        end = *ret_end;
    struct str row = str_sub(text, 0, end);
    int rc = ret_end && !str_valid_utf8(row) ? err_set(err, ERR_INPUT, "not valid UTF-8") /* a line was checked before */
             : unicode_has_nul(row)          ? skip_row(err, "a NUL (\\u0000)")
                                             : take(to, j, text, line, err);
    json_free(j);
    return rc;
}

static int rows_take_line(struct str text, bool as_text, rows_take *take, void *to, size_t line, struct err *err)
{
    text = str_trim(text);
    if (!text.n)
        return 0;
    if (text.n > ROW_MAX)
        return err_set(err, ERR_INPUT, "a row of %zu bytes; at most %d are taken", text.n, ROW_MAX);
    if (!str_valid_utf8(text))
        return err_set(err, ERR_INPUT, "not valid UTF-8");
    if (as_text && text.n && memchr(text.p, 0, text.n))
        return skip_row(err, "a NUL (\\u0000)");
    return as_text ? take(to, NULL, text, line, err) : rows_take_json(text, NULL, take, to, line, err);
}

static size_t skip_white_space(struct str text, size_t at, size_t *line)
{
    while (at < text.n && strchr(" \t\r\n", text.p[at]) && text.p[at])
        *line += text.p[at++] == '\n';
    return at;
}

/* [row, row, …] */
static int take_array(struct str text, rows_take *take, void *to, struct rows_skipped *skipped, size_t *line, struct err *err)
{
    size_t at = skip_white_space(text, 0, line) + 1, end;
    if ((at = skip_white_space(text, at, line)) < text.n && text.p[at] == ']')
        return 0;
    while (at < text.n) {
        struct str rest = str_sub(text, at, text.n);
        struct str shown = str_sub(rest, 0, ROW_MAX);
        int rc = note_skip(skipped, rows_take_json(shown, &end, take, to, *line, err), *line, err);
        if (rc != 0)
            return rc;
        for (size_t i = at; i < at + end; i++)
            *line += text.p[i] == '\n';
        at = skip_white_space(text, at + end, line);
        if (at < text.n && text.p[at] == ']')
            return 0;
        if (at >= text.n || text.p[at] != ',')
            return at >= text.n ? err_set(err, ERR_INPUT, "expected a comma or the end of the array, got the end of the file")
                                : err_set(err, ERR_INPUT, "expected a comma or the end of the array, got \"%c\"",
                                          text.p[at] > ' ' && text.p[at] < 127 ? text.p[at] : '?');
        at = skip_white_space(text, at + 1, line);
    }
    return err_set(err, ERR_INPUT, "the array has no end");
}

int rows_parse(const char *name, struct str text, bool as_text, rows_take *take, void *to, struct rows_skipped *ret_skipped,
               struct err *err)
{
    *ret_skipped = (struct rows_skipped){0};
    size_t line = 1;
    struct str first = str_trim(str_sub(text, 0, 4096)), rest = text;
    int rc = 0;
    if (str_starts(text, "\xef\xbb\xbf"))
        rest = str_sub(text, 3, text.n), first = str_trim(str_sub(rest, 0, 4096));
    if (!as_text && first.n && first.p[0] == '[') {
        rc = take_array(rest, take, to, ret_skipped, &line, err);
    } else {
        for (; rest.p && rc == 0; line++)
            rc = note_skip(ret_skipped, rows_take_line(str_cut(&rest, '\n'), as_text, take, to, line, err), line, err);
        line--;
    }
    return rc < 0 ? err_wrap(err, "%.300s, line %zu", name, line) : 0;
}

int rows_read(const char *path, bool as_text, rows_take *take, void *to, struct input_hashes *inputs, struct rows_skipped *ret_skipped,
              struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, FILE_MAX);
    if (fs_read(AT_FDCWD, path, FILE_MAX, 0, &text, err) < 0)
        return -1;
    inputs_note(inputs, "dataset", buf_text(&text));
    return rows_parse(path, buf_text(&text), as_text, take, to, ret_skipped, err);
}
