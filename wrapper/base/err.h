/* err.h: one error, one line of text, from purpose to cause.
 *
 * Functions that can fail have `struct err *err` as last argument and return 0 or -1 (a
 * positive value only for an outcome that the function's own comment names).
 * The text is made where the cause is known and wrapped where the purpose is;
 * only main.c and the launcher print it. `err` may be NULL: the caller does not care why. */
#ifndef BASE_ERR_H
#define BASE_ERR_H
#include <stdarg.h>

enum err_kind { ERR_NONE, ERR_USAGE, ERR_SYSTEM, ERR_INPUT, ERR_REMOTE, ERR_BUG };

struct err {
    enum err_kind kind;
    int sys;         /* errno of the cause, or 0 */
    char text[1024]; /* NUL-terminated; a cut ends in "..." */
    char hint[512];  /* a command or step that helps, printed on a line of its own; "" for none */
    char excerpt[512]; /* lines below the text: a part of the user's input and a caret; "" for none */
};

/* Sets kind and text (printf format). Returns -1, so that failing is one expression. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Does what err_set does, with the arguments in ap. */
int err_setv(struct err *err, enum err_kind kind, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
/* Sets the hint (printf format) of an error that is set: err_set clears it, err_wrap keeps it. Returns -1. */
int err_hint(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the lines below the text of an error that is set (printf format). The caller has made foreign
 * text in them harmless for a terminal. Returns -1. */
int err_excerpt(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text of an errno. ELOOP names what base/place.h refuses to follow, besides a loop of
 * links. */
const char *err_words(int sys);
/* Sets the error as err_set does, with kind ERR_SYSTEM; appends ": " and err_words of the current
 * errno. Returns -1. */
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets "out of memory for <text>", where the text names what the memory was for. Kind ERR_SYSTEM,
 * errno ENOMEM. Returns -1. */
int err_memory(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prepends "<text>: " to the error's text. Kind, errno and hint stay. Returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_clear(struct err *err);

#ifdef __clang_analyzer__ /* the analyzer reads one file at a time and does not know that these return -1 */
#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_sys(...) (err_sys(__VA_ARGS__), -1)
#define err_memory(...) (err_memory(__VA_ARGS__), -1)
#define err_wrap(...) (err_wrap(__VA_ARGS__), -1)
#endif
#endif
