/* latex.c: foreign text in LaTeX. */
#include "base/latex.h"
#include "base/utf8.h"

/* Returns what a character of ASCII becomes; NULL: itself. */
static const char *latex_ascii(char c)
{
    switch (c) {
    case '\\': return "\\textbackslash{}";
    case '{': return "\\{";
    case '}': return "\\}";
    case '$': return "\\$";
    case '&': return "\\&";
    case '#': return "\\#";
    case '%': return "\\%";
    case '_': return "\\_";
    case '^': return "\\textasciicircum{}";
    case '~': return "\\textasciitilde{}";
    case '<': return "\\textless{}";
    case '>': return "\\textgreater{}";
    case '|': return "\\textbar{}";
    case '"': return "\\textquotedbl{}";
    case '\'': return "\\textquotesingle{}";
    case '`': return "\\textasciigrave{}";
    case '-': return "{-}"; /* no ligature to a dash */
    case ',': return "{,}"; /* nor of two to a quotation mark */
    case '[': return "{[}"; /* no option of the command before it: the end of a row, an item */
    case ']': return "{]}";
    case '*': return "{*}";
    case '\n':
    case '\r':
    case '\t': return " ";
    default: return NULL;
    }
}

/* Signs that this program itself prints. */
static const struct {
    const char *sign, *latex;
} latex_signs[] = {{"…", "\\ldots{}"}, {"–", "--"}, {"µ", "\\textmu{}"}, {"×", "$\\times$"}, {"±", "$\\pm$"}};

/* Appends the sign that the text begins with. Returns its length in bytes; 0: there is none of
 * latex_signs. */
static size_t latex_sign(struct buf *to, struct str rest)
{
    for (size_t i = 0; i < sizeof latex_signs / sizeof *latex_signs; i++)
        if (str_starts(rest, latex_signs[i].sign)) {
            buf_puts(to, latex_signs[i].latex);
            return strlen(latex_signs[i].sign);
        }
    return 0;
}

/* Appends a character that pdflatex has no letter for: LATEX_PREAMBLE makes it a letter or its
 * number. */
static void latex_other(struct buf *to, struct str character)
{
    unsigned code = utf8_code_point(character.p, character.n);
    if (utf8_is_direction(code))
        buf_printf(to, "\\textbackslash{}u%04x", code);
    else if (code >= 0xa0 && code <= 0xff)
        buf_str(to, character);
    else
        buf_printf(to, "\\bwletter{%04X}{" STR_FMT "}", code, STR_ARG(character));
}

static size_t word_length(struct str rest)
{
    size_t n = 0;
    while (n < rest.n && rest.p[n] != ' ' && rest.p[n] != '\n')
        n++;
    return n;
}

void latex_text(struct buf *to, struct str text, size_t max)
{
    enum { WORD_LONG = 20, PART_LONG = 12 };
    size_t word_ends = 0, part = 0; /* characters since the last place for a break */
    bool is_long = false;
    for (size_t i = 0, shown = 0, k; i < text.n; i += k, shown++) {
        struct str rest = str_sub(text, i, text.n);
        const char *word = latex_ascii(*rest.p);
        if (shown == max) {
            buf_puts(to, "...");
            return;
        }
        if (i >= word_ends) {
            word_ends = i + word_length(rest) + 1;
            is_long = word_ends - i > WORD_LONG;
        }
        k = str_utf8(rest.p, rest.n);
        size_t sign = latex_sign(to, rest);
        if (sign) {
            k = sign;
        } else if (word) {
            buf_puts(to, word);
        } else if (k == 0 || !str_is_plain(str_sub(rest, 0, k))) {
            k = k ? k : 1;
            for (size_t b = 0; b < k; b++)
                buf_printf(to, "\\textbackslash{}x%02x", (unsigned)(unsigned char)rest.p[b]);
        } else if (k == 1) {
            buf_add(to, rest.p, k);
        } else
            latex_other(to, str_sub(rest, 0, k));
        part = word_ends == i + 1 ? 0 : part + 1;
        if (is_long && (part >= PART_LONG || (k == 1 && *rest.p && strchr("/_.=,:-|;", *rest.p)))) {
            buf_puts(to, "\\allowbreak{}");
            part = 0;
        }
    }
}
