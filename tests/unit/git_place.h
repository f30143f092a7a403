/* git_place.h: the real git in a test's own folder (place.h). */
#ifndef UNIT_GIT_PLACE_H
#define UNIT_GIT_PLACE_H
#include "git/program.h"
#include "tests/unit/place.h"

/* git with arguments, in the test's folder; its standard output without the last LF (static). */
static const char *git(struct place *p, int want, ...)
{
    static char text[65536];
    const char *argv[24] = {"git", "-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"};
    struct program_end end;
    va_list ap;
    size_t n = 9;
    va_start(ap, want);
    while (n < 23 && (argv[n] = va_arg(ap, const char *)))
        n++;
    va_end(ap);
    struct program run = {.argv = argv, .dir = p->path};
    assert_int_equal(program_run(&run, &end, NULL), 0);
    if (end.status != want)
        print_error("%s", end.words.p ? end.words.p : "");
    assert_int_equal(end.status, want);
    struct str out = str_trim(buf_text(&end.out));
    snprintf(text, sizeof text, STR_FMT, STR_ARG(out));
    program_end_deinit(&end);
    return text;
}
#endif
