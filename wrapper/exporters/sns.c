/* sns.c: exporter of messages about runs to a topic of Amazon SNS. */
#include "exporters/aws_credentials.h"
#include "exporters/exporter_http.h"
#include "exporters/httpjson_keys.h"
#include "exporters/httpjson_template.h"

#include "base/http.h"
#include "base/secret.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 256 << 10, SUBJECT_MAX = 99, FORM_BYTES = 4 << 20, TEXT_BYTES = 1 << 20, REGION_MAX = 40 };

#define SNS_KEY_ENDPOINT "endpoint"
#define SNS_KEY_SUBJECT "subject"
#define SNS_KEY_MESSAGE "message"
#define SNS_KEY_GROUP "group"

static const struct opt_row sns_rows[] = {
    {.name = HTTPJSON_KEY_TOPIC,
     .kind = OPT_TEXT,
     .arg = "ARN",
     .help = "Publish to this topic: arn:aws:sns:REGION:ACCOUNT:NAME",
     .flags = OPT_FROM_FILE},
    {.name = SNS_KEY_SUBJECT,
     .kind = OPT_TEXT,
     .arg = "TEXT",
     .value = "{{experiment}}: {{status}}",
     .help = "Use this subject, with {{KEY}}; other characters than ASCII become ?",
     .flags = OPT_FROM_FILE},
    {.name = SNS_KEY_MESSAGE,
     .kind = OPT_TEXT,
     .arg = "TEXT",
     .value = "{{summary}}",
     .help = "Use this text, with {{KEY}}",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_ON,
     .kind = OPT_LIST,
     .arg = "end|fail|regression",
     .help = "Send only failed runs, or runs that missed a reference (default: end, every run)",
     .flags = OPT_FROM_FILE},
    {.name = HTTPJSON_KEY_LINK, .kind = OPT_TEXT, .arg = "URL", .help = "Name this page of the run, with {{KEY}}", .flags = OPT_FROM_FILE},
    {.name = SNS_KEY_GROUP,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .value = "benchwrap",
     .help = "Of a FIFO topic, use this message group",
     .flags = OPT_FROM_FILE},
    AWS_CREDENTIAL_ROWS,
    {.name = SNS_KEY_ENDPOINT,
     .kind = OPT_TEXT,
     .arg = "URL",
     .help = "Use this address (default: that of the topic's region)",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_TIMEOUT,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "10s",
     .help = "Stop a request after this time",
     .flags = OPT_FROM_FILE},
    {.name = EXPORTER_KEY_CA_FILE,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .help = "Trust these certificates instead of the system's",
     .flags = OPT_FROM_FILE},
};

struct sns_link {
    struct exporter_http *http;
    struct aws_credentials keys;
    const char *token_header;
};

/* ---- configuration ---- */

/* The fourth part of arn:aws:sns:REGION:ACCOUNT:NAME. False: it is no topic. */
static bool topic_region(const char *topic, char ret[REGION_MAX])
{
    struct str rest = str_of(topic), parts[6];
    for (size_t i = 0; i < 6; i++)
        parts[i] = rest.p ? str_cut(&rest, ':') : STR("");
    for (const char *p = topic; *p; p++)
        if (!str_is_letter(*p) && !str_is_digit(*p) && !strchr(":-_.", *p))
            return false;
    if (!str_is(parts[0], "arn") || !str_starts(parts[1], "aws") || !str_is(parts[2], "sns") || !parts[3].n || parts[3].n >= REGION_MAX ||
        !parts[4].n || !parts[5].n || rest.p)
        return false;
    for (size_t i = 0; i < parts[3].n; i++)
        if (parts[3].p[i] == '.' || parts[3].p[i] == '_')
            return false;
    snprintf(ret, REGION_MAX, STR_FMT, STR_ARG(parts[3]));
    return true;
}

