/* names.c: check for names of files and folders that some system refuses, changes, or misreads.
 *
 * git's own refusals of ".git" in its forms on HFS+ (code points that are ignored) and NTFS (short
 * names, trailing dots and blanks, streams) are
 * in gitformat documentation of core.protectHFS and core.protectNTFS; reserved device names in Microsoft's "Naming Files, Paths, and Namespaces". */
#include "check/parts.h"

#include <stdio.h>
#include <strings.h>

enum { COMPONENT_MAX = 255 };

/* Returns the code point at *at, and moves *at behind it. A byte that is not UTF-8 counts as
 * one. */
static uint32_t next_character(struct str s, size_t *at)
{
    size_t n = str_utf8(s.p + *at, s.n - *at);
    const unsigned char *p = (const unsigned char *)s.p + *at;
    *at += n ? n : 1;
    switch (n) {
    case 2: return (uint32_t)(p[0] & 31) << 6 | (p[1] & 63);
    case 3: return (uint32_t)(p[0] & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63);
    case 4: return (uint32_t)(p[0] & 7) << 18 | (uint32_t)(p[1] & 63) << 12 | (uint32_t)(p[2] & 63) << 6 | (p[3] & 63);
    default: return p[0];
    }
}

/* Returns whether the code point is invisible, joins letters or changes the direction: with it a
 * name resembles another one. HFS+ ignores most of them. */
static bool is_invisible(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0xad ||
           (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0000 && c <= 0xe0fff) || c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0 ||
           c == 0x180e || c == 0x61c;
}

/* Ranges of letters whose small form is `by` behind, or, where by is 1 or -1, next to each second
 * one (1: even numbers are the large ones). */
static const struct {
    uint32_t from, to;
    int32_t by;
} cases[] = {{'A', 'Z', 32},      {0xc0, 0xd6, 32},     {0xd8, 0xde, 32},     {0x100, 0x12f, 1},      {0x132, 0x137, 1},
             {0x139, 0x148, -1},  {0x14a, 0x177, 1},    {0x179, 0x17e, -1},   {0x1cd, 0x1dc, -1},     {0x1de, 0x1ef, 1},
             {0x1f8, 0x21f, 1},   {0x222, 0x233, 1},    {0x370, 0x373, 1},    {0x388, 0x38a, 37},     {0x391, 0x3ab, 32},
             {0x3d8, 0x3ef, 1},   {0x400, 0x40f, 80},   {0x410, 0x42f, 32},   {0x460, 0x481, 1},      {0x48a, 0x4bf, 1},
             {0x4c1, 0x4ce, -1},  {0x4d0, 0x52f, 1},    {0x531, 0x556, 48},   {0x10a0, 0x10c5, 7264}, {0x1e00, 0x1e95, 1},
             {0x1ea0, 0x1eff, 1}, {0x2160, 0x216f, 16}, {0x24b6, 0x24cf, 26}, {0x2c00, 0x2c2f, 48},   {0xa640, 0xa66d, 1},
             {0xa722, 0xa72f, 1}, {0xa732, 0xa76f, 1},  {0xff21, 0xff3a, 32}, {0x10400, 0x10427, 40}};

/* Single letters: some system stores or finds one under the name of the other. */
static const struct {
    uint32_t is;
    const char *as;
} letters[] = {{0x178, "<ff>"},  {0x17f, "s"},     {0xdf, "ss"},      {0x1e9e, "ss"},   {0xb5, "<3bc>"},  {0x3c2, "<3c3>"},
               {0x130, "i"},     {0x386, "<3ac>"}, {0x38c, "<3cc>"},  {0x38e, "<3cd>"}, {0x38f, "<3ce>"}, {0x3d0, "<3b2>"},
               {0x3d1, "<3b8>"}, {0x3d5, "<3c6>"}, {0x3d6, "<3c0>"},  {0x3f0, "<3ba>"}, {0x3f1, "<3c1>"}, {0x3f5, "<3b5>"},
               {0x212a, "k"},    {0x212b, "<e5>"}, {0x2126, "<3c9>"}, {0xfb00, "ff"},   {0xfb01, "fi"},   {0xfb02, "fl"},
               {0xfb03, "ffi"},  {0xfb04, "ffl"},  {0xfb05, "st"},    {0xfb06, "st"}};

static uint32_t fold_case(uint32_t c)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (c < cases[i].from || c > cases[i].to)
            continue;
        return cases[i].by == 1 ? c | 1 : cases[i].by == -1 ? (c + 1) & ~1u : c + (uint32_t)cases[i].by;
    }
    return c;
}

/* Returns the ASCII letters that the code point resembles; NULL: not in the table. */
static const char *folded_letter(uint32_t c)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].is == c)
            return letters[i].as;
    return NULL;
}

