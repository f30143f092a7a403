/* witness.c: the signature of a site's key over a manifest, as `benchwrap check --allowed-signers` reads it; see witness.h.
 *
 * Format: OpenSSH's (PROTOCOL.sshsig), namespace "benchwrap". */
#include "results/witness.h"

#include "base/fs.h"
#include "git/sign.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { MANIFEST_MAX = 64 << 20 };

int witness_from(struct results *s, bool prompt, struct signer *ret, struct err *err)
{
    *ret = (struct signer){.prompt = prompt};
    int rc = repo_config(s->repo, "benchwrap.signingkey", s->arena, &ret->key, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    if (!*ret->key)
        return err_set(err, ERR_INPUT,
                       "benchwrap.signingKey is empty: git config benchwrap.signingKey FILE names the site's key, --unset signs no more");
    ret->format = "ssh";
    ret->program = sign_ssh_program(s->repo, s->arena);
    return ret->program ? 0 : err_memory(err, "the signature verifier");
}

int witness_sign(struct results *s, const struct signer *signer, int root, const char *experiment, const char *id, struct err *err)
{
    char manifest[120], signature[124];
    struct stat st;
    CLEANUP_BUF struct buf text;
    CLEANUP_BUF struct buf made;
    buf_init(&text, MANIFEST_MAX + 4096);
    buf_init(&made, 1 << 17);
    if (!signer->format)
        return 0;
    snprintf(manifest, sizeof manifest, "%.24s/%.32s/artifacts/manifest.json", experiment, id);
    snprintf(signature, sizeof signature, "%s.sig", manifest);
    if (fstatat(root, signature, &st, AT_SYMLINK_NOFOLLOW) == 0 || fstatat(root, manifest, &st, AT_SYMLINK_NOFOLLOW))
        return 0;
    if (fs_read(root, manifest, MANIFEST_MAX, 0, &text, err))
        return -1;
    if (sign_ssh(s->repo, signer, "benchwrap", buf_text(&text), &made, err))
        return err_wrap(err, "signing the run %.8s with benchwrap.signingKey", id);
    return fs_write(root, signature, buf_text(&made), 0666, true, err);
}
