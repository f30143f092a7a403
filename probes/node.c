/* node.c: one hash for the configuration of the node: same kernel, microcode, firmware and settings
 * have the same `node.state`.
 *
 * The hardware has its own hash, `node.type`, which the topology probe records. */
#include "probes/state.h"
#include "probes/view.h"

#include "base/sha256.h"

#include <errno.h>

static const char *const keys[] = {
#define STATE(key) key,
#include "probes/node.def"
#undef STATE
};

/* Reasons of emit_unreadable: a file that is there, and not for this process. */
static bool node_is_denied(struct str reason)
{
    return str_has(reason, strerror(EACCES)) || str_has(reason, strerror(EPERM));
}

/* Records node.state, a hash of the params that describe the node's hardware and settings; a
 * missing value where a part of the machine is hidden. Returns 0. */
static int node_before(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    struct sha256 hash;
    char hex[SHA256_HEX], reason[256];
    size_t known = 0;
    if (view_is_partial(h, reason)) {
        emit_missing(h, r, "node.state", "a part of the machine is hidden: %s", reason);
        return 0;
    }
    if (h->state && h->state->failure[0]) {
        emit_missing(h, r, "node.state", "a part of it is hidden: %s", h->state->failure);
        return 0;
    }
    sha256_init(&hash);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct fact *f = record_find(r, FACT_PARAM, keys[i]), *missing = record_find(r, FACT_MISSING, keys[i]);
        if (!f && missing && node_is_denied(missing->text)) {
            emit_missing(h, r, "node.state", "a part of it is hidden: %s " STR_FMT, keys[i], STR_ARG(missing->text));
            return 0;
        }
        if (!f)
            continue;
        known++;
        sha256_add(&hash, keys[i], strlen(keys[i]));
        sha256_add(&hash, "=", 1);
        sha256_add(&hash, f->text.p, f->text.n);
        sha256_add(&hash, "\n", 1);
    }
    sha256_end(&hash, hex);
    hex[16] = 0; /* 64 bits: a site has fewer than 2^20 states */
    if (known > 0)
        emit_text(h, r, "node.state", hex);
    return 0;
}

const struct probe probe_node = {
    .name = "node",
    .summary = "hash of the node's configuration",
    .before = node_before,
};