const char *check_name_folded(struct str name, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 * name.n + 64);
    for (size_t i = 0; i < name.n;) {
        uint32_t was = next_character(name, &i), c = fold_case(was);
        const char *as = was < 0x80 ? NULL : folded_letter(was);
        if (is_invisible(c) || (c >= 0x300 && c <= 0x36f)) /* combining marks of letters */
            continue;
        if (as)
            buf_puts(&b, as);
        else if (c < 0x80)
            buf_putc(&b, (char)c);
        else
            buf_printf(&b, "<%x>", c);
    }
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Returns whether the name is a short one that NTFS makes of one of git's files: the first six
 * letters and a number, or, where those exist already, two letters and four digits of a sum. */
static bool is_short_name(const char *name, size_t n)
{
    static const char *const words[] = {"gitatt", "gitmod", "gitign", "mailma", "gi7d29", "gi7eba", "gi250a", "maba30"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == 8 && strncmp(name, words[i], 6) == 0 && name[6] == '~' && name[7] >= '1' && name[7] <= '9')
            return true;
    return false;
}

/* Returns whether git, HFS+ or NTFS reads the name as one of git's files. `folded`: of
 * check_name_folded, without invisible characters and in lower case. */
static bool is_git(const char *folded)
{
    static const char *const words[] = {".git", "git~1", ".gitattributes", ".gitmodules", ".gitignore", ".mailmap", ".lfsconfig"};
    size_t n = strcspn(folded, ":"); /* NTFS: a stream of the file */
    while (n && (folded[n - 1] == '.' || folded[n - 1] == ' '))
        n--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncmp(folded, words[i], n) == 0)
            return true;
    return is_short_name(folded, n);
}

bool check_name_is_gits(struct str name)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    const char *folded = check_name_folded(name, &a);
    bool is = !folded || is_git(folded);
    arena_deinit(&a);
    return is;
}

/* Returns true if the name, up to its first dot, is reserved for a device on Windows, such as "con"
 * or "com1". */
static bool is_device(struct str name)
{
    static const char *const words[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"};
    static const char *const digits[] = {"\xc2\xb9", "\xc2\xb2", "\xc2\xb3"}; /* of an exponent: 1, 2, 3 */
    const char *dot = memchr(name.p, '.', name.n);
    size_t n = dot ? (size_t)(dot - name.p) : name.n;
    while (n && name.p[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is_anycase(str_sub(name, 0, n), words[i]))
            return true;
    if (n < 4 || (strncasecmp(name.p, "com", 3) != 0 && strncasecmp(name.p, "lpt", 3) != 0))
        return false;
    for (size_t i = 0; n == 5 && i < sizeof digits / sizeof *digits; i++)
        if (memcmp(name.p + 3, digits[i], 2) == 0)
            return true;
    return n == 4 && name.p[3] >= '1' && name.p[3] <= '9';
}

/* Returns what the first unsuitable character of a name is, a static text; NULL: there is none. */
static const char *bad_character(struct str name)
{
    for (size_t i = 0; i < name.n;) {
        uint32_t c = next_character(name, &i);
        if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            return "a control character";
        if (c < 0x80 && strchr("\\:%#?*\"<>|", (int)c))
            return "one of \\ : % # ? * \" < > |";
        if (is_invisible(c))
            return "a character that is invisible or changes the direction";
        if (c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 ||
            c == 0x1680)
            return "a blank that is no blank";
        if ((c >= 0xe000 && c <= 0xf8ff) || c >= 0xf0000)
            return "a character that is not the same for everybody";
        if ((c >= 0x300 && c <= 0x36f) || (c >= 0x1100 && c <= 0x11ff))
            return "a letter composed of parts, which some systems store otherwise";
    }
    return NULL;
}

bool check_file_name(struct check_state *k, struct str name, const char *path)
{
    struct arena a;
    const char *bad;
    if (name.n == 0 || memchr(name.p, '/', name.n) || str_is(name, ".") || str_is(name, "..")) {
        check_found(k, CHECK_NAME, path, 0, "the name \"" STR_FMT "\" leads elsewhere", STR_ARG(name));
        return false;
    }
    arena_init(&a, 1 << 20);
    const char *folded = check_name_folded(name, &a);
    if (name.n > COMPONENT_MAX)
        check_found(k, CHECK_NAME, path, 0, "the name has %zu bytes; file systems hold %d", name.n, COMPONENT_MAX);
    else if (!folded || is_git(folded))
        check_found(k, CHECK_NAME, path, 0, "git, or a system it runs on, treats this name as a file of git's own");
    else if (!str_valid_utf8(name))
        check_found(k, CHECK_NAME, path, 0, "the name is not UTF-8");
    else if ((bad = bad_character(name)))
        check_found(k, CHECK_NAME, path, 0, "the name has %s", bad);
    else if (name.p[name.n - 1] == '.' || name.p[name.n - 1] == ' ' || name.p[0] == ' ')
        check_found(k, CHECK_NAME, path, 0, "the name begins or ends in a blank or ends in a dot, which is lost on Windows");
    else if (is_device(name))
        check_found(k, CHECK_NAME, path, 0, "the name is a device on Windows");
    arena_deinit(&a);
    return true;
}
