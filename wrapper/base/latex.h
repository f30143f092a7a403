/* latex.h: foreign text in LaTeX: the one place that escapes it. */
#ifndef BASE_LATEX_H
#define BASE_LATEX_H
#include "base/buf.h"

/* Appends text as words of a LaTeX document: no character has a meaning there, none is a control character or a change of direction, and signs that
 * pdflatex lacks without packages have a replacement. At most max characters, "..." marks a cut. */
void latex_text(struct buf *to, struct str text, size_t max);
#endif
