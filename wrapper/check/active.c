/* active.c: files that act where they are opened: in MLflow's pages, in a browser, in a Python that loads them. */
#include "check/parts.h"

#include <ctype.h>
#include <strings.h>

/* Endings, and the names of whole files, in small letters. */
static const char *const endings[] = {
    ".html", ".htm", ".xhtml", ".js",  ".mjs", ".wasm", ".pkl", ".pickle",  ".joblib", ".pt",   ".pth",  ".h5",    ".exe",   ".dll",
    ".bat",  ".cmd", ".ps1",   ".vbs", ".scr", ".lnk",  ".url", ".desktop", ".jar",    ".hta",  ".xlsm", ".docm",  ".ipynb", "/mlmodel",
    ".npz",  ".xsl", ".xslt",  ".py",  ".sh",  ".bash", ".zsh", ".pl",      ".rb",     ".hdf5", ".inf",  ".class", ".so",    ".dylib"};
/* Files that a shell, an editor, a builder or a forge reads by itself where they are found; a name that begins with a dot is one of them. */
static const char *const read_by_name[] = {"makefile",    "gnumakefile",    "cmakelists.txt", "dockerfile", "containerfile",
                                           "jenkinsfile", "vagrantfile",    "rakefile",       "gemfile",    "package.json",
                                           "setup.cfg",   "pyproject.toml", "pytest.ini",     "tox.ini",    "desktop.ini",
                                           "mlproject",   "meson.build",    "build.gradle",   "cargo.toml", "_config.yml"};
static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} beginnings[] = {{"\177ELF", 4, "a program or library"},
                  {"MZ\x90", 3, "a program for Windows"},
                  {"\xcf\xfa\xed\xfe", 4, "a program for macOS"},
                  {"\0asm", 4, "WebAssembly"},
                  {"\x80\x02", 2, "pickled objects of Python"},
                  {"\x80\x03", 2, "pickled objects of Python"},
                  {"\x80\x04", 2, "pickled objects of Python"},
                  {"\x80\x05", 2, "pickled objects of Python"},
                  {"#!", 2, "a script"},
                  {"MZ", 2, "a program for Windows"},
                  {"\xca\xfe\xba\xbe", 4, "a program of Java or macOS"},
                  {"# v2 git bundle", 15, "a bundle of git"},
                  {"# v3 git bundle", 15, "a bundle of git"}};

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

static bool acts_by_name(const char *file)
{
    const char *base = str_base_name(file);
    if (strchr(".-~", base[0]) || strpbrk(base, "$`;&'()!"))
        return true;
    for (size_t i = 0; i < sizeof read_by_name / sizeof *read_by_name; i++)
        if (strcasecmp(base, read_by_name[i]) == 0)
            return true;
    for (const char *p = file; (p = strchr(p, '/')); p++)
        if (p[1] == '.')
            return true;
    return false;
}

/* "cos\nsystem\n": a global of protocol 0, which has no mark of its own. */
static bool is_text_pickle(struct str text)
{
    size_t words = 0, at = 1;
    if (text.n < 6 || text.p[0] != 'c' || text.p[text.n - 1] != '.')
        return text.n > 6 && (str_starts(text, "(dp0\n") || str_starts(text, "(lp0\n")) && text.p[text.n - 1] == '.';
    for (; words < 2 && at < text.n; words++, at++) {
        size_t from = at;
        while (at < text.n && (isalnum((unsigned char)text.p[at]) || text.p[at] == '_' || text.p[at] == '.'))
            at++;
        if (at == from || at == text.n || text.p[at] != '\n')
            return false;
    }
    return words == 2;
}

/* A cell that a spreadsheet works out: "=cmd|…". */
static bool has_formula(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((text.p[i] == '=' || text.p[i] == '@') && (i == 0 || strchr("\n,;\t\"", text.p[i - 1])))
            return true;
    return false;
}

/* What a file of this kind does when it is shown; NULL: nothing. */
static const char *acting_kind(const char *file, struct str text)
{
    struct str name = str_of(file);
    if ((str_ends_anycase(name, ".csv") || str_ends_anycase(name, ".tsv")) && has_formula(text))
        return "a table with formulas";
    if (!str_ends_anycase(name, ".md") && !str_ends_anycase(name, ".markdown"))
        return NULL;
    if (has_word(text, "javascript:"))
        return "a page with a link to a program";
    return has_word(text, "![") || has_word(text, "<img") ? "a page that loads images" : NULL;
}

/* What is wrong with the content, whatever the file is called; NULL: nothing. */
static const char *acting_content(struct str text)
{
    struct str head = str_sub(text, 0, 4096);
    if (str_starts(text, "\x93NUMPY") && (has_word(str_sub(text, 0, 200), "'|O'") || has_word(str_sub(text, 0, 200), "'O'")))
        return "an array with pickled objects of Python";
    if (has_word(str_sub(text, 0, 1024), "%PDF-") && (has_word(text, "/JavaScript") || has_word(text, "/JS") || has_word(text, "/Launch") ||
                                                      has_word(text, "/OpenAction") || has_word(text, "/J#") || has_word(text, "/#4a")))
        return "a PDF document that acts when it is opened";
    if (is_text_pickle(text) || (str_starts(text, "PK\3\4") && (has_word(text, ".pkl") || has_word(text, ".npy"))))
        return "stored objects of Python";
    if (has_word(head, "<?xml-stylesheet") || has_word(head, "<xsl:stylesheet"))
        return "XML with a stylesheet";
    if (has_word(head, "<!doctype") && has_word(head, "<!entity"))
        return "XML with entities of its own";
    if (has_word(head, "<html") || has_word(head, "<script"))
        return "a page";
    return NULL;
}

void check_active(struct run_check *r, const char *file, struct str text)
{
    const char *acts = acting_content(text);
    acts = acts ? acts : acting_kind(file, text);
    if (acts) {
        run_found(r, CHECK_ACTIVE, file, 0, "it is %s", acts);
        return;
    }
    if (acts_by_name(file)) {
        run_found(r, CHECK_ACTIVE, file, 0, "a shell, an editor, a builder or a forge acts upon a file of this name");
        return;
    }
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
