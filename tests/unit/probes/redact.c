/* redact: secrets do not pass, ordinary values do; identities become tokens of equal length. */
#include "probes/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void names_that_hold_secrets(void **state)
{
    (void)state;
    static const char *const secret[] = {"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "MLFLOW_TRACKING_PASSWORD", "PBS_JOBCOOKIE", "my_credentials", "SSH_AUTH_SOCK", "WANDB_API_KEY"};
    static const char *const open[] = {"OMP_NUM_THREADS", "PATH", "HOME", "SLURM_JOB_ID", "UCX_TLS", "LOADEDMODULES"};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (!redact_name(str_of(secret[i])))
            fail_msg("%s passes", secret[i]);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (redact_name(str_of(open[i])))
            fail_msg("%s is taken for a secret", open[i]);
}

static void values_are_cleaned(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"https://alice:geheim@server:5000/x", "https://[redacted]@server:5000/x"},
        {"http://server:5000", "http://server:5000"},
        {"https://a:p@ss@host/", "https://[redacted]@host/"},
        {"see https://example.org/a@b", "see https://example.org/a@b"},
        {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "[redacted]"},
        {"Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n x", "Bearer [redacted] x"},
        {"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[redacted]"},
        {"a=ghp_16C7e42F292c6912E7710c838347Ae178B4a;b=1", "a=[redacted];b=1"},
        {"wJalrXUtnFEMI7K7MDENG7bPxRfiCYEXAMPLEKEY", "[redacted]"},
        {"bW9yZSB0aGFuIHRoaXJ0eSB0d28gYnl0ZXMgbG9uZw==", "[redacted]"},
        {"0123456789abcdef0123456789abcdef01234567", "[redacted]"},
        {"--user=x --password=abc --level=3", "--user=x --password=[redacted] --level=3"},
        {"host=db;Password=abc;x=1", "host=db;Password=[redacted];x=1"},
        {"-----BEGIN RSA PRIVATE KEY-----\nabc", "[redacted]"},
        {"/opt/spack/linux-debian12-zen3/gcc-12.2.0/openmpi-4.1.5-abcdefghijklmnopqrstuvwxyz234567/bin", "/opt/spack/linux-debian12-zen3/gcc-12.2.0/openmpi-4.1.5-abcdefghijklmnopqrstuvwxyz234567/bin"},
        {"/usr/lib/x86_64-linux-gnu/Some-Very_Long-Name-2-With-x86_64-Parts-In-It", "/usr/lib/x86_64-linux-gnu/Some-Very_Long-Name-2-With-x86_64-Parts-In-It"},
        {"gcc/12.2.0:openmpi/4.1.5", "gcc/12.2.0:openmpi/4.1.5"},
        {"granularity=fine,compact,1,0", "granularity=fine,compact,1,0"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf to CLEANUP_BUF;
        buf_init(&to, 4096);
        redact_value(&to, str_of(rows[i][0]));
        assert_string_equal(to.p ? to.p : "", rows[i][1]);
    }
}

static void identities_keep_the_length(void **state)
{
    (void)state;
    static char user[] = "USER=alice", home[] = "HOME=/home/alice", nodes[] = "SLURM_JOB_NODELIST=gpu[01-03],login7", name[] = "HOSTNAME=gpu01.site.example";
    char *env[] = {user, home, nodes, name, NULL};
    struct identities ids;
    identities_collect(&ids, env, "gpu01.site.example");
    static const char text[] = "alice at gpu01.site.example and gpu02: /home/alice/x /data/alice/y malice gpu03-ib login7 gpu010";
    struct buf to CLEANUP_BUF;
    buf_init(&to, 4096);
    identities_replace(&ids, &to, str_of(text));
    assert_int_equal(to.n, strlen(text));
    static const char *const gone[] = {"alice at", "gpu01.", "gpu02", "/alice/", "gpu03", "login7"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strstr(to.p, gone[i]))
            fail_msg("'%s' is still in '%s'", gone[i], to.p);
    assert_non_null(strstr(to.p, "malice"));
    assert_non_null(strstr(to.p, "gpu010"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_hold_secrets),
        cmocka_unit_test(values_are_cleaned),
        cmocka_unit_test(identities_keep_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
