/* utf8.h: the characters of text in UTF-8. str_utf8 and str_valid_utf8 test whether bytes are
 * valid. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H
#include "base/str.h"

#include <stdint.h>

/* Returns the code point of the character at p, k bytes (1 to 4) of valid UTF-8. */
static inline uint32_t utf8_code_point(const char *p, size_t k)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)p[0] & masks[k];
    for (size_t i = 1; i < k; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

/* Returns whether the character changes the direction of text, or ends a line for some readers:
 * marks, embeddings, overrides and isolates; U+2028, U+2029. */
static inline bool utf8_is_direction(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Returns whether the byte is one behind the first of a character. */
static inline bool utf8_is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Returns how many bytes of the text, at most `max`, do not end within a character. */
static inline size_t utf8_cut(struct str text, size_t max)
{
    size_t n = max < text.n ? max : text.n;
    while (n > 0 && n < text.n && utf8_is_inside(text.p[n]))
        n--;
    return n;
}

/* Returns how many characters the text has. */
static inline size_t utf8_count(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += !utf8_is_inside(text.p[i]);
    return n;
}
#endif
