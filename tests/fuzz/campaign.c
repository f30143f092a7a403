/* campaign.c: any bytes as the files of a campaign, which status, report and logs read of other users' campaigns too. */
#include "base/fs.h"
#include "recipe/campaign_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *campaign_fuzz_folder(int *ret_dir)
{
    static char path[] = "/tmp/benchwrap-fuzz-campaign.XXXXXX";
    static int dir = -1;
    if (dir < 0 && mkdtemp(path))
        dir = open(path, O_RDONLY | O_DIRECTORY);
    *ret_dir = dir;
    return path;
}

/* The first line of the input is campaign.json, the others are points.jsonl. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str events = {size ? (const char *)data : "", size}, state = str_cut(&events, '\n');
    struct campaign_state s;
    struct err err = {0};
    int dir;
    const char *path = campaign_fuzz_folder(&dir);
    if (fs_write(dir, CAMPAIGN_FILE, state, 0600, false, &err) || fs_write(dir, CAMPAIGN_EVENTS, events.p ? events : STR(""), 0600, false, &err))
        abort();
    if (campaign_state_open(&s, path, false, &err) == 0) {
        if (strlen(s.parent) >= sizeof s.parent)
            abort();
        for (const struct campaign_point *p = s.points; p; p = p->next) {
            if (p->outcome < 0 || p->outcome >= OUTCOME_COUNT || !p->reason || !p->objective || !p->label || !memchr(p->id, 0, sizeof p->id))
                abort();
            for (const struct campaign_run *run = p->runs; run; run = run->next)
                if (!memchr(run->id, 0, sizeof run->id))
                    abort();
        }
    }
    campaign_state_close(&s);
    return 0;
}
