/* filter_chars.c: Unicode characters as Python's regular expressions classify them. */
#include "filter/filter_parts.h"
#include "base/utf8.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

static pthread_once_t chars_once = PTHREAD_ONCE_INIT;
static locale_t chars_locale; /* 0: the C library has no UTF-8 without the user's locales; ASCII alone is known */

static void chars_open(void)
{
    chars_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

size_t filter_char(const char *p, size_t n, uint32_t *ret)
{
    size_t k = str_utf8(p, n);
    if (k == 0) {
        *ret = 0x110000u + (unsigned char)*p; /* equal to nothing but itself */
        return 1;
    }
    *ret = utf8_code_point(p, k);
    return k;
}

static uint32_t char_lower(uint32_t c)
{
    if (c < 0x80)
        return (unsigned char)str_lower((char)c);
    pthread_once(&chars_once, chars_open);
    return chars_locale && c < 0x110000 ? (uint32_t)towlower_l((wint_t)c, chars_locale) : c;
}

/* Characters of one upper case whose lower cases differ: the pairs that Python's re adds to its comparison of lower cases. */
static const uint16_t chars_alike[][2] = {
    {0x69, 0x131},   {0x73, 0x17f},   {0xb5, 0x3bc},   {0x345, 0x3b9},   {0x345, 0x1fbe},  {0x390, 0x1fd3},  {0x3b0, 0x1fe3},
    {0x3b2, 0x3d0},  {0x3b5, 0x3f5},  {0x3b8, 0x3d1},  {0x3b9, 0x1fbe},  {0x3ba, 0x3f0},   {0x3c0, 0x3d6},   {0x3c1, 0x3f1},
    {0x3c2, 0x3c3},  {0x3c6, 0x3d5},  {0x432, 0x1c80}, {0x434, 0x1c81},  {0x43e, 0x1c82},  {0x441, 0x1c83},  {0x442, 0x1c84},
    {0x442, 0x1c85}, {0x44a, 0x1c86}, {0x463, 0x1c87}, {0x1c84, 0x1c85}, {0x1c88, 0xa64b}, {0x1e61, 0x1e9b}, {0xfb05, 0xfb06},
};

bool filter_char_same(uint32_t x, uint32_t y)
{
    x = char_lower(x);
    y = char_lower(y);
    if (x == y)
        return true;
    for (size_t i = 0; i < sizeof chars_alike / sizeof *chars_alike; i++)
        if ((chars_alike[i][0] == x && chars_alike[i][1] == y) || (chars_alike[i][0] == y && chars_alike[i][1] == x))
            return true;
    return false;
}

bool filter_char_is_word(uint32_t c)
{
    if (c < 0x80)
        return c == '_' || (c >= '0' && c <= '9') || (str_lower((char)c) >= 'a' && str_lower((char)c) <= 'z');
    pthread_once(&chars_once, chars_open);
    return chars_locale && c < 0x110000 && iswalnum_l((wint_t)c, chars_locale);
}

bool filter_char_is_letter(uint32_t c)
{
    if (c < 0x80)
        return str_lower((char)c) >= 'a' && str_lower((char)c) <= 'z';
    return (c >= 0xc0 && c <= 0xdc) || (c >= 0xe0 && c <= 0xfc && c != 0xf7);
}
