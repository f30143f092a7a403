/* results_repo.c: a synthetic results repository: results_repo REPOSITORY RUNS FILES: one commit on main with so many runs in one experiment, and their
 * (empty) folders on disk, as a clone has them. */
/* link: core */
#include "base/fs.h"
#include "base/sha256.h"
#include "git/objects.h"
#include "git/ref.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPERIMENT "mlruns/1804881343"

static void need(int rc, const struct err *err)
{
    if (rc) {
        fprintf(stderr, "results_repo: %s\n", err->text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct repo *r;
    struct err err = {0};
    struct repo_id id, tree, commit;
    if (argc != 4)
        return 2;
    size_t n = strtoul(argv[2], NULL, 10), files = strtoul(argv[3], NULL, 10);
    need(repo_open(&r, argv[1], REPO_HERE, &err), &err);
    need(objects_new(r, &err), &err);
    need(chdir(argv[1]), &err);
    need(fs_mkdirs(AT_FDCWD, EXPERIMENT, 0777, &err), &err);
    struct tree_edit *runs = calloc(n + 2, sizeof *runs), *own = calloc(files, sizeof *own);
    char (*paths)[80] = calloc(n, sizeof *paths), (*names)[40] = calloc(files, sizeof *names);
    for (size_t i = 0; i < n; i++) {
        struct sha256 s;
        char hex[SHA256_HEX], text[60];
        sha256_init(&s);
        sha256_add(&s, &i, sizeof i);
        sha256_end(&s, hex);
        for (size_t f = 0; f < files; f++) {
            snprintf(text, sizeof text, "1700000000000 %zu.%zu 0\n", i, f);
            snprintf(names[f], sizeof names[f], "metrics/run.m%zu", f);
            need(objects_write(r, REPO_BLOB, str_of(text), names[f], &id, &err), &err);
            own[f] = (struct tree_edit){names[f], REPO_MODE_FILE, id};
        }
        need(objects_edit_tree(r, NULL, own, files, &id, &err), &err);
        snprintf(paths[i], sizeof paths[i], EXPERIMENT "/%.32s", hex);
        runs[i] = (struct tree_edit){paths[i], REPO_MODE_DIR, id};
        mkdir(paths[i], 0777);
        if (objects_waiting(r) > 8 << 20)
            need(objects_flush(r, &err), &err);
    }
    static const char meta[] = "artifact_location: \"" EXPERIMENT "\"\ncreation_time: 1767225600000\nexperiment_id: \"1804881343\"\nlast_update_time: 1767225600000\nlifecycle_stage: \"active\"\nname: \"default\"\n";
    need(objects_write(r, REPO_BLOB, str_of(meta), "meta.yaml", &id, &err), &err);
    runs[n] = (struct tree_edit){EXPERIMENT "/meta.yaml", REPO_MODE_FILE, id};
    need(fs_write(AT_FDCWD, EXPERIMENT "/meta.yaml", str_of(meta), 0666, false, &err), &err);
    need(objects_write(r, REPO_BLOB, STR("commit: none\n"), "benchwrap.yaml", &id, &err), &err);
    runs[n + 1] = (struct tree_edit){"benchwrap.yaml", REPO_MODE_FILE, id};
    need(fs_write(AT_FDCWD, "benchwrap.yaml", STR("commit: none\n"), 0666, false, &err), &err);
    need(objects_edit_tree(r, NULL, runs, n + 2, &tree, &err), &err);
    struct commit_draft d = {.tree = tree, .author = {"A", "a@b", 1700000000, 0}, .committer = {"A", "a@b", 1700000000, 0}, .message = "synthetic\n"};
    need(commit_write(r, &d, NULL, &commit, &err), &err);
    need(objects_flush(r, &err), &err);
    need(ref_move(NULL, r, "refs/heads/main", NULL, &commit, &d.author, "synthetic", 1, &err), &err);
    need(repo_config_set(r, "benchwrap.clone", "01234567", &err), &err);
    repo_close(r);
    return 0;
}
