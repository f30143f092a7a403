/* say.h: the launcher's own lines on stderr: harmless for terminals, and without blocking where no
 * process reads them. */
#ifndef LAUNCH_SAY_H
#define LAUNCH_SAY_H
#include "launch/out.h"

/* Prints "benchwrap: <text>\n". Control characters of the text are shown as \xNN. Waits at most a
 * fifth of a second for a blocked stream. */
void say_line(struct out *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints several lines as they are (line ends stay, on a terminal colours too; other control
 * characters are shown), ended by a line end. */
void say_text(struct out *to, const char *text);
/* Prints as say_line does, to the caller's descriptor 2, for failures before and after the run. */
void say_stderr(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#endif
