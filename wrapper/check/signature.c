/* signature.c: the signature of a site's key over the manifest: OpenSSH's (ssh-keygen -Y sign -n benchwrap), artifacts/manifest.json.sig.
 *
 * The signer is the run's tag `site`, as the file of allowed signers names it. Unlike a commit's signature it survives squash and rebase. */
#include "check/parts.h"

#include "base/fs.h"
#include "git/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIGNATURE_MAX = 64 << 10 };
static const char file[] = "artifacts/manifest.json.sig";

/* Returns whether the site's name may be a principal of the allowed signers: a word that cannot be
 * a pattern or another line. */
static bool is_site_principal(const char *site)
{
    size_t n = strlen(site);
    return n && n < 100 && strspn(site, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") == n && site[0] != '-';
}

/* Verifies the signature file `path` over the manifest with ssh-keygen, as one of the site. Reports
 * a finding where it is wrong, or cannot be verified. */
static void verify_signature(struct run_check *r, const char *site, const char *path)
{
    const char *const argv[] = {"ssh-keygen", "-Y", "verify", "-f", r->k->signers, "-I", site, "-n", "benchwrap", "-s", path, NULL};
    struct program p = {.argv = argv, .in = r->manifest_text, .limit_s = 20};
    struct program_end end = {0};
    struct err err = {0};
    int rc = program_run(&p, &end, &err);
    if (rc)
        run_found(r, CHECK_SIGNATURE, file, 0, "it cannot be verified: %s", rc > 0 ? "there is no ssh-keygen here" : err.text);
    else if (end.status) {
        program_err(&end, &err, "%s", "ssh-keygen -Y verify");
        run_found(r, CHECK_SIGNATURE, file, 0, "it is not a signature of the site \"%s\" over this manifest (%s)", site, err.text);
    }
    program_end_deinit(&end);
}

/* Verifies the stored signature by a copy of it in /tmp, which is removed. */
static void check_given(struct run_check *r, const char *site)
{
    CLEANUP_BUF struct buf text;
    char path[] = "/tmp/benchwrap-check.XXXXXX";
    buf_init(&text, SIGNATURE_MAX * 3);
    if (folder_read(r->folder, file, SIGNATURE_MAX, &text) < 0) {
        run_found(r, CHECK_SIGNATURE, file, 0, "it cannot be read");
        return;
    }
    CLEANUP_FD int fd = mkstemp(path);
    if (fd < 0 || fs_write_all(fd, text.p, text.n) < 0)
        run_found(r, CHECK_SIGNATURE, file, 0, "it cannot be verified: no file can be made in /tmp");
    else
        verify_signature(r, site, path);
    if (fd >= 0)
        unlink(path);
}

void check_signature(struct run_check *r)
{
    const char *site = run_text(r, 't', "site");
    if (!r->k->signers)
        return;
    if (!run_file(r, file))
        run_found(r, CHECK_UNSIGNED, "", 0, "there is no %s", file);
    else if (!site || !is_site_principal(site))
        run_found(r, CHECK_SIGNATURE, "tags/site", 0, "the run names no site whose key it could be");
    else if (!r->manifest_text.p)
        run_found(r, CHECK_SIGNATURE, file, 0, "there is no manifest");
    else
        check_given(r, site);
}
