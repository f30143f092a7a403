/* cloud.c: cloud and kind of instance, by the texts of the firmware. Only if the user requests it,
 * the metadata service adds more. */
#include "probes/look.h"

#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>

enum { ANSWER_MAX = 65536, WHOLE_MS = 1000, CONNECT_MS = 200 };

static const char azure_tag[] = "7783-7084-3265-9085-8269-3286-77", oracle_tag[] = "OracleCloud.com";

enum cloud { NO_CLOUD, AWS, GCP, AZURE, ORACLE, ALIBABA, OPENSTACK, DIGITALOCEAN, HETZNER, CLOUDS };
static const char *const names[CLOUDS] = {"none", "aws", "gcp", "azure", "oracle", "alibaba", "openstack", "digitalocean", "hetzner"};

static bool cloud_text_starts(const struct look_text *text, const char *start)
{
    return str_starts((struct str){text->p, text->n}, start);
}

/* Returns the cloud by the texts of the firmware; NO_CLOUD: none is known. *ret_product: the
 * product's name. */
static enum cloud cloud_detect(const struct host *h, struct look_text *ret_product)
{
    struct look_text vendor, chassis, version;
    look_read(h, &vendor, "sys/class/dmi/id/sys_vendor");
    look_read(h, &chassis, "sys/class/dmi/id/chassis_asset_tag");
    look_read(h, &version, "sys/class/dmi/id/product_version");
    look_read(h, ret_product, "sys/class/dmi/id/product_name");
    if (cloud_text_starts(&vendor, "Amazon EC2") || cloud_text_starts(&version, "Amazon EC2") ||
        str_has((struct str){version.p, version.n}, "amazon"))
        return AWS;
    if (cloud_text_starts(&vendor, "Microsoft Corporation") && cloud_text_starts(&chassis, azure_tag))
        return AZURE;
    if (cloud_text_starts(&chassis, oracle_tag))
        return ORACLE;
    return cloud_text_starts(&vendor, "Google") && cloud_text_starts(ret_product, "Google")                    ? GCP
           : cloud_text_starts(&vendor, "Alibaba Cloud")                                                       ? ALIBABA
           : cloud_text_starts(&vendor, "DigitalOcean")                                                        ? DIGITALOCEAN
           : cloud_text_starts(&vendor, "Hetzner")                                                             ? HETZNER
           : cloud_text_starts(&vendor, "OpenStack Foundation") || cloud_text_starts(ret_product, "OpenStack") ? OPENSTACK
                                                                                                               : NO_CLOUD;
}

static int cloud_before(struct host *h, struct record *r, struct err *err)
{
    struct look_text product;
    enum cloud cloud = cloud_detect(h, &product);
    (void)err;
    if (!look_exists(h, "sys/class/dmi/id")) {
        emit_absent(h, r, "cloud.provider", "this machine has no DMI tables that would name a cloud");
        return 0;
    }
    if (cloud == NO_CLOUD && !look_read(h, &product, "sys/class/dmi/id/sys_vendor") && errno != ENOENT) {
        emit_unreadable(h, r, "cloud.provider", "sys/class/dmi/id/sys_vendor");
        return 0;
    }
    emit_text(h, r, "cloud.provider", names[cloud]);
    if (cloud == AWS && memchr(product.p, '.', product.n)) /* "c7i.metal-24xl"; older Xen instances have "HVM domU" */
        emit_param(h, r, "cloud.instance_type", (struct str){product.p, product.n});
    else if (cloud != NO_CLOUD && !h->metadata)
        emit_missing(
            h, r, "cloud.instance_type",
            "the firmware does not report it; --cloud-metadata queries the cloud's metadata service after the program has started");
    return 0;
}

/* ---- the metadata service: type, region and zone; never identity documents, credentials or account numbers ---- */

struct service {
    struct http *http;
    const char *base;
    int64_t until_ns;
    char token_header[1200];
};

/* Stores the body of a good reply in *ret. Returns false with *err where the request fails, or the
 * body is empty or too long for *ret. After the time limit no request is sent any more. */
