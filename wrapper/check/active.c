/* active.c: files that act where they are opened: in MLflow's pages, in a browser, in a Python that loads them. */
#include "check/parts.h"

#include <ctype.h>
#include <strings.h>

/* Endings, and complete names of files, in small letters. */
static const char *const endings[] = {
    ".html",     ".htm",     ".xhtml", ".js",          ".mjs",  ".wasm",    ".pkl",      ".pickle", ".joblib",
    ".pt",       ".pth",     ".h5",    ".exe",         ".dll",  ".bat",     ".cmd",      ".ps1",    ".vbs",
    ".scr",      ".lnk",     ".url",   ".desktop",     ".jar",  ".hta",     ".xlsm",     ".docm",   ".ipynb",
    "/mlmodel",  ".npz",     ".xsl",   ".xslt",        ".py",   ".sh",      ".bash",     ".zsh",    ".pl",
    ".rb",       ".hdf5",    ".inf",   ".class",       ".so",   ".dylib",   ".rdata",    ".rds",    ".ckpt",
    ".keras",    ".mat",     ".ps",    ".eps",         ".tex",  ".gp",      ".gnuplot",  ".plt",    ".webloc",
    ".scf",      ".iqy",     ".slk",   ".xlsx",        ".xls",  ".docx",    ".doc",      ".odt",    ".ods",
    ".pptx",     ".rtf",     ".reg",   ".chm",         ".msi",  ".dmg",     ".pkg",      ".deb",    ".rpm",
    ".appimage", ".whl",     ".egg",   ".pyc",         ".mht",  ".mhtml",   ".swf",      ".svgz",   ".code-workspace",
    ".el",       ".org",     ".vim",   ".lua",         ".php",  ".r",       ".jl",       ".m",      ".nb",
    ".sqlite",   ".eml",     ".msg",   ".ics",         ".csh",  ".ksh",     ".fish",     ".awk",    ".tcl",
    ".expect",   ".service", ".timer", ".applescript", ".scpt", ".command", ".workflow", ".action", ".stp",
    ".bt",       ".nix",     ".gradle"};
/* Files that a shell, an editor, a builder or a forge reads by itself where they are found; a name that begins with a dot is one of them. */
static const char *const read_by_name[] = {
    "makefile",     "gnumakefile", "cmakelists.txt", "dockerfile",         "containerfile",       "jenkinsfile",  "vagrantfile",
    "rakefile",     "gemfile",     "package.json",   "setup.cfg",          "pyproject.toml",      "pytest.ini",   "tox.ini",
    "desktop.ini",  "mlproject",   "meson.build",    "build.gradle",       "cargo.toml",          "_config.yml",  "build",
    "build.bazel",  "workspace",   "module.bazel",   "sconstruct",         "sconscript",          "wscript",      "justfile",
    "taskfile.yml", "procfile",    "action.yml",     "action.yaml",        "snakefile",           "pom.xml",      "build.rs",
    "go.mod",       "go.work",     "composer.json",  "configure",          "makefile.am",         "configure.ac", "earthfile",
    "tiltfile",     "compose.yml", "compose.yaml",   "docker-compose.yml", "docker-compose.yaml", "ansible.cfg",  "mise.toml",
    "devbox.json",  "codeowners",  "binding.gyp",    "deno.json",          "bunfig.toml",         "pnpmfile.cjs"};
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

static bool active_has_word(struct str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (strncasecmp(text.p + i, word, n) == 0)
            return true;
    return false;
}

static bool has_any_word(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (active_has_word(text, *words))
            return true;
    return false;
}

/* Returns whether an element of a page or picture has a program for when something happens to
 * it: " onload=". */
