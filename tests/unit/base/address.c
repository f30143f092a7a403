/* address.c: addresses of this machine, and addresses that documents use as examples (RFC 5737, RFC 3849). */
#include "base/address.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_own(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return address_is_own((const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return address_is_own((const struct sockaddr *)&six);
}

static void own_addresses_are_known(void **state)
{
    static const char *const own[] = {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "::ffff:0.0.0.0"};
    static const char *const others[] = {"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "128.0.0.1", "::2", "2001:db8::", "2001:db8::7f00:1"};
    (void)state;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!is_own(own[i]))
            fail_msg("%s", own[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_own(others[i]))
            fail_msg("%s", others[i]);
    assert_false(address_is_own(&(struct sockaddr){.sa_family = AF_UNIX}));
}

/* The address from which the kernel would send to another network. */
static void addresses_of_interfaces_are_own(void **state)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)}, from;
    socklen_t size = sizeof from;
    (void)state;
    inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* connect() of UDP sends nothing */
    bool routed = connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 && getsockname(fd, (struct sockaddr *)&from, &size) == 0;
    close(fd);
    if (!routed)
        skip();
    assert_true(address_is_own((const struct sockaddr *)&from));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_addresses_are_known), cmocka_unit_test(addresses_of_interfaces_are_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
