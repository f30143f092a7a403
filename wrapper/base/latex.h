/* latex.h: foreign text in LaTeX: the one place that escapes it. */
#ifndef BASE_LATEX_H
#define BASE_LATEX_H
#include "base/buf.h"

/* What a document defines before such text: a letter beyond Latin-1 is printed as it is by XeLaTeX and LuaLaTeX, as U+4E2D by pdflatex. */
#define LATEX_PREAMBLE "\\providecommand{\\bwletter}[2]{\\ifdefined\\Umathchar #2\\else U+#1\\fi}\n"
/* Appends text as words of a LaTeX document: no character has a meaning there, none is a control character or a change of direction, and signs that
 * pdflatex lacks without packages have a replacement. Long words may break behind their punctuation. At most max characters, "..." marks a cut. */
void latex_text(struct buf *to, struct str text, size_t max);
#endif