static int check_sns_text(const struct exporter_config *c, const char *key, bool is_link, struct err *err)
{
    const char *text = exporter_text(c, key);
    const struct template_values nothing = {.config = c, .is_link = is_link};
    struct buf filled CLEANUP_BUF;
    buf_init(&filled, TEXT_BYTES);
    if (!text)
        return 0;
    return (is_link ? template_expand_url : template_expand_text)(text, &nothing, &filled, err) ? err_wrap(err, "%s", key) : 0;
}

static int sns_configure(const struct exporter_config *c, struct err *err)
{
    const char *topic = exporter_text(c, HTTPJSON_KEY_TOPIC), *endpoint = exporter_text(c, SNS_KEY_ENDPOINT);
    char region[REGION_MAX];
    if (!topic || !topic_region(topic, region))
        return err_set(err, ERR_INPUT, "topic: expected arn:aws:sns:REGION:ACCOUNT:NAME");
    if (endpoint && strncmp(endpoint, "https://", 8) != 0 && strncmp(endpoint, "http://", 7) != 0)
        return err_set(err, ERR_INPUT, "endpoint: expected https://HOST/");
    for (const struct opt_value *v = opt_find(&c->opts, HTTPJSON_KEY_ON); v && v->text; v = v->next)
        if (strcmp(v->text, "end") != 0 && strcmp(v->text, "fail") != 0 && strcmp(v->text, "regression") != 0)
            return err_set(err, ERR_INPUT, "on: expected end, fail or regression, got \"%.40s\"", v->text);
    return aws_credentials_configure(c, err) || check_sns_text(c, SNS_KEY_SUBJECT, false, err) ||
                   check_sns_text(c, SNS_KEY_MESSAGE, false, err) || check_sns_text(c, HTTPJSON_KEY_LINK, true, err)
               ? -1
               : 0;
}

static const char *sns_address(const struct exporter_link *l, const char *region)
{
    const char *endpoint = exporter_text(l->config, SNS_KEY_ENDPOINT);
    return endpoint ? endpoint
                    : arena_printf(l->arena, "https://sns.%s.amazonaws.com%s/", region, strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
}

static enum exporter_answer sns_open(struct exporter_link *l, struct err *err)
{
    struct sns_link *x = ARENA_NEW(l->arena, struct sns_link);
    char region[REGION_MAX];
    l->state = x;
    if (!x || !topic_region(exporter_text(l->config, HTTPJSON_KEY_TOPIC), region))
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    const char *url = sns_address(l, region), *sigv4 = arena_printf(l->arena, "aws:amz:%s:sns", region);
    enum exporter_answer answer = aws_credentials_get(l, region, &x->keys, err);
    if (answer != EXPORTER_SENT)
        return answer;
    x->token_header = x->keys.token ? arena_printf(l->arena, "X-Amz-Security-Token: %s", x->keys.token) : NULL;
    if (!url || !sigv4 || l->arena->failed)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    return exporter_http_open_own(
        l, &(struct exporter_http_own){.url = url, .user = x->keys.key, .password = x->keys.secret, .sigv4 = sigv4}, &x->http, err);
}

/* Closes the connection and overwrites the secrets in memory; the link's arena, which the caller
 * frees, owns the rest. */
static void sns_close(struct exporter_link *l)
{
    struct sns_link *x = l->state;
    if (!x)
        return;
    exporter_http_close(x->http);
    if (x->token_header)
        explicit_bzero((void *)(uintptr_t)x->token_header, strlen(x->token_header));
    aws_credentials_erase(&x->keys);
}

/* ---- messages ---- */

/* As forms are encoded: a blank is +. */
static void put_sns_value(struct buf *to, struct str value)
{
    for (struct str word; value.p; buf_puts(to, value.p ? "+" : "")) {
        word = str_cut(&value, ' ');
        http_escape(to, word, false);
    }
}

static void put_sns_field(struct buf *to, const char *name, struct str value)
{
    buf_printf(to, "%s%s=", to->n ? "&" : "", name);
    put_sns_value(to, value);
}

/* ASCII without control characters, at most 99 of them. */
static void put_sns_subject(struct buf *to, struct str text)
{
    char subject[SUBJECT_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < text.n && n < SUBJECT_MAX;) {
        size_t m = str_utf8(text.p + i, text.n - i);
        char c = m == 1 ? text.p[i] : '?';
        subject[n++] = (char)((unsigned char)c < ' ' || c == 0x7f ? ' ' : c);
        i += m ? m : 1;
    }
    struct str trimmed = str_trim((struct str){subject, n});
    if (trimmed.n)
        put_sns_field(to, "Subject", trimmed);
}

/* Attributes by which a subscriber can choose messages. */
static void put_sns_attributes(struct buf *to, const struct exporter_run *run)
{
    const struct {
        const char *name, *value;
    } list[] = {{"status", record_status_name(run->run->status)},
                {"verdict", exporter_run_tag(run, "benchwrap.verdict")},
                {"experiment", run->run->experiment},
                {"benchmark", exporter_run_tag(run, "benchmark")},
                {"cluster", exporter_run_tag(run, "cluster")}};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!list[i].value || !*list[i].value)
            continue;
        n++;
        buf_printf(to, "&MessageAttributes.entry.%u.Name=%s&MessageAttributes.entry.%u.Value.DataType=String", n, list[i].name, n);
        buf_printf(to, "&MessageAttributes.entry.%u.Value.StringValue=", n);
        put_sns_value(to, str_of(list[i].value));
    }
}

