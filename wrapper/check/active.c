/* active.c: files that act where they are opened: in MLflow's pages, in a browser, in a Python that loads them. */
#include "check/parts.h"

#include <ctype.h>
#include <strings.h>

/* Endings, and the names of whole files, in small letters. */
static const char *const endings[] = {".html", ".htm",     ".xhtml", ".js",  ".mjs",  ".wasm", ".pkl",   ".pickle", ".joblib", ".pt",
                                      ".pth",  ".h5",      ".exe",   ".dll", ".bat",  ".cmd",  ".ps1",   ".vbs",    ".scr",    ".lnk",
                                      ".url",  ".desktop", ".jar",   ".hta", ".xlsm", ".docm", ".ipynb", "/mlmodel"};
static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} beginnings[] = {{"\177ELF", 4, "a program or library"},
                  {"MZ\x90", 3, "a program for Windows"},
                  {"\xcf\xfa\xed\xfe", 4, "a program for macOS"},
                  {"\0asm", 4, "WebAssembly"},
                  {"\x80\x04\x95", 3, "pickled objects of Python"}};

static bool has_word(struct str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (strncasecmp(text.p + i, word, n) == 0)
            return true;
    return false;
}

/* " onload=": what a picture does when something happens to it. */
static bool has_handler(struct str text)
{
    for (size_t i = 0; i + 4 < text.n; i++) {
        size_t at = i + 3;
        if (!isspace((unsigned char)text.p[i]) || strncasecmp(text.p + i + 1, "on", 2) != 0)
            continue;
        while (at < text.n && isalpha((unsigned char)text.p[at]))
            at++;
        while (at < text.n && isspace((unsigned char)text.p[at]))
            at++;
        if (at > i + 4 && at < text.n && text.p[at] == '=')
            return true;
    }
    return false;
}

/* Pictures of taskrate and llmload are SVG, and do nothing. */
static bool is_acting_picture(const char *file, struct str text)
{
    return str_ends_anycase(str_of(file), ".svg") && (has_word(text, "<script") || has_word(text, "javascript:") ||
                                                      has_word(text, "<foreignobject") || has_word(text, "<!entity") || has_handler(text));
}

void check_active(struct run_check *r, const char *file, struct str text)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (text.n >= beginnings[i].n && memcmp(text.p, beginnings[i].bytes, beginnings[i].n) == 0) {
            run_found(r, CHECK_ACTIVE, file, 0, "it is %s", beginnings[i].what);
            return;
        }
    if (is_acting_picture(file, text)) {
        run_found(r, CHECK_ACTIVE, file, 0, "it is a picture with a program in it");
        return;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends_anycase(str_of(file), endings[i])) {
            run_found(r, CHECK_ACTIVE, file, 0, "by its name it is opened as a page, a program, or by a program that runs what is in it");
            return;
        }
}
