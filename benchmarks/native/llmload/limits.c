/* limits.c: descriptors, ports, hypervisor steal; see limits.h. */
#include "benchmarks/native/llmload/limits.h"

#include "base/fs.h"
#include "benchmarks/native/llmload/worker.h"

#include <fcntl.h>
#include <sys/resource.h>

enum { SPARE_DESCRIPTORS = 32 };

double limits_streams(const struct load *l)
{
    double most = profile_most(&l->concurrency);
    if (l->requests && most > (double)(l->requests + l->warmup_requests))
        most = (double)(l->requests + l->warmup_requests);
    return most / l->shares;
}

/* Raises the limit of descriptors for so many streams (0: without a bound). Returns 0, or another
 * value with *err where it stays too low. */
static int check_descriptors(double streams, struct err *err)
{
    struct rlimit r;
    double need = streams + SPARE_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return 0;
    if ((double)r.rlim_cur < need || streams == 0) { /* without a bound: as many as this process may */
        rlim_t want = streams == 0 || need > (double)r.rlim_max ? r.rlim_max : (rlim_t)need;
        r.rlim_cur = want > r.rlim_cur ? want : r.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &r);
        if (need > (double)r.rlim_max) { /* the administrator may */
            r.rlim_cur = r.rlim_max = (rlim_t)need;
            setrlimit(RLIMIT_NOFILE, &r);
        }
    }
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && (double)r.rlim_cur < need)
        return err_set(err, ERR_SYSTEM,
                       "%.0f streams need %.0f file descriptors, and this process may have %llu: raise the limit (ulimit -n %.0f; Slurm: "
                       "PropagateResourceLimits; systemd: LimitNOFILE=), or use several agents",
                       streams, need, (unsigned long long)r.rlim_cur, need);
    return 0;
}

/* Checks that so many streams find local ports. 0: enough, or not known; -1 with err, which names
 * what to change. */
static int check_ports(double streams, const struct load_run *run, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 200);
    if (fs_read(AT_FDCWD, "/proc/sys/net/ipv4/ip_local_port_range", 100, FS_CUT, &text, NULL) < 0)
        return 0;
    struct str rest = buf_text(&text);
    uint64_t low, high;
    if (!str_uint(str_word(&rest), &low) || !str_uint(str_word(&rest), &high) || high < low)
        return 0;
    double places = 0;
    for (size_t i = 0; i < run->endpoint_count; i++) {
        if (run->endpoints[i].socket)
            return 0;
        places += (double)(high - low + 1) * (double)(run->source_count ? run->source_count : 1);
    }
    if (streams <= places)
        return 0;
    return err_set(
        err, ERR_SYSTEM,
        "%.0f streams need as many local ports, and %.0f are available (net.ipv4.ip_local_port_range %llu-%llu; endpoints: %zu; "
        "source addresses: %zu): widen the range, name more --source addresses (on loopback: 127.0.0.2,127.0.0.3) or more --url, or use a "
        "Unix socket",
        streams, places, (unsigned long long)low, (unsigned long long)high, run->endpoint_count,
        run->source_count ? run->source_count : (size_t)1);
}

int limits_check(const struct load *load, const struct load_run *run, struct err *err)
{
    double streams = limits_streams(load);
    return check_descriptors(streams, err) < 0 || check_ports(streams, run, err) < 0 ? -1 : 0;
}

void steal_look(struct steal *ret)
{
    struct buf text CLEANUP_BUF;
    *ret = (struct steal){0, -1};
    buf_init(&text, 4096);
    if (fs_read(AT_FDCWD, "/proc/stat", 2048, FS_CUT, &text, NULL) < 0)
        return;
    struct str all = buf_text(&text), line = str_cut(&all, '\n');
    if (!str_is(str_word(&line), "cpu"))
        return;
    ret->all = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t ticks = 0;
        if (!str_uint(str_word(&line), &ticks))
            break;
        ret->all += (double)ticks;
        if (i == 7)
            ret->stolen = (double)ticks;
    }
}

double steal_percent(const struct steal *before, const struct steal *after)
{
    if (before->all < 0 || after->all <= before->all)
        return -1;
    return 100 * (after->stolen - before->stolen) / (after->all - before->all);
}