static bool has_handler(struct str text)
{
    for (size_t i = 0; i + 4 < text.n; i++) {
        size_t at = i + 3;
        if ((!isspace((unsigned char)text.p[i]) && !strchr("/\"'", text.p[i])) || strncasecmp(text.p + i + 1, "on", 2) != 0)
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

/* Returns whether the text begins with an address in the picture itself, with or without a quote
 * before it. */
static bool begins_inner_address(struct str text, bool *ret_quoted)
{
    static const char *const inner[] = {"#", "data:image/png", "data:image/jpeg"};
    *ret_quoted = text.n > 0 && (text.p[0] == '"' || text.p[0] == '\'');
    text = str_sub(text, *ret_quoted, text.n);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        if (str_starts(text, inner[i]))
            return true;
    return false;
}

/* Returns whether a picture has an address that leads out of it, in an attribute "href" or in
 * "url(…)". An attribute that is written in an unusual way counts as one. */
static bool has_foreign_reference(struct str text)
{
    bool quoted;
    for (size_t i = 0; i + 4 <= text.n; i++) {
        size_t at = i + 4;
        if (strncasecmp(text.p + i, "url(", 4) == 0 && !begins_inner_address(str_sub(text, at, text.n), &quoted))
            return true;
        if (strncasecmp(text.p + i, "href", 4) != 0)
            continue;
        while (at < text.n && isspace((unsigned char)text.p[at]))
            at++;
        if (at < text.n && text.p[at] == '=' && (at > i + 4 || !begins_inner_address(str_sub(text, at + 1, text.n), &quoted) || !quoted))
            return true;
    }
    return false;
}

/* Pictures of taskrate and llmload are SVG, and do nothing. */
static bool is_acting_picture(const char *file, struct str text)
{
    static const char *const words[] = {"<script",  "javascript:", "foreignobject", "<!entity", "<iframe", "<set",
                                        "<animate", "&#",          "&colon;",       "@import",  NULL};
    return str_ends_anycase(str_of(file), ".svg") && (has_any_word(text, words) || has_handler(text) || has_foreign_reference(text));
}

/* Returns whether a shell, an editor, a builder or a forge acts upon a file of this path: by the
 * name itself, or below a folder whose name begins with a dot. */
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

enum { PICKLE_NAME_MAX = 1000 /* bytes of a module's or an object's name: longer ones cannot be loaded */ };

/* Returns whether the text begins with two lines of one name each, as a Python pickle in text form
 * may. */
static bool has_two_names(struct str text)
{
    for (int i = 0; i < 2; i++) {
        size_t n = 0;
        while (n < text.n && n <= PICKLE_NAME_MAX && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_' || text.p[n] == '.'))
            n++;
        if (n == 0 || n == text.n || n > PICKLE_NAME_MAX || text.p[n] != '\n')
            return false;
        text = str_sub(text, n + 1, text.n);
    }
    return true;
}

/* Returns whether the text is a pickle of protocol 0, which has no mark of its own: it ends as
 * one, and begins as one or has a global in its first 64 KiB ("cos\nsystem\n"). */
static bool is_text_pickle(struct str text)
{
    text = str_trim(text);
    if (text.n < 6 || text.p[text.n - 1] != '.')
        return false;
    if (str_starts(text, "(dp0\n") || str_starts(text, "(lp0\n"))
        return true;
    for (size_t i = 0; i < text.n && i < 65536; i++)
        if (strchr("ci", text.p[i]) && (i == 0 || strchr("(\n0", text.p[i - 1])) && strchr("Rob\n", text.p[text.n - 2]) &&
            has_two_names(str_sub(text, i + 1, text.n)))
            return true;
    return false;
}

/* Returns whether the text has a cell that a spreadsheet would compute: "=cmd|…", "+cmd|…", but not
 * "-1.5". */
static bool has_formula(struct str text)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        while (line.p) {
            size_t n = 0;
            double number;
            while (n < line.n && !strchr(",;\t", line.p[n]))
                n++;
            struct str cell = str_trim(str_sub(line, 0, n));
            line = n < line.n ? str_sub(line, n + 1, line.n) : (struct str){NULL, 0};
            while (cell.n > 0 && strchr("\"' ", cell.p[0]))
                cell = str_sub(cell, 1, cell.n);
            while (cell.n > 0 && cell.p[cell.n - 1] == '"')
                cell.n--;
            if (cell.n > 0 && (strchr("=@", cell.p[0]) || (strchr("+-", cell.p[0]) && !str_double(cell, &number) &&
                                                           (memchr(cell.p, '|', cell.n) || memchr(cell.p, '(', cell.n)))))
                return true;
        }
    }
    return false;
}

/* Returns what a file of this kind does when it is shown, a static text. NULL: nothing. */
static const char *acting_kind(const char *file, struct str text)
{
    struct str name = str_of(file);
    if ((str_ends_anycase(name, ".csv") || str_ends_anycase(name, ".tsv")) && has_formula(text))
        return "a table with formulas";
    static const char *const endings_of_pages[] = {".md", ".markdown", ".mkd", ".mdown", ".mdx", ".rst", ".adoc", ".asciidoc"};
    static const char *const programs[] = {"javascript:", "vbscript:", "data:text", "&#",        "<iframe", "<object", "<embed",
                                           "<form",       "<input",    "<style",    "include::", "raw::",   NULL};
    static const char *const images[] = {"![", "<img", "<svg", "<picture", "<source", "<video", "<audio", "image::", "image:", NULL};
    bool is_page = false;
    for (size_t i = 0; i < sizeof endings_of_pages / sizeof *endings_of_pages; i++)
        is_page |= str_ends_anycase(name, endings_of_pages[i]);
    if (!is_page)
        return NULL;
    if (has_any_word(text, programs) || has_handler(text))
        return "a page with programs, or with links to them";
    return has_any_word(text, images) ? "a page that loads images" : NULL;
}

/* Returns whether a PDF document has a name with a letter spelt "#4a". */
static bool has_spelt_name(struct str text)
{
    for (size_t i = 0; i + 3 < text.n; i++) {
        if (text.p[i] != '/')
            continue;
        for (size_t k = i + 1; k + 2 < text.n && (isalnum((unsigned char)text.p[k]) || text.p[k] == '#'); k++)
            if (text.p[k] == '#' && isxdigit((unsigned char)text.p[k + 1]) && isxdigit((unsigned char)text.p[k + 2]))
                return true;
    }
    return false;
}

/* Returns what is wrong with the content, whatever the file's name is: it would run something or
 * load other files. NULL: nothing. The text is constant. */
static const char *acting_content(struct str text)
{
    static const char *const objects[] = {"'|O", "\"|O", "'O'", "\"O\"", "object", NULL};
    static const char *const acts[] = {"/JavaScript", "/JS",           "/Launch",    "/OpenAction", "/AA",
                                       "/SubmitForm", "/EmbeddedFile", "/RichMedia", NULL};
    static const char *const hides[] = {"/ObjStm", "/Encrypt", NULL};
    static const char *const foreign[] = {
        "SYSTEM \"http", "SYSTEM 'http", "SYSTEM \"file", "SYSTEM 'file", "SYSTEM \"ftp", "SYSTEM 'ftp", NULL};
    struct str head = str_sub(text, 0, 4096);
    if (str_starts(text, "\x93NUMPY") && has_any_word(str_sub(text, 0, 65536), objects))
        return "an array with pickled objects of Python";
    bool is_pdf = active_has_word(str_sub(text, 0, 1024), "%PDF-");
    if (is_pdf && has_any_word(text, acts))
        return "a PDF document with scripts, actions or embedded files";
    if (is_pdf && (has_any_word(text, hides) || has_spelt_name(text)))
        return "a PDF document that hides its objects";
    if (is_text_pickle(text) || (str_starts(text, "PK\3\4") && (active_has_word(text, ".pkl") || active_has_word(text, ".npy"))))
        return "stored objects of Python";
    struct str begin = str_trim(head);
    bool is_markup = begin.n == 0 || begin.p[0] == '<' || str_starts(begin, "\xef\xbb\xbf<");
    if (active_has_word(is_markup ? text : head, "<?xml-stylesheet") || active_has_word(is_markup ? text : head, "<xsl:stylesheet"))
        return "XML with a stylesheet";
    if ((active_has_word(head, "<!doctype") && has_any_word(head, foreign)) ||
        (is_markup && active_has_word(text, "http://www.w3.org/2001/XInclude")))
        return "XML that loads other files";
    if (active_has_word(head, "<!doctype") && active_has_word(head, "<!entity"))
        return "XML with entities of its own";
    if (active_has_word(head, "<html") || active_has_word(head, "<script"))
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
        run_found(r, CHECK_ACTIVE, file, 0, "it is an SVG image that may run code or load other files");
        return;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends_anycase(str_of(file), endings[i])) {
            run_found(r, CHECK_ACTIVE, file, 0, "by its name it is opened as a page, a program, or by a program that runs what is in it");
            return;
        }
}
