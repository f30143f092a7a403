/* program.c: programs of the user's are bounded in time and output, and found missing. */
#include "git/program.h"

#include "base/fs.h"
#include "tests/unit/watched.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <signal.h>
#include <time.h>

static int run(struct program_end *end, struct err *err, double limit_s, size_t max, const char *in, const char *line)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    struct program p = {.argv = argv, .limit_s = limit_s, .out_max = max, .in = {in, in ? strlen(in) : 0}};
    return program_run(&p, end, err);
}

static void output_words_and_status_come_back(void **state)
{
    struct program_end end;
    struct err err = {0};
    (void)state;
    assert_int_equal(run(&end, &err, 0, 0, "given", "cat; echo; echo one >&2; echo ' two ' >&2; echo >&2; exit 7"), 0);
    assert_int_equal(end.status, 7);
    assert_string_equal(end.out.p, "given\n");
    assert_int_equal(program_err(&end, &err, "asking %s", "sh"), -1);
    assert_string_equal(err.text, "asking sh: two");
    program_end_deinit(&end);
    static const char ssh[] = "printf 'Host key verification failed.\\nfatal: Could not read from remote repository.\\n\\nPlease make sure you have the correct "
                              "access rights\\nand the repository exists.\\n' >&2; exit 128";
    assert_int_equal(run(&end, &err, 0, 0, NULL, ssh), 0);
    assert_int_equal(program_err(&end, &err, "x"), -1);
    assert_string_equal(err.text, "x: Host key verification failed.");
    program_end_deinit(&end);
    assert_int_equal(run(&end, &err, 0, 0, NULL, "printf 'fatal: Could not read from remote repository.\\n\\nand the repository exists.\\n' >&2; exit 128"), 0);
    assert_int_equal(program_err(&end, &err, "x"), -1);
    assert_string_equal(err.text, "x: fatal: Could not read from remote repository.");
    program_end_deinit(&end);
    assert_int_equal(run(&end, &err, 0, 0, NULL, "kill -9 $$"), 0);
    assert_int_equal(end.status, 128 + SIGKILL);
    program_end_deinit(&end);
    const char *none[] = {"benchwrap-no-such-program", NULL};
    assert_int_equal(program_run(&(struct program){.argv = none}, &end, &err), by_valgrind() ? 0 : 1);
    program_end_deinit(&end);
}

/* Tokens of forges and servers are for git's credential helpers alone. */
static void credentials_are_for_remotes(void **state)
{
    static const char *const argv[] = {"sh", "-c", "printf '%s %s' \"${GITHUB_TOKEN-none}\" \"$OTHER_TOKEN\"", NULL};
    struct program_end end;
    struct err err = {0};
    (void)state;
    setenv("GITHUB_TOKEN", "planted", 1);
    setenv("OTHER_TOKEN", "kept", 1);
    for (int remote = 0; remote < 2; remote++) {
        assert_int_equal(program_run(&(struct program){.argv = argv, .credentials = remote != 0}, &end, &err), 0);
        assert_string_equal(end.out.p, remote ? "planted kept" : "none kept");
        program_end_deinit(&end);
    }
    unsetenv("GITHUB_TOKEN");
    unsetenv("OTHER_TOKEN");
}

