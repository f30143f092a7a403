/* guess_worthy.c: which lines rules that guess are asked about at all: their patterns have nothing that the prefilter could look for. */
#include "benchmarks/engine.h"

static size_t blanks_at(struct str line, size_t i)
{
    while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
        i++;
    return i;
}

/* Rules that guess have patterns which any line could match: only one that ends in ": number word" is worth asking them. */
bool guess_worthy(struct str line)
{
    enum { VALUE = 40, WORD = 24 };
    size_t i = line.n, end;
    while (i > 0 && line.n - i <= VALUE + WORD && line.p[i - 1] != ':' && line.p[i - 1] != '=')
        i--;
    if (i == 0 || line.n - i > VALUE + WORD)
        return false;
    i = blanks_at(line, i);
    if (i == line.n || line.p[i] < '0' || line.p[i] > '9')
        return false;
    while (i < line.n && line.p[i] && strchr("0123456789.,eE+-", line.p[i]))
        i++;
    end = i = blanks_at(line, i);
    while (end < line.n && line.p[end] != ' ' && line.p[end] != '\t')
        end++;
    return end - i <= WORD && blanks_at(line, end) == line.n;
}