/* The form of a publication. id: equal where a message is sent twice. */
static int make_sns_form(const struct exporter_config *c, const struct template_values *v, const char *id, struct buf *to, struct err *err)
{
    const char *topic = exporter_text(c, HTTPJSON_KEY_TOPIC), *subject = exporter_text(c, SNS_KEY_SUBJECT),
               *message = exporter_text(c, SNS_KEY_MESSAGE);
    struct buf text CLEANUP_BUF, title CLEANUP_BUF;
    buf_init(&text, TEXT_BYTES);
    buf_init(&title, TEXT_BYTES);
    if (v->run ? template_expand_text(message ? message : "{{summary}}", v, &text, err) : (buf_puts(&text, v->message), 0))
        return -1;
    if (v->run && subject && template_expand_text(subject, v, &title, err))
        return -1;
    struct str body = buf_text(&text);
    body.n = utf8_cut(body, MESSAGE_MAX);
    if (!str_trim(body).n)
        return err_set(err, ERR_INPUT, "the message is empty");
    put_sns_field(to, "Action", STR("Publish"));
    put_sns_field(to, "Version", STR("2010-03-31"));
    put_sns_field(to, "TopicArn", str_of(topic));
    put_sns_subject(to, v->run ? buf_text(&title) : STR("benchwrap"));
    put_sns_field(to, "Message", body);
    if (v->run)
        put_sns_attributes(to, v->run);
    if (str_ends(str_of(topic), ".fifo")) {
        put_sns_field(to, "MessageGroupId", str_of(exporter_text(c, SNS_KEY_GROUP)));
        put_sns_field(to, "MessageDeduplicationId", str_of(id));
    }
    return to->failed ? err_memory(err, "a message") : 0;
}

static enum exporter_answer post_sns_form(struct exporter_link *l, struct str form, int *ret_status, struct err *err)
{
    const struct sns_link *x = l->state;
    const char *const headers[] = {x->token_header, NULL};
    const struct exporter_http_request q = {
        .type = "application/x-www-form-urlencoded", .headers = headers, .body = form, .ret_status = ret_status};
    enum exporter_answer answer = exporter_http_call(l, x->http, &q, err);
    if (answer == EXPORTER_REFUSED && err && strstr(err->text, "hrottl")) /* "Throttling", with status 400 */
        answer = EXPORTER_LATER;
    if (*ret_status == 403)
        err_hint(err, "the keys come from %s; benchwrap exporter sns-setup prints a policy. A wrong clock makes signatures wrong",
                 x->keys.source);
    return answer;
}