static void too_much_is_dropped_and_too_long_is_stopped(void **state)
{
    struct program_end end;
    struct err err = {0};
    (void)state;
    assert_int_equal(run(&end, &err, 0, 1000, NULL, "head -c 300000 /dev/zero | tr '\\0' x; echo said >&2"), 0);
    assert_int_equal(end.status, 0);
    assert_true(end.out.n >= 900 && end.out.n <= 1000);
    assert_string_equal(end.words.p, "said\n");
    program_end_deinit(&end);
    static const double limits[] = {0.3, 3, 30}; /* on a busy machine it comes to its first word later */
    for (size_t i = 0; i < 3; i++) {
        char words[40];
        assert_int_equal(run(&end, &err, limits[i], 0, NULL, "sleep 100 & echo $!; wait"), -1);
        assert_true(end.timed_out);
        snprintf(words, sizeof words, "longer than %g s", limits[i]);
        assert_non_null(strstr(err.text, words));
        if (end.out.n || i == 2)
            break;
        program_end_deinit(&end);
    }
    char path[40];
    snprintf(path, sizeof path, "/proc/%.*s/stat", (int)end.out.n - 1, end.out.p);
    for (int i = 0; i < 1000 && access(path, F_OK) == 0; i++) { /* killed too; its zombie is init's */
        struct buf stat CLEANUP_BUF;
        buf_init(&stat, 4096);
        if (fs_read(AT_FDCWD, path, 4096, 0, &stat, NULL) || strstr(stat.p, ") Z"))
            break;
        assert_int_not_equal(i, 999);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    program_end_deinit(&end);
}

/* Git removes its lock files when it is asked to end. */
static void a_stopped_program_may_clean_up(void **state)
{
    struct program_end end;
    struct err err = {0};
    char line[200], path[] = "/tmp/benchwrap-unit-XXXXXX";
    (void)state;
    if (by_valgrind())
        return;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (double limit_s = 0.2;; limit_s *= 2) { /* the shell may start late */
        snprintf(line, sizeof line, "trap 'rm %s; exit 1' TERM; echo ready; while :; do sleep 0.1; done", path);
        assert_int_equal(run(&end, &err, limit_s, 0, NULL, line), -1);
        bool ready = end.out.n > 0;
        program_end_deinit(&end);
        if (ready || limit_s > 30)
            break;
    }
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_list_that_is_cut_is_an_error(void **state)
{
    static const char *const argv[] = {"sh", "-c", "echo 123456789", NULL};
    struct program_end end;
    struct err err = {0};
    (void)state;
    assert_int_equal(program_run(&(struct program){.argv = argv, .out_max = 8, .whole = true}, &end, &err), -1);
    assert_string_equal(err.text, "sh printed more than 7 bytes");
    program_end_deinit(&end);
    assert_int_equal(program_run(&(struct program){.argv = argv, .out_max = 11, .whole = true}, &end, &err), 0);
    program_end_deinit(&end);
}

static void what_it_left_running_is_not_waited_for(void **state)
{
    struct program_end end;
    struct err err = {0};
    (void)state;
    assert_int_equal(run(&end, &err, 60, 0, NULL, "sleep 20 & echo $!"), 0);
    assert_int_equal(end.status, 0);
    kill((pid_t)atol(end.out.p), SIGKILL);
    program_end_deinit(&end);
}

static void the_environment_leads_nowhere_else(void **state)
{
    struct program_end end;
    struct err err = {0};
    (void)state;
    setenv("GIT_DIR", "/elsewhere", 1);
    setenv("BW_A", "1", 1);
    setenv("BW_B", "1", 1);
    const char *argv[] = {"sh", "-c", "echo ${GIT_DIR-none} ${BW_A-none} $BW_B $LC_ALL ${GIT_TERMINAL_PROMPT-none}", NULL};
    const char *set[] = {"BW_A", "BW_B=2", NULL};
    assert_int_equal(program_run(&(struct program){.argv = argv, .set = set}, &end, &err), 0);
    assert_string_equal(end.out.p, "none none 2 C 0\n");
    program_end_deinit(&end);
    assert_int_equal(program_run(&(struct program){.argv = argv, .set = set, .prompt = true}, &end, &err), 0);
    assert_string_equal(end.out.p, "none none 2 C none\n");
    program_end_deinit(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_words_and_status_come_back), cmocka_unit_test(credentials_are_for_remotes),
        cmocka_unit_test(too_much_is_dropped_and_too_long_is_stopped), cmocka_unit_test(a_stopped_program_may_clean_up),
        cmocka_unit_test(a_list_that_is_cut_is_an_error),
        cmocka_unit_test(what_it_left_running_is_not_waited_for),
        cmocka_unit_test(the_environment_leads_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