static bool cloud_request(struct service *s, const char *method, const char *path, const char *header, struct buf *ret, struct err *err)
{
    char url[1024];
    const char *const headers[] = {header, NULL};
    struct http_request q = {.method = method, .url = url, .headers = headers, .reply_max = ANSWER_MAX, .body_fd = -1, .reply_fd = -1};
    struct http_reply reply;
    buf_clear(ret);
    if (clock_mono_ns() > s->until_ns) {
        err_set(err, ERR_SYSTEM, "the metadata service did not answer completely within %d ms", WHOLE_MS);
        return false;
    }
    snprintf(url, sizeof url, "%s%s", s->base, path);
    bool good = http_do(s->http, &q, &reply, err) == 0;
    if (good && reply.status != 200) {
        err_set(err, ERR_INPUT, "the metadata service answered %d to %.100s", reply.status, path);
        good = false;
    }
    if (good)
        buf_str(ret, buf_text(&reply.body));
    http_reply_deinit(&reply);
    if (good && (ret->n == 0 || ret->failed)) {
        err_set(err, ERR_INPUT, "the metadata service's answer to %.100s is %s", path,
                ret->failed ? "too long, or out of memory" : "empty");
        good = false;
    }
    return good;
}

/* Records the last part of a path ("projects/1234/zones/us-central1-a": the part before it names
 * the account), if it is a plain word. */
static void cloud_emit_last_part(struct host *h, struct record *r, const char *key, struct str value)
{
    value = str_trim(value);
    const char *slash = value.n ? memrchr(value.p, '/', value.n) : NULL;
    if (slash)
        value = str_sub(value, (size_t)(slash - value.p) + 1, value.n);
    bool plain = value.n < 100;
    for (size_t i = 0; plain && i < value.n; i++)
        plain = value.p[i] && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ", value.p[i]);
    if (plain)
        emit_param(h, r, key, value);
    else
        emit_missing(h, r, key, "the metadata service's answer is not a name");
}

/* Requests type, region and zone, one text for each path (NULL: the cloud has none). Returns false
 * with *err where the first one fails; another one that fails is recorded as missing. */
static bool cloud_request_lines(struct service *s, struct host *h, struct record *r, const char *header, const char *const paths[3],
                                struct err *err)
{
    static const char *const keys[] = {"cloud.instance_type", "cloud.region", "cloud.zone"};
    struct buf text CLEANUP_BUF;
    buf_init(&text, ANSWER_MAX);
    if (!cloud_request(s, "GET", paths[0], header, &text, err))
        return false;
    cloud_emit_last_part(h, r, keys[0], buf_text(&text));
    for (int i = 1; i < 3; i++) {
        struct err why = {0};
        if (paths[i] && cloud_request(s, "GET", paths[i], header, &text, &why))
            cloud_emit_last_part(h, r, keys[i], buf_text(&text));
        else if (paths[i])
            emit_missing(h, r, keys[i], "%s", why.text);
    }
    return true;
}

/* Requests one JSON reply with the three fields. Returns false with *err where the request fails,
 * or the reply is no JSON or lacks the first field. */
static bool cloud_request_json(struct service *s, struct host *h, struct record *r, const char *header, const char *path,
                               const char *const fields[3], struct err *err)
{
    static const char *const keys[] = {"cloud.instance_type", "cloud.region", "cloud.zone"};
    struct buf text CLEANUP_BUF;
    struct json *j = NULL;
    buf_init(&text, ANSWER_MAX);
    if (!cloud_request(s, "GET", path, header, &text, err) || json_parse(&j, buf_text(&text), NULL, err) != 0)
        return false;
    for (int i = 0; i < 3; i++)
        cloud_emit_last_part(h, r, keys[i], str_of(json_string(json_get(j, fields[i]), "")));
    bool any = json_string(json_get(j, fields[0]), NULL) != NULL;
    json_free(j);
    return any || (err_set(err, ERR_INPUT, "the metadata service's answer has no \"%s\"", fields[0]), false);
}

/* Requests a session token, and with it the facts. Returns false with *err where a request fails or
 * the token has a line break. */
