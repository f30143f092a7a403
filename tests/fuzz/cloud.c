/* cloud.c: any bytes as what clouds and their files return: profiles of AWS, keys in JSON and XML, tokens of Entra, certificates. What is accepted
 * is whole: a header can hold it, and no secret of a reply is in a message. The functions are static, so their files are included. */
#ifndef BW_VERSION
#define BW_VERSION "0"
#endif
#include "exporters/aws_files.c"
#include "exporters/aws_credentials.c"
#include "exporters/azure_assertion.c"
#include "exporters/azure_token.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_header_text(const char *text)
{
    for (; text && *text; text++)
        if (*text <= ' ' || *text >= 0x7f)
            abort();
}

static void check_files(struct exporter_link *l, struct str text)
{
    struct aws_profile p = {.key = NULL};
    bool inside = false;
    struct str rest = text;
    while (rest.p && rest.n) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (line.n > 2 && line.p[0] == '[' && line.p[line.n - 1] == ']')
            inside = is_aws_section(line, "work", true);
        else if (inside && line.n)
            keep_aws_setting(l, line, &p);
    }
}

static void check_keys(struct exporter_link *l, struct str text)
{
    struct aws_credentials c = {.source = "x"};
    struct err err = {0};
    if (aws_credentials_parse(l, text, &c, &err) == 0 && check_aws_keys(&c, &err) == 0) {
        check_header_text(c.key);
        check_header_text(c.secret);
        check_header_text(c.token);
    }
    c = (struct aws_credentials){xml_element(l, text, "AccessKeyId"), xml_element(l, text, "SecretAccessKey"), xml_element(l, text, "SessionToken"), "x"};
    if (check_aws_keys(&c, &err) == 0)
        check_header_text(c.secret);
}

static void check_token(struct str text)
{
    struct azure_token t = {.secret = "hidden-secret"};
    struct http_reply r = {.status = 200};
    struct err err = {0};
    buf_init(&t.text, TOKEN_BYTES);
    buf_init(&r.body, 1 << 20);
    buf_str(&r.body, text);
    if (token_from_reply(&t, "https://x", &r, &err) == 0) {
        if (!t.text.n || !t.renew_ns)
            abort();
        check_header_text(t.text.p);
    }
    r.status = 401;
    if (token_from_reply(&t, "https://x", &r, &err) == 0 || strstr(err.text, "hidden-secret"))
        abort();
    buf_deinit(&t.text);
    buf_deinit(&r.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {size ? (const char *)data : "", size};
    struct arena a;
    struct buf der;
    arena_init(&a, 64 << 20);
    struct exporter_link l = {.arena = &a, .cancel_fd = -1};
    check_files(&l, text);
    check_keys(&l, text);
    check_token(text);
    buf_init(&der, PEM_BYTES);
    if (certificate_bytes(text, &der, NULL) == 0 && !der.n)
        abort();
    buf_deinit(&der);
    arena_deinit(&a);
    return 0;
}
