/* names.c: names of files and folders that some system refuses, changes, or takes for something else.
 *
 * git's own refusals of ".git" in its forms on HFS+ (code points that are passed over) and NTFS (short names, trailing dots and blanks, streams) are
 * in gitformat documentation of core.protectHFS and core.protectNTFS; reserved device names in Microsoft's "Naming Files, Paths, and Namespaces". */
#include "check/parts.h"

#include <stdio.h>
#include <strings.h>

enum { COMPONENT_MAX = 255 };

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

/* Written from right to left, joined, or nothing to be seen at all: a name that shows as another. HFS+ passes most of these over. */
static bool is_invisible(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0xad ||
           (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0000 && c <= 0xe0fff);
}

static uint32_t fold(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if (c == 0x212a || c == 0x212b) /* the signs of kelvin and angstrom, which HFS+ stores as the letters */
        return c == 0x212a ? 'k' : 0xe5;
    if (c >= 0x100 && c <= 0x17e) /* pairs of upper and lower case */
        return c | 1;
    return c;
}

const char *check_name_folded(struct str name, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 * name.n + 64);
    for (size_t i = 0; i < name.n;) {
        uint32_t c = fold(next_character(name, &i));
        if (is_invisible(c) || (c >= 0x300 && c <= 0x36f)) /* marks of letters that are put together */
            continue;
        if (c < 0x80)
            buf_putc(&b, (char)c);
        else
            buf_printf(&b, "<%x>", c);
    }
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* ".git" for somebody: git, HFS+, NTFS. The folded name has no invisible characters and lower case. */
static bool is_git(const char *folded)
{
    static const char *const words[] = {".git",     "git~1",    ".gitattributes", ".gitmodules", ".gitignore",
                                        ".mailmap", "gitatt~1", "gitmod~1",       "gitign~1"};
    size_t n = strcspn(folded, ":"); /* NTFS: a stream of the file */
    while (n && (folded[n - 1] == '.' || folded[n - 1] == ' '))
        n--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncmp(folded, words[i], n) == 0)
            return true;
    return false;
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

static bool is_device(struct str name)
{
    static const char *const words[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
    const char *dot = memchr(name.p, '.', name.n);
    size_t n = dot ? (size_t)(dot - name.p) : name.n;
    while (n && name.p[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncasecmp(name.p, words[i], n) == 0)
            return true;
    return n == 4 && (strncasecmp(name.p, "com", 3) == 0 || strncasecmp(name.p, "lpt", 3) == 0) && name.p[3] >= '1' && name.p[3] <= '9';
}

static const char *bad_character(struct str name)
{
    for (size_t i = 0; i < name.n;) {
        uint32_t c = next_character(name, &i);
        if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            return "a control character";
        if (c < 0x80 && strchr("\\:%#?*\"<>|", (int)c))
            return "one of \\ : % # ? * \" < > |";
        if (is_invisible(c))
            return "a character that is not seen or changes the direction";
        if (c >= 0x300 && c <= 0x36f)
            return "a letter put together of parts, which some systems store otherwise";
    }
    return NULL;
}

bool check_name(struct check *k, struct str name, const char *path)
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
        check_found(k, CHECK_NAME, path, 0, "git, or a system it runs on, takes this name for a file of git's own");
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
