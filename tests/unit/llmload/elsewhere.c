/* elsewhere.c (test): which services are on this machine. No request is sent: 192.0.2.1 is nobody's. */
#include "benchmarks/native/llmload/server/server.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void services_elsewhere(void **state)
{
    (void)state;
    const char *here[] = {"http://127.0.0.1:9", "https://localhost", "http://[::1]:9/v1", "unix:/tmp/socket"};
    const char *there[] = {"http://127.0.0.1:9", "https://192.0.2.1:8000/v1"};
    struct load load = {.path = "/v1/completions", .urls = here, .url_count = 4};
    assert_false(server_is_elsewhere(&load));
    load.urls = there;
    load.url_count = 2;
    assert_true(server_is_elsewhere(&load));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(services_elsewhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
