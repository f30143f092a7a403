/* active.c: which files may act where they are opened, by name and by content. */
#include "check/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The finding for a file, "" for none. */
static const char *found(const char *file, struct str text)
{
    static char out[300];
    struct arena a;
    struct check_state k = {.arena = &a, .limits.findings = 10};
    struct run_check r = {.k = &k, .path = "run"};
    arena_init(&a, 0);
    check_active(&r, file, text);
    snprintf(out, sizeof out, "%s", k.first ? k.first->text : "");
    arena_deinit(&a);
    return out;
}

struct row {
    const char *file, *text, *expected;
};

static void rows_hold(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = found(rows[i].file, str_of(rows[i].text));
        if (strcmp(got, rows[i].expected) != 0)
            fail_msg("%s \"%s\": \"%s\" instead of \"%s\"", rows[i].file, rows[i].text, got, rows[i].expected);
    }
}
#define ROWS_HOLD(rows) rows_hold(rows, sizeof rows / sizeof *rows)
#define BY_NAME "by its name it is opened as a page, a program, or by a program that runs what is in it"
#define READ_BY "a shell, an editor, a builder or a forge acts upon a file of this name"

static void names(void **state)
{
    static const struct row rows[] = {
        {"a.txt", "text", ""},          {"a.html", "text", BY_NAME},     {"a.HTML", "text", BY_NAME},   {"a.html.txt", "text", ""},
        {"a.gradle", "x", BY_NAME},     {"x/MLmodel", "x", BY_NAME},     {"Makefile", "x", READ_BY},    {"d/pnpmfile.cjs", "x", READ_BY},
        {"makefile.txt", "x", ""},      {".profile", "x", READ_BY},      {"d/.git/config", "x", READ_BY}, {"a.b", "x", ""},
        {"-rf", "x", READ_BY},          {"a$b", "x", READ_BY},           {"a'b", "x", READ_BY},         {"~a", "x", READ_BY},
        {"a~", "x", ""},                {"d/e/f.txt", "x", ""},
    };
    (void)state;
    ROWS_HOLD(rows);
}

static void beginnings(void **state)
{
    static const struct row rows[] = {
        {"a", "\177ELF", "it is a program or library"}, {"a", "\177EL", ""},  {"a", "#!/bin/sh", "it is a script"},
        {"a", " #!/bin/sh", ""},                        {"a", "MZ", "it is a program for Windows"},
        {"a", "\xca\xfe\xba\xbe", "it is a program of Java or macOS"}, {"a", "\x80\x04x", "it is pickled objects of Python"},
        {"a", "\x80\x06", ""},  {"a", "# v2 git bundle", "it is a bundle of git"},
    };
    (void)state;
    ROWS_HOLD(rows);
}

static void documents(void **state)
{
    static const char acts[] = "it is a PDF document with scripts, actions or embedded files", hides[] = "it is a PDF document that hides its objects";
    static const struct row rows[] = {
        {"a.pdf", "%PDF-1.4 plain", ""},         {"a.pdf", "%PDF-1.4 /JS (x)", acts},    {"a.pdf", "junk %PDF-1.4 /aa", acts},
        {"a.pdf", "/JS without the mark", ""},   {"a.pdf", "%PDF-1.4 /ObjStm", hides},   {"a.pdf", "%PDF-1.4 /J#61", hides},
        {"a.pdf", "%PDF-1.4 /J#6g", ""},         {"a.pdf", "%PDF-1.4 J#61", ""},         {"a.pdf", "%PDF-1.4 /Encrypt", hides},
        {"a", "\x93NUMPY {'descr': '|O'}", "it is an array with pickled objects of Python"},
        {"a", "\x93NUMPY {'descr': '<f8'}", ""}, {"a", "PK\3\4 x.npy", "it is stored objects of Python"}, {"a", "PK\3\4 x.txt", ""},
        {"a", "x.pkl", ""},
    };
    (void)state;
    ROWS_HOLD(rows);
}

static void pickles_of_text(void **state)
{
    static const char stored[] = "it is stored objects of Python";
    static const struct row rows[] = {
        {"a", "cos\nsystem\n(S'ls'\ntR.", stored}, {"a", "cos\nsystem\n(S'ls'\ntR", ""}, {"a", "(dp0\nS'a'\nI1\ns.", stored},
        {"a", "(lp0\nI1\na.", stored},             {"a", "0cos\nsystem\n(tR.", stored},  {"a", "xcos\nsystem\n(tR.", ""},
        {"a", "cos system\n(tR.", ""}, {"a", "cos\nsystem\ntRx", ""}, {"a", "c.\n.", ""},             {"a", "code\nname\nis here.", ""},    {"a", "(ios\nsystem\no.", stored},
        {"a", "cos\nsys tem\n(tR.", ""},
    };
    char name[1100];
    (void)state;
    ROWS_HOLD(rows);
    for (int n = 1000; n <= 1001; n++) { /* the search for the end of a name is bounded, else 32,768 names could go on to the end of the file */
        snprintf(name, sizeof name, "c%0*d\nsystem\n(tR.", n, 0);
        assert_string_equal(found("a", str_of(name)), n == 1000 ? stored : "");
    }
}

