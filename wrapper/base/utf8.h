/* utf8.h: the code point of a character in UTF-8. str_utf8 says whether bytes are one. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H
#include <stddef.h>
#include <stdint.h>

/* Of the character at p, k bytes (1 to 4) of valid UTF-8. */
static inline uint32_t utf8_code_point(const char *p, size_t k)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)p[0] & masks[k];
    for (size_t i = 1; i < k; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}
#endif