static enum exporter_answer sns_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct buf form CLEANUP_BUF;
    int status;
    (void)done;
    buf_init(&form, FORM_BYTES);
    if (!httpjson_is_wanted(l->config, run))
        return EXPORTER_SENT;
    if (make_sns_form(l->config, &(struct template_values){.config = l->config, .run = run}, run->run->id, &form, err))
        return EXPORTER_REFUSED;
    return post_sns_form(l, buf_text(&form), &status, err);
}

static enum exporter_answer sns_send_message(struct exporter_link *l, const char *text, struct err *err)
{
    struct buf form CLEANUP_BUF;
    char id[SECRET_DIGITS + 1];
    int status;
    buf_init(&form, FORM_BYTES);
    if (secret_generate(id, err) ||
        make_sns_form(l->config, &(struct template_values){.config = l->config, .message = text}, id, &form, err))
        return EXPORTER_REFUSED;
    return post_sns_form(l, buf_text(&form), &status, err);
}

static int sns_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    char region[REGION_MAX];
    struct buf form CLEANUP_BUF;
    buf_init(&form, FORM_BYTES);
    if (!httpjson_is_wanted(l->config, run))
        return 0;
    if (!topic_region(exporter_text(l->config, HTTPJSON_KEY_TOPIC), region) ||
        make_sns_form(l->config, &(struct template_values){.config = l->config, .run = run}, run->run->id, &form, err))
        return -1;
    buf_printf(to, "POST %s\nAuthorization: AWS4-HMAC-SHA256 ***\nContent-Type: application/x-www-form-urlencoded\n\n%s\n",
               sns_address(l, region), form.p);
    return to->failed ? err_memory(err, "a request") : 0;
}

/* Reading the topic needs a right that publishing does not. If AWS refuses only that right, the keys are valid. */
static enum exporter_answer sns_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    const struct sns_link *x = l->state;
    struct buf form CLEANUP_BUF;
    struct err why = {0};
    int status;
    buf_init(&form, FORM_BYTES);
    put_sns_field(&form, "Action", STR("GetTopicAttributes"));
    put_sns_field(&form, "Version", STR("2010-03-31"));
    put_sns_field(&form, "TopicArn", str_of(exporter_text(l->config, HTTPJSON_KEY_TOPIC)));
    enum exporter_answer answer = post_sns_form(l, buf_text(&form), &status, &why);
    bool lacks_right = status == 403 && (strstr(why.text, "AuthorizationError") || strstr(why.text, "AccessDenied"));
    if (answer != EXPORTER_SENT && !lacks_right) {
        *err = why;
        return answer == EXPORTER_REFUSED ? EXPORTER_LATER : answer;
    }
    buf_printf(found, "AWS accepts the keys of %s%s; benchwrap exporter send %s --message TEXT proves that they may publish",
               x->keys.source, lacks_right ? "" : ", and has the topic", l->config->name);
    return EXPORTER_SENT;
}

static const char *const sns_secrets[] = {"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN", NULL};

const struct exporter exporter_sns = {
    .type = "sns",
    .summary = "messages about runs to a topic of Amazon SNS",
    .description =
        "A message for each run, with its outcome, the headline metrics against their references, and a link. Keys come from the environment, a web "
        "identity, ~/.aws, the container's or the machine's role. `benchwrap exporter sns-setup` prints a script that makes the topic, a "
        "subscription and the right to publish.",
    .rows = sns_rows,
    .count = sizeof sns_rows / sizeof *sns_rows,
    .secret_variables = sns_secrets,
    .configure = sns_configure,
    .open = sns_open,
    .send = sns_send,
    .check = sns_check,
    .print = sns_print,
    .send_message = sns_send_message,
    .close = sns_close,
};
