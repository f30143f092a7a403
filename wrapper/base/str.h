/* str.h: borrowed text (pointer and length); split, trim, compare, numbers.
 *
 * A struct str owns nothing and need not end in NUL. Foreign text may hold any byte. */
#ifndef BASE_STR_H
#define BASE_STR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)((s).n > 0x7fffffff ? 0x7fffffff : (s).n), ((s).p ? (s).p : "")

static inline struct str str_of(const char *z) /* z may be NULL: empty */
{
    return (struct str){z ? z : "", z ? strlen(z) : 0};
}
/* Returns the text after the last '/' of a path; the complete path where that is empty. NULL: "".
 * Points into the path. */
static inline const char *str_base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path ? path : "";
}
/* Returns the end of a noun behind a number: "1 run", "2 runs". */
static inline const char *str_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static inline char str_lower(char c) /* of ASCII, whatever the locale */
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}
static inline bool str_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool str_is_letter(char c) /* of ASCII */
{
    return str_lower(c) >= 'a' && str_lower(c) <= 'z';
}
static inline bool str_is_blank(char c) /* within a line: blank or tab */
{
    return c == ' ' || c == '\t';
}
/* Returns whether the text is n digits 0-9 a-f and nothing else. 32: the id of a run. */
bool str_hex(struct str s, size_t n);
/* Returns the value of a hexadecimal digit of either case; -1: it is none. */
int str_hex_digit(char c);
static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool str_is(struct str a, const char *z)
{
    return str_eq(a, str_of(z));
}
bool str_is_anycase(struct str a, const char *z); /* ASCII letters are the same in either case */
bool str_ends_anycase(struct str s, const char *z);
/* Compares in byte order; a text that begins another one is smaller. */
int str_cmp(struct str a, struct str b);
/* Compares as people expect names with numbers in them: b16 before b1024, 0.25 before 0.5, 4k
 * before 1m (binary multiples). Texts that have the same numbers follow in byte order, so that 0
 * means equal. */
int str_natural(const char *a, const char *b);
/* Compares as str_natural does, for qsort of char pointers. */
int str_natural_order(const void *a, const void *b);
bool str_starts(struct str s, const char *z);
/* Returns the distance between a typed word and a name, for "did you mean": the number of
 * single-character changes, or 1 where the word is a beginning of three characters or more. Names
 * of more than 40 characters are far from all. */
unsigned str_distance(struct str typed, struct str name);
bool str_ends(struct str s, const char *z);
bool str_has(struct str s, const char *z);
/* Returns the offset of the first z in s, 0 for an empty z; -1: there is none. */
ptrdiff_t str_find(struct str s, struct str z);
/* Returns s without blanks, tabs, CR and LF at both ends. */
struct str str_trim(struct str s);
/* Returns n bytes of s from an offset, as far as s has them. */
struct str str_sub(struct str s, size_t from, size_t n);
/* Cuts the text before the first `sep` off *rest and returns it; *rest moves behind the
 * separator. At the end returns the remainder and sets rest->p to NULL. */
struct str str_cut(struct str *rest, char sep);
/* Returns the next run of non-blank characters (blank, tab, CR, LF separate); n == 0 at the end. */
struct str str_word(struct str *rest);
/* Returns whether the word is one of `words`, which blanks separate. NULL has none. */
bool str_has_word(const char *words, struct str word);

/* Read a number, which all of s (no blanks around) must be; else false, and *ret is unchanged. The
 * locale has no effect. str_double accepts what strtod accepts in the locale C without hexadecimal:
 * also inf and nan, and a number that is too large as infinity. */
bool str_int(struct str s, int64_t *ret);
bool str_uint(struct str s, uint64_t *ret);
bool str_double(struct str s, double *ret);
/* Reads a number in base 8 or 16, as the kernel's files have them; 0x is accepted in base 16. */
bool str_based(struct str s, unsigned base, uint64_t *ret);
/* Reads a duration in seconds: "5", "1.5s", "250ms", "2m", "1h", "1d", "100us"; no unit:
 * seconds. */
bool str_duration(struct str s, double *ret_seconds);
/* Reads a size in bytes: "4096", "64K", "64KiB", "1M", "1g", as binary multiples. */
bool str_size(struct str s, uint64_t *ret_bytes);

/* Returns the length of the valid UTF-8 sequence at p (1..4), 0 if there is none. No surrogates, no
 * overlong forms. */
size_t str_utf8(const char *p, size_t n);
bool str_valid_utf8(struct str s);
/* Returns whether the text, which is UTF-8, has nothing that a terminal obeys or that changes how
 * it is shown: control characters but LF, CR and tab, embeddings, overrides and isolates (U+202A to
 * U+202E, U+2066 to U+2069). utf8_is_direction has single marks too, which names may contain. */
bool str_is_plain(struct str s);
/* Overwrites such characters with blanks; the length stays. */
void str_make_plain(char *p, size_t n);
#endif
