/* latex.c: foreign text in LaTeX. */
#include "base/latex.h"

/* What a character of ASCII becomes; NULL: itself. */
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

static size_t latex_sign(struct buf *to, struct str rest)
{
    for (size_t i = 0; i < sizeof latex_signs / sizeof *latex_signs; i++)
        if (str_starts(rest, latex_signs[i].sign)) {
            buf_puts(to, latex_signs[i].latex);
            return strlen(latex_signs[i].sign);
        }
    return 0;
}

void latex_text(struct buf *to, struct str text, size_t max)
{
    for (size_t i = 0, shown = 0, k; i < text.n; i += k, shown++) {
        struct str rest = str_sub(text, i, text.n);
        const char *word = latex_ascii(*rest.p);
        if (shown == max) {
            buf_puts(to, "...");
            return;
        }
        k = str_utf8(rest.p, rest.n);
        if (word) {
            buf_puts(to, word);
            continue;
        }
        size_t sign = latex_sign(to, rest);
        if (sign) {
            k = sign;
        } else if (k == 0 || !str_is_plain(str_sub(rest, 0, k))) {
            k = k ? k : 1;
            for (size_t b = 0; b < k; b++)
                buf_printf(to, "\\textbackslash{}x%02x", (unsigned)(unsigned char)rest.p[b]);
        } else
            buf_add(to, rest.p, k);
    }
}
