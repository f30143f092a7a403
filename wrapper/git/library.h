/* library.h: libgit2, loaded with dlopen(3) when a repository is used: it costs several
 * milliseconds, which no measured program shall wait
 * for. The one header that includes <git2.h>; only the files of wrapper/git/ include it, everybody
 * else uses repo.h and its neighbours.
 *
 * Any libgit2 from 1.5 to the newest 1.x is accepted. The functions below have had the same
 * signature in all of them; structs that grew between
 * versions are not used. */
#ifndef GIT_LIBRARY_H
#define GIT_LIBRARY_H
#include "base/err.h"

#include <git2.h>
#include <git2/sys/commit.h>
#include <git2/sys/mempack.h>
#include <git2/sys/repository.h>

#define GIT2_CALLS(CALL)                                                                                                                   \
    CALL(git_branch_is_checked_out)                                                                                                        \
    CALL(git_commit_author)                                                                                                                \
    CALL(git_commit_committer)                                                                                                             \
    CALL(git_commit_free)                                                                                                                  \
    CALL(git_commit_lookup)                                                                                                                \
    CALL(git_commit_message)                                                                                                               \
    CALL(git_commit_raw_header)                                                                                                            \
    CALL(git_commit_parent_id)                                                                                                             \
    CALL(git_commit_parentcount)                                                                                                           \
    CALL(git_commit_tree_id)                                                                                                               \
    CALL(git_config_add_file_ondisk)                                                                                                       \
    CALL(git_config_delete_entry)                                                                                                          \
    CALL(git_config_foreach_match)                                                                                                         \
    CALL(git_config_free)                                                                                                                  \
    CALL(git_config_get_bool)                                                                                                              \
    CALL(git_config_get_string)                                                                                                            \
    CALL(git_config_open_level)                                                                                                            \
    CALL(git_config_parse_bool)                                                                                                            \
    CALL(git_config_set_string)                                                                                                            \
    CALL(git_config_snapshot)                                                                                                              \
    CALL(git_error_last)                                                                                                                   \
    CALL(git_graph_descendant_of)                                                                                                          \
    CALL(git_libgit2_init)                                                                                                                 \
    CALL(git_libgit2_opts)                                                                                                                 \
    CALL(git_libgit2_version)                                                                                                              \
    CALL(git_mempack_new)                                                                                                                  \
    CALL(git_mempack_reset)                                                                                                                \
    CALL(git_merge_base)                                                                                                                   \
    CALL(git_object_free)                                                                                                                  \
    CALL(git_object_id)                                                                                                                    \
    CALL(git_object_peel)                                                                                                                  \
    CALL(git_odb_add_backend)                                                                                                              \
    CALL(git_odb_exists)                                                                                                                   \
    CALL(git_odb_exists_ext)                                                                                                               \
    CALL(git_odb_free)                                                                                                                     \
    CALL(git_odb_hash)                                                                                                                     \
    CALL(git_odb_new)                                                                                                                      \
    CALL(git_odb_object_data)                                                                                                              \
    CALL(git_odb_object_free)                                                                                                              \
    CALL(git_odb_object_size)                                                                                                              \
    CALL(git_odb_read)                                                                                                                     \
    CALL(git_odb_read_header)                                                                                                              \
    CALL(git_odb_refresh)                                                                                                                  \
    CALL(git_odb_write)                                                                                                                    \
    CALL(git_packbuilder_free)                                                                                                             \
    CALL(git_packbuilder_insert)                                                                                                           \
    CALL(git_packbuilder_new)                                                                                                              \
    CALL(git_packbuilder_set_threads)                                                                                                      \
    CALL(git_packbuilder_write)                                                                                                            \
    CALL(git_reference_free)                                                                                                               \
    CALL(git_reference_iterator_free)                                                                                                      \
    CALL(git_reference_iterator_glob_new)                                                                                                  \
    CALL(git_reference_lookup)                                                                                                             \
    CALL(git_reference_name_is_valid)                                                                                                      \
    CALL(git_reference_name_to_id)                                                                                                         \
    CALL(git_reference_next_name)                                                                                                          \
    CALL(git_reference_symbolic_target)                                                                                                    \
    CALL(git_remote_free)                                                                                                                  \
    CALL(git_remote_list)                                                                                                                  \
    CALL(git_remote_lookup)                                                                                                                \
    CALL(git_remote_pushurl)                                                                                                               \
    CALL(git_remote_url)                                                                                                                   \
    CALL(git_repository_commondir)                                                                                                         \
    CALL(git_repository_config)                                                                                                            \
    CALL(git_repository_free)                                                                                                              \
    CALL(git_repository_is_bare)                                                                                                           \
    CALL(git_repository_is_shallow)                                                                                                        \
    CALL(git_repository_odb)                                                                                                               \
    CALL(git_repository_open_ext)                                                                                                          \
    CALL(git_repository_path)                                                                                                              \
    CALL(git_repository_workdir)                                                                                                           \
    CALL(git_repository_wrap_odb)                                                                                                          \
    CALL(git_revparse_single)                                                                                                              \
    CALL(git_revwalk_free)                                                                                                                 \
    CALL(git_revwalk_hide)                                                                                                                 \
    CALL(git_revwalk_new)                                                                                                                  \
    CALL(git_revwalk_next)                                                                                                                 \
    CALL(git_revwalk_push)                                                                                                                 \
    CALL(git_revwalk_sorting)                                                                                                              \
    CALL(git_strarray_dispose)                                                                                                             \
    CALL(git_transaction_commit)                                                                                                           \
    CALL(git_transaction_free)                                                                                                             \
    CALL(git_transaction_lock_ref)                                                                                                         \
    CALL(git_transaction_new)                                                                                                              \
    CALL(git_transaction_set_target)

struct git2 {
    void *handle;
#define CALL(name) __typeof__(name) *name;
    GIT2_CALLS(CALL)
#undef CALL
};

/* Returns the functions, which the first call loads and initialises; NULL with ERR_SYSTEM (the text
 * names the package). For one thread. */
const struct git2 *git2_load(struct err *err);
/* Sets err to libgit2's message: "<text>: its words", ERR_SYSTEM. code: what the call returned.
 * Returns -1. */
int git2_err(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#endif
