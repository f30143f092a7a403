/* main.c: the launcher `benchwrap`: reads the line, then runs the program under the recorder, or becomes the program, or becomes the core. */
#include "launch/launcher.h"

#include "base/clock.h"
#include "launch/collector.h"
#include "launch/repeat.h"
#include "launch/say.h"
#include "launch/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Executes the core program, which has all verbs. Returns 125 on failure, after a message. */
static int become_core(char **argv, const char *verb)
{
    char path[4096];
    char *line[3] = {(char *)"benchwrap", (char *)verb, NULL};
    if (!verb)
        argv[0] = line[0];
    if (recorder_find_core(path, sizeof path) == 0)
        execv(path, verb ? line : argv);
    bool is_there = errno != ENOENT && errno != ENOTDIR;
    say_stderr("cannot start %s: %s%s", path[0] ? path : "benchwrap-core", strerror(errno),
               is_there ? "" : "; the installation is not complete");
    if (!verb && argv[1])
        say_stderr("to run and record a program write: benchwrap -- %s ...", argv[1]);
    return 125;
}

/* Prints the error with a hint. Returns 125, the exit status of benchwrap's own errors. */
static int report_usage_error(const char *text)
{
    say_stderr("%s", text);
    say_stderr("see \"benchwrap help options\"");
    return 125;
}

/* Reports a word after options without `--` before it, with the line that runs it. Returns 125. */
static int no_dashes(int argc, char **argv, int next)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, 2048);
    bool later = false; /* "-e two words -- PROGRAM": or the program has a -- of its own */
    for (int i = 1; i < argc && !line.failed; i++) {
        later |= i > next && strcmp(argv[i], "--") == 0;
        if (i == next)
            buf_puts(&line, " --");
        buf_putc(&line, ' ');
        buf_puts(&line, argv[i]);
    }
    say_stderr("\"%s\" comes after options without --; %s: benchwrap%s", argv[next],
               later ? "no option has it as value. If it is the program, write" : "to run and record it write",
               line.failed ? " OPTIONS -- PROGRAM" : line.p);
    return 125;
}

/* In a sanitizer build: what the launcher holds lives as long as the process, and the system frees
 * it. */
#if defined(__SANITIZE_ADDRESS__)
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_leaks=0:disable_coredump=0"; /* the program inherits the limits */
}
#endif

/* Returns the line of `benchwrap archive OPTIONS -- PROGRAM` as that of a run, of a program that is
 * no benchmark: without rules, kept as a job. The new list is malloc'ed. NULL: the line is not that
 * (no program: the core explains), or out of memory. */
static char **as_archive(int *argc, char **argv)
{
    static const char *const words[] = {"--archive-job", "--rules", "none"};
    enum { WORDS = sizeof words / sizeof *words };
    bool program = false;
    if (*argc < 2 || strcmp(argv[1], "archive") != 0)
        return NULL;
    for (int i = 2; i < *argc; i++)
        program |= strcmp(argv[i], "--") == 0;
    char **line = program ? calloc((size_t)*argc + WORDS, sizeof *line) : NULL;
    if (!line)
        return NULL;
    line[0] = argv[0];
    memcpy(line + 1, words, sizeof words);
    memcpy(line + 1 + WORDS, argv + 2, ((size_t)*argc - 2) * sizeof *line);
    *argc += WORDS - 1;
    return line;
}

/* Runs the program that the line names. All other command lines are for the core, which then
 * replaces this process. */
int main(int argc, char **argv)
{
    struct launch l = {.start_ns = clock_mono_ns(), .start_wall_ms = clock_wall_ms(), .argv = argv};
    struct opt_value values[OPTIONS_COUNT];
    struct opt_set set = {.rows = options_rows, .count = OPTIONS_COUNT, .values = values, .words = words_typed, .place = WORDS_PROGRAM};
    struct err err = {0};
    int next = argc;
    if (argc > 1 && (l.id = series_child_id(argv[1])))
        l.argv++, argv++, argc--;
    char **archive = as_archive(&argc, argv);
    if (archive)
        l.argv = argv = archive;
    if (argc < 2 || argv[1][0] != '-' || !argv[1][1])
        return become_core(argv, NULL);
    opt_defaults(&set, getenv);
    if (opt_parse(&set, argc, argv, &next, &err) < 0)
        return report_usage_error(err.text);
    if (options_read(&set, &l.options, &err) < 0)
        return report_usage_error(err.text);
    if (l.options.help || l.options.version)
        return become_core(argv, l.options.help ? "help" : "version");
    if (next >= argc)
        return report_usage_error("no program given; write: benchwrap -- PROGRAM ARGUMENTS, for example: benchwrap -- ior -a POSIX");
    if (!set.dashes)
        return no_dashes(argc, argv, next);
    l.program = argv + next;
    l.rank = rank_find(environ);
    if (l.options.series)
        return series_start(&l);
    if (l.rank.known && l.rank.rank && !l.options.per_rank) {
        if (!l.options.no_collect && !getenv("BENCHWRAP_RUN_ID") && rank_leads_node(&l.rank, environ))
            node_collect(l.argv);
        return spawn_exec(l.program);
    }
    return launcher_run(&l);
}