static void markup(void **state)
{
    static const char style[] = "it is XML with a stylesheet", loads[] = "it is XML that loads other files", page[] = "it is a page";
    char far[6000];
    static const struct row rows[] = {
        {"a.xml", "<?xml-stylesheet href='x'?>", style}, {"a.xml", "<a/><XSL:stylesheet>", style}, {"a.xml", "text <?xml-stylesheet", style},
        {"a.xml", "<!DOCTYPE a SYSTEM \"http://x\">", loads}, {"a.xml", "<!DOCTYPE a SYSTEM 'file:x'>", loads},
        {"a.xml", "<!DOCTYPE a SYSTEM \"a.dtd\">", ""}, {"a.xml", "SYSTEM \"http://x\"", ""},
        {"a.xml", "<a xmlns:x='http://www.w3.org/2001/XInclude'/>", loads}, {"a.xml", "see http://www.w3.org/2001/XInclude", ""},
        {"a.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "it is XML with entities of its own"}, {"a.xml", "<!ENTITY b 'c'>", ""},
        {"a", "x <HTML>", page}, {"a", "x <script>", page}, {"a", "x <htm", ""},
    };
    (void)state;
    ROWS_HOLD(rows);
    for (int bom = 0; bom < 3; bom++) { /* far behind the beginning only markup is searched */
        memset(far, ' ', sizeof far);
        memcpy(far, bom == 0 ? "<a>" : bom == 1 ? "\xef\xbb\xbf<" : "abc", bom == 1 ? 4 : 3);
        memcpy(far + 5000, "<?xml-stylesheet", 16);
        assert_string_equal(found("a.xml", (struct str){far, sizeof far}), bom == 2 ? "" : style);
    }
}

static void pictures_and_tables(void **state)
{
    static const char svg[] = "it is an SVG image that may run code or load other files", table[] = "it is a table with formulas";
    static const struct row rows[] = {
        {"a.svg", "<svg><path d='M0 0'/></svg>", ""}, {"a.svg", "<svg onload='x'>", svg}, {"a.svg", "<svg\nonclick = 'x'>", svg},
        {"a.svg", "<svg on='x'>", ""}, {"a.svg", "<svg ona='x'>", ""}, {"a.svg", "<svg onab='x'>", svg}, {"a.svg", "<svg onload>", ""}, {"a.svg", "<svg xonload='x'>", ""},
        {"a.svg", "<use href='#a'/>", ""}, {"a.svg", "<use href='x.svg'/>", svg}, {"a.svg", "<use href=#a/>", svg},
        {"a.svg", "<use href ='#a'/>", svg}, {"a.svg", "<image href=\"data:image/png;x\"/>", ""}, {"a.svg", "<image href=\"data:image/svg\"/>", svg},
        {"a.svg", "<use href\n='http://x'/>", svg}, {"a.svg", "<use xlink:HREF='//x/y'/>", svg}, {"a.svg", "<text>href is a word</text>", ""},
        {"a.svg", "<rect fill='url(#a)'/>", ""}, {"a.svg", "<g style=\"fill:url('#a')\"/>", ""}, {"a.svg", "<rect fill='url(//x/y)'/>", svg},
        {"a.svg", "<rect fill='URL( http://x )'/>", svg}, {"a.svg", "<rect fill=\"url('https://x')\"/>", svg}, {"a.svg", "url(", svg},
        {"a.svg", "<a>javascript:x</a>", svg}, {"a.png", "<svg onload='x'>", ""},
        {"a.csv", "a,b\n1,-2.5\n", ""}, {"a.csv", "a,=1+1\n", table}, {"a.csv", "a;\" @SUM(1)\"\n", table}, {"a.tsv", "a\t+cmd|x\n", table},
        {"a.tsv", "a\t-cmd\n", ""}, {"a.csv", "-f(1)\n", table}, {"a.csv", "x=1\n", ""}, {"a.txt", "=1+1\n", ""}, {"a.csv", "a,\"=1\"", table},
    };
    (void)state;
    ROWS_HOLD(rows);
}

static void pages_of_text(void **state)
{
    static const char programs[] = "it is a page with programs, or with links to them", images[] = "it is a page that loads images";
    static const struct row rows[] = {
        {"a.md", "# Title", ""},         {"a.md", "![x](y)", images},      {"a.md", "[x](javascript:y)", programs}, {"a.RST", ".. raw:: html", programs},
        {"a.rst", ".. image:: x", images}, {"a.md", "<b onclick=x>", programs}, {"a.txt", "![x](y)", ""},           {"a.asciidoc", "include::x[]", programs},
    };
    (void)state;
    ROWS_HOLD(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),           cmocka_unit_test(beginnings),          cmocka_unit_test(documents),
                                       cmocka_unit_test(pickles_of_text), cmocka_unit_test(markup),              cmocka_unit_test(pictures_and_tables),
                                       cmocka_unit_test(pages_of_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
