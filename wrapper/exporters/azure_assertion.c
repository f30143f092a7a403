/* azure_assertion.c: the signed statement by which an application with a certificate gets a token; openssl makes the signature. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json_out.h"
#include "base/query.h"
#include "base/secret.h"
#include "base/sha256.h"
#include "exporters/azure_token.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { PEM_BYTES = 256 << 10, SIGNATURE_BYTES = 4096, OPENSSL_MS = 10000, VALID_S = 600 };

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void put_base64_url(struct buf *to, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t v = 0;
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)bytes.p[i + k] : 0);
        for (size_t k = 0; k <= n; k++)
            buf_putc(to, base64_digits[v >> (18 - 6 * k) & 63]);
    }
}

/* -1: no digit of base64 in its usual alphabet. */
static int base64_value(char c)
{
    const char *at = c == '+'                    ? base64_digits + 62
                     : c == '/'                  ? base64_digits + 63
                     : c && c != '-' && c != '_' ? strchr(base64_digits, c)
                                                 : NULL;
    return at ? (int)(at - base64_digits) : -1;
}

/* Appends the bytes of the first certificate in a PEM text. -1 with err: there is none. */
static int certificate_bytes(struct str pem, struct buf *to, struct err *err)
{
    const struct str begin = STR("-----BEGIN CERTIFICATE-----"), end = STR("-----END CERTIFICATE-----");
    ptrdiff_t from = str_find(pem, begin);
    struct str rest = from < 0 ? STR("") : str_sub(pem, (size_t)from + begin.n, pem.n);
    ptrdiff_t until = str_find(rest, end);
    uint32_t v = 0;
    unsigned bits = 0;
    for (ptrdiff_t i = 0; i < until; i++) {
        int digit = base64_value(rest.p[i]);
        if (digit < 0 && !strchr("\r\n =", rest.p[i]))
            return err_set(err, ERR_INPUT, "the certificate is no base64");
        if (digit < 0)
            continue;
        v = v << 6 | (uint32_t)digit;
        bits += 6;
        if (bits >= 8)
            buf_putc(to, (char)(v >> (bits -= 8)));
    }
    return to->n && !to->failed ? 0 : err_set(err, ERR_INPUT, "expected a PEM file with a certificate and its RSA key");
}

/* The SHA-256 of the certificate names it. */
static int put_thumbprint(struct str pem, struct buf *to, struct err *err)
{
    struct buf der CLEANUP_BUF;
    char hex[SHA256_HEX], bytes[32];
    buf_init(&der, PEM_BYTES);
    if (certificate_bytes(pem, &der, err))
        return -1;
    sha256_of(der.p, der.n, hex);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(str_hex_digit(hex[2 * i]) << 4 | str_hex_digit(hex[2 * i + 1]));
    put_base64_url(to, (struct str){bytes, sizeof bytes});
    return 0;
}

/* Appends the statement (JWT) by which a certificate's owner requests a token, without its
 * signature. -1 with err. */
static int put_statement(const char *client, const char *audience, struct str thumbprint, struct buf *to, struct err *err)
{
    char id[SECRET_DIGITS + 1];
    struct buf head CLEANUP_BUF, claims CLEANUP_BUF;
    int64_t now = clock_wall_ms() / 1000;
    buf_init(&head, 1000);
    buf_init(&claims, 4000);
    if (secret_generate(id, err))
        return -1;
    struct json_out j = json_begin(&head, JSON_TIGHT, '{');
    json_text(&j, "alg", "PS256");
    json_text(&j, "typ", "JWT");
    json_str(&j, "x5t#S256", thumbprint);
    json_close(&j, '}');
    j = json_begin(&claims, JSON_TIGHT, '{');
    json_text(&j, "aud", audience);
    json_text(&j, "iss", client);
    json_text(&j, "sub", client);
    json_text(&j, "jti", id);
    json_int(&j, "nbf", now);
    json_int(&j, "iat", now);
    json_int(&j, "exp", now + VALID_S);
    json_close(&j, '}');
    put_base64_url(to, buf_text(&head));
    buf_putc(to, '.');
    put_base64_url(to, buf_text(&claims));
    return head.failed || claims.failed || to->failed ? err_memory(err, "a signed statement") : 0;
}

/* Writes the statement into openssl, which signs it by the key of the file. */
static int sign_with_openssl(const struct exporter_link *l, const char *path, struct str statement, struct buf *to, struct err *err)
{
    char words[][32] = {"openssl", "dgst", "-sha256", "-sign", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-1",
                        "-binary"};
    char *key = arena_dup(l->arena, path, strlen(path));
    char *argv[] = {words[0], words[1], words[2], words[4], words[5], words[6], words[7], words[8], words[3], key, NULL};
    struct query q = QUERY_NONE;
    if (!key)
        return err_memory(err, "a signed statement");
    if (query_start(&q, argv, l->env, SIGNATURE_BYTES, OPENSSL_MS, QUERY_INPUT | QUERY_NO_NICE, err))
        return err_wrap(err, "cannot sign with %s: openssl", path);
    query_write_input(&q, statement, OPENSSL_MS);
    enum query_end end = query_wait(&q, OPENSSL_MS);
    struct buf why CLEANUP_BUF;
    struct str first = str_trim(buf_text(&q.why));
    buf_init(&why, 4096);
    buf_plain(&why, str_trim(str_cut(&first, '\n')), 200);
    int rc = end != QUERY_DONE ? err_set(err, ERR_SYSTEM, "cannot sign with %s: openssl is not installed, or did not end", path)
             : q.status || q.text.n < 128
                 ? err_set(err, ERR_INPUT, "cannot sign with %s: openssl failed%s%s", path, why.n ? ": " : "", why.p ? why.p : "")
                 : 0;
    if (rc == 0)
        put_base64_url(to, buf_text(&q.text));
    query_close(&q);
    return rc;
}

int azure_assertion_sign(struct exporter_link *l, const char *path, const char *client, const char *audience, struct buf *to,
                         struct err *err)
{
    struct buf pem CLEANUP_BUF, thumbprint CLEANUP_BUF, statement CLEANUP_BUF;
    buf_init(&pem, PEM_BYTES);
    buf_init(&thumbprint, 100);
    buf_init(&statement, 16 << 10);
    int rc = secret_read(path, true, PEM_BYTES, &pem, err) || put_thumbprint(buf_text(&pem), &thumbprint, err)
                 ? -1
                 : put_statement(client, audience, buf_text(&thumbprint), &statement, err);
    if (pem.p)
        explicit_bzero(pem.p, pem.size);
    if (rc)
        return err_wrap(err, "%s", path);
    buf_str(to, buf_text(&statement));
    buf_putc(to, '.');
    return sign_with_openssl(l, path, buf_text(&statement), to, err);
}
