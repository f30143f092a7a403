/* clusters.c: any bytes as clusters.yaml: it is refused with a reason, or the cluster has a host that ssh takes for none of its options. */
#include "base/fs.h"
#include "recipe/campaign_cluster.h"

#include <fcntl.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/benchwrap-fuzz-clusters.XXXXXX";
    static bool is_made;
    struct arena a;
    struct campaign_cluster c;
    struct err err = {0};
    if (!is_made && mkstemp(path) < 0)
        abort();
    is_made = true;
    if (fs_write(AT_FDCWD, path, (struct str){size ? (const char *)data : "", size}, 0600, false, &err))
        abort();
    arena_init(&a, 64 << 20);
    if (campaign_cluster_read(&c, path, "hpc", &a, &err) == 0) {
        if (!c.host || !c.host[0] || c.host[0] == '-' || !c.folder || !c.benchwrap)
            abort();
        for (char **m = c.modules; m && *m; m++)
            if (strlen(*m) > size + 1)
                abort();
    } else if (!err.text[0])
        abort();
    arena_deinit(&a);
    return 0;
}