static bool cloud_request_aws(struct service *s, struct host *h, struct record *r, struct err *err)
{
    static const char *const paths[] = {"/latest/meta-data/instance-type", "/latest/meta-data/placement/region",
                                        "/latest/meta-data/placement/availability-zone"};
    struct buf token CLEANUP_BUF;
    buf_init(&token, 1024);
    if (!cloud_request(s, "PUT", "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 60", &token, err))
        return false;
    struct str one = str_trim(buf_text(&token));
    if (memchr(one.p, '\n', one.n) || memchr(one.p, '\r', one.n)) {
        err_set(err, ERR_INPUT, "the metadata service's token has more than one line");
        return false;
    }
    snprintf(s->token_header, sizeof s->token_header, "X-aws-ec2-metadata-token: " STR_FMT, STR_ARG(one));
    return cloud_request_lines(s, h, r, s->token_header, paths, err);
}

/* Requests the facts in the way of this cloud. Returns false where that fails, with *err, or the
 * cloud has no known service, without. */
static bool cloud_request_facts(enum cloud cloud, struct service *s, struct host *h, struct record *r, struct err *err)
{
    static const char *const gcp[] = {"/computeMetadata/v1/instance/machine-type", NULL, "/computeMetadata/v1/instance/zone"};
    static const char *const azure[] = {"vmSize", "location", "zone"};
    static const char *const oracle[] = {"shape", "canonicalRegionName", "availabilityDomain"};
    static const char *const alibaba[] = {"/latest/meta-data/instance/instance-type", "/latest/meta-data/region-id",
                                          "/latest/meta-data/zone-id"};
    static const char *const openstack[] = {"/latest/meta-data/instance-type", NULL, "/latest/meta-data/placement/availability-zone"};
    switch (cloud) {
    case AWS: return cloud_request_aws(s, h, r, err);
    case GCP: return cloud_request_lines(s, h, r, "Metadata-Flavor: Google", gcp, err);
    case AZURE:
        return cloud_request_json(s, h, r, "Metadata: true", "/metadata/instance/compute?api-version=2021-02-01&format=json", azure, err);
    case ORACLE: return cloud_request_json(s, h, r, "Authorization: Bearer Oracle", "/opc/v2/instance/", oracle, err);
    case ALIBABA: return cloud_request_lines(s, h, r, NULL, alibaba, err);
    case OPENSTACK:
    case HETZNER: return cloud_request_lines(s, h, r, NULL, openstack, err);
    default: return false;
    }
}

/* Records the facts of the cloud's metadata service; it runs in a child process. -1 with err: there
 * is no cloud, or its service does not answer. */
static int cloud_beside(struct host *h, struct record *r, struct err *err)
{
    static const enum cloud likely[] = {AWS, GCP, AZURE, ORACLE, OPENSTACK};
    struct look_text product;
    struct service s = {.until_ns = clock_mono_ns() + WHOLE_MS * (int64_t)1000000};
    enum cloud cloud = cloud_detect(h, &product);
    bool given = strcmp(h->metadata, "auto") != 0, told = false;
    if (cloud == NO_CLOUD && !given)
        return err_set(err, ERR_SYSTEM, "the firmware names no cloud, so no metadata service was queried");
    s.base = given ? h->metadata : cloud == ALIBABA ? "http://100.100.100.200" : "http://169.254.169.254";
    struct http_config config = {
        .agent = "benchwrap", .proxy = "", .no_redirects = true, .connect_s = CONNECT_MS / 1e3, .total_s = WHOLE_MS / 1e3, .cancel_fd = -1};
    if (http_new(&s.http, &config, err) != 0)
        return -1;
    if (cloud != NO_CLOUD)
        told = cloud_request_facts(cloud, &s, h, r, err);
    for (size_t i = 0; cloud == NO_CLOUD && !told && i < sizeof likely / sizeof *likely; i++)
        if ((told = cloud_request_facts(likely[i], &s, h, r, err)))
            emit_text(h, r, "cloud.provider_asked", names[likely[i]]);
    http_free(s.http);
    if (told)
        return 0;
    return err->text[0] ? err_wrap(err, "metadata service") : err_set(err, ERR_SYSTEM, "the metadata service reported nothing");
}

static bool cloud_can_run(enum probe_phase phase, const struct host *h, const struct record *r)
{
    (void)r;
    return phase != PROBE_BESIDE || (h->real && h->metadata);
}

const struct probe probe_cloud = {
    .name = "cloud",
    .summary = "cloud and instance type by the firmware; with --cloud-metadata the metadata service, aside",
    .before = cloud_before,
    .beside = cloud_beside,
    .wanted = cloud_can_run,
    .limit_ms = 1500,
    .beside_lasts = true,
};
