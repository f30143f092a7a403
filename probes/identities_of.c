/* identities_of.c: collects the names to replace from environment, machine and accounts. */
#include "probes/identities.h"

#include "probes/look.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <unistd.h>

enum { HOSTS_MAX = 4096, FILE_MAX_BYTES = 1 << 20, GROUPS_MOST = 64 };

/* Adds the host name for each number of a range ("01-16", zeros included). Decreases *left, the
 * number of names that may still be added. */
static void identities_add_range(struct identities *ids, struct str prefix, struct str range, struct str suffix, size_t *left)
{
    struct str first = str_cut(&range, '-');
    uint64_t from, to;
    if (!str_uint(first, &from) || first.n > 18)
        return;
    to = from;
    if (range.p && (!str_uint(range, &to) || to < from))
        return;
    for (uint64_t i = from; i <= to && *left > 0; i++, --*left) {
        char name[256];
        int length =
            snprintf(name, sizeof name, STR_FMT "%0*llu" STR_FMT, STR_ARG(prefix), (int)first.n, (unsigned long long)i, STR_ARG(suffix));
        if (length > 0 && (size_t)length < sizeof name)
            identities_add(ids, str_of(name), 'h');
    }
}

void identities_add_hosts(struct identities *ids, struct str list)
{
    size_t left = HOSTS_MAX;
    if (memchr(list.p, '[', list.n))
        identities_add(ids, list, 'h'); /* unchanged, too */
    while (list.n > 0 && left > 0) {
        size_t n = 0, depth = 0;
        while (n < list.n && (depth > 0 || (list.p[n] != ',' && list.p[n] != ' ' && list.p[n] != '\n'))) {
            depth += list.p[n] == '[';
            depth -= list.p[n] == ']' && depth > 0;
            n++;
        }
        struct str item = str_sub(list, 0, n);
        if (memchr(item.p, '[', item.n))
            identities_add(ids, item, 'h');
        struct str prefix = str_cut(&item, '[');
        list = str_sub(list, n + 1, list.n);
        if (!item.p) {
            identities_add(ids, prefix, 'h');
            left--;
            continue;
        }
        struct str ranges = str_cut(&item, ']'), suffix = item.p ? item : (struct str){"", 0};
        while (ranges.p && left > 0)
            identities_add_range(ids, prefix, str_cut(&ranges, ','), suffix, &left);
    }
}

/* Adds a host with and without its domain, and the domain. */
static void identities_add_host(struct identities *ids, struct str name)
{
    identities_add(ids, name, 'h');
    struct str domain = name, first = str_cut(&domain, '.');
    identities_add(ids, first, 'h');
    if (domain.p && memchr(domain.p, '.', domain.n))
        identities_add(ids, domain, 'h');
}

/* Adds the host of an address ("https://user@host:port/path"). Adds nothing for a text without a
 * scheme. */
static void identities_add_server(struct identities *ids, struct str url)
{
    ptrdiff_t scheme = str_find(url, STR("://"));
    if (scheme >= 0)
        url = str_sub(url, (size_t)scheme + 3, url.n);
    size_t end = 0;
    while (end < url.n && !strchr("/?#", url.p[end]))
        end++;
    struct str host = str_sub(url, 0, end);
    const char *at = host.n ? memrchr(host.p, '@', host.n) : NULL;
    if (at)
        host = str_sub(host, (size_t)(at - host.p) + 1, host.n);
    host = str_cut(&host, ':');
    if (scheme >= 0 && host.n > 0 && host.p[0] != '[')
        identities_add(ids, host, 'h');
}

void identities_add_env(struct identities *ids, char *const *env)
{
    static const struct {
        const char *name;
        char kind; /* H: host with domain; L: list of hosts; S: address of a server */
    } rows[] = {{"HOME", 'd'},
                {"USER", 'u'},
                {"LOGNAME", 'u'},
                {"USERNAME", 'u'},
                {"SLURM_JOB_USER", 'u'},
                {"SUDO_USER", 'u'},
                {"PBS_O_LOGNAME", 'u'},
                {"PBS_O_HOME", 'd'},
                {"LSFUSER", 'u'},
                {"HOSTNAME", 'H'},
                {"HOST", 'H'},
                {"SLURMD_NODENAME", 'H'},
                {"SLURM_SUBMIT_HOST", 'H'},
                {"SLURM_LAUNCH_NODE_IPADDR", 's'},
                {"SLURM_SRUN_COMM_HOST", 's'},
                {"SLURM_STEP_LAUNCHER_HOSTNAME", 'H'},
                {"SLURM_TOPOLOGY_ADDR", 'H'},
                {"PBS_O_HOST", 'H'},
                {"PBS_SERVER", 'H'},
                {"LSB_SUB_HOST", 'H'},
                {"SLURM_JOB_NODELIST", 'L'},
                {"SLURM_NODELIST", 'L'},
                {"SLURM_STEP_NODELIST", 'L'},
                {"LSB_HOSTS", 'L'},
                {"COBALT_PARTNAME", 'L'},
                {"SLURM_JOB_ACCOUNT", 'a'},
                {"SBATCH_ACCOUNT", 'a'},
                {"PBS_ACCOUNT", 'a'},
                {"LSB_PROJECT_NAME", 'a'},
                {"SSH_CLIENT", 's'},
                {"MLFLOW_TRACKING_URI", 'S'},
                {"EMAIL", 's'},
                {"MAIL", 'd'}};
    for (char *const *e = env; e && *e; e++) {
        struct str value = str_of(*e), name = str_cut(&value, '=');
        for (size_t i = 0; value.p && i < sizeof rows / sizeof *rows; i++) {
            if (!str_is(name, rows[i].name))
                continue;
            if (rows[i].kind == 'H')
                identities_add_host(ids, value);
            else if (rows[i].kind == 'L')
                identities_add_hosts(ids, value);
            else if (rows[i].kind == 'S')
                identities_add_server(ids, value);
            else
                identities_add(ids, rows[i].kind == 's' ? str_word(&value) : value, rows[i].kind);
        }
    }
}

static void identities_add_file(struct identities *ids, const struct host *h, const char *path, char kind)
{
    struct look_text text;
    if (look_read(h, &text, "%s", path) && text.n >= 4)
        identities_add(ids, (struct str){text.p, text.n}, kind);
}

struct identity_folder {
    struct identities *ids;
    const struct host *h;
    const char *folder, *below;
    char kind;
    int left;
};

/* Adds the text of a file below this folder as an identity, unless it has fewer than 5 bytes or
 * only zeros. */
static void identities_add_entry(void *context, const char *name)
{
    struct identity_folder *a = context;
    struct look_text text;
    bool zeros = true;
    if (a->left-- <= 0 || !look_read(a->h, &text, "%s/%s/%s", a->folder, name, a->below) || text.n < 5)
        return;
    for (size_t i = 0; i < text.n; i++)
        zeros = zeros && (text.p[i] == '0' || text.p[i] == ':');
    if (!zeros)
        identities_add(a->ids, (struct str){text.p, text.n}, a->kind);
}

/* Adds the text of the file `below` each entry of a folder of sysfs, of at most 256. */
static void identities_add_folder(struct identities *ids, const struct host *h, const char *folder, const char *below, char kind)
{
    look_each_name(h, folder, identities_add_entry, &(struct identity_folder){ids, h, folder, below, kind, 256});
}

/* Adds this machine's IP addresses, except those of loopback interfaces. */
static void identities_add_addresses(struct identities *ids)
{
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0)
        return;
    for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
        char text[INET6_ADDRSTRLEN] = "";
        if (!a->ifa_addr || a->ifa_flags & IFF_LOOPBACK)
            continue;
        if (a->ifa_addr->sa_family == AF_INET)
            inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr, text, sizeof text);
        else if (a->ifa_addr->sa_family == AF_INET6)
            inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr, text, sizeof text);
        identities_add(ids, str_of(text), 's');
    }
    freeifaddrs(list);
}

/* Adds the names in the lines of /etc/passwd or /etc/group with this number; they are read as
 * files, since the name service can hang. Field 0 is the name, 2 the number. */
static void identities_add_account(struct identities *ids, struct str file, uint64_t number, bool user)
{
    while (file.p) {
        struct str line = str_cut(&file, '\n'), field[7] = {{0}};
        uint64_t n;
        for (int i = 0; i < 7 && line.p; i++)
            field[i] = str_cut(&line, ':');
        if (!str_uint(field[2], &n) || n != number)
            continue;
        identities_add(ids, field[0], 'u');
        if (user && field[4].p) {
            identities_add(ids, str_cut(&field[4], ','), 'u'); /* the person's name */
            identities_add(ids, field[5], 'd');
        }
    }
}

/* Adds the names and numbers of this user and of its groups, except for root. */
static void identities_add_accounts(struct identities *ids, const struct host *h)
{
    struct buf passwd CLEANUP_BUF, group CLEANUP_BUF;
    gid_t groups[GROUPS_MOST];
    int n = getgroups(GROUPS_MOST, groups);
    uid_t uid = getuid();
    buf_init(&passwd, FILE_MAX_BYTES + (1 << 17));
    buf_init(&group, FILE_MAX_BYTES + (1 << 17));
    if (uid == 0)
        return;
    look_read_file(h, "etc/passwd", FILE_MAX_BYTES, &passwd);
    look_read_file(h, "etc/group", FILE_MAX_BYTES, &group);
    identities_add_account(ids, buf_text(&passwd), uid, true);
    for (int i = 0; i < n; i++)
        if (groups[i] >= 100)
            identities_add_account(ids, buf_text(&group), groups[i], false);
    ids->numbers[0] = uid;
    ids->numbers[1] = getgid();
    ids->number_count = 2;
}

void identities_add_host_names(struct identities *ids, const struct host *h)
{
    static const char *const serials[] = {"sys/class/dmi/id/product_serial",
                                          "sys/class/dmi/id/board_serial",
                                          "sys/class/dmi/id/chassis_serial",
                                          "sys/class/dmi/id/product_uuid",
                                          "sys/class/dmi/id/board_asset_tag",
                                          "sys/class/dmi/id/chassis_asset_tag",
                                          "etc/machine-id",
                                          "var/lib/dbus/machine-id",
                                          "proc/sys/kernel/random/boot_id",
                                          "proc/device-tree/serial-number",
                                          "proc/device-tree/system-id",
                                          "etc/hostid"};
    struct look_text text;
    if (look_read(h, &text, "proc/sys/kernel/hostname"))
        identities_add_host(ids, (struct str){text.p, text.n});
    if (look_read(h, &text, "etc/hostname"))
        identities_add_host(ids, (struct str){text.p, text.n});
    identities_add_file(ids, h, "proc/sys/kernel/domainname", 'h');
    if (look_read(h, &text, "etc/resolv.conf"))
        for (struct str all = {text.p, text.n}; all.p;) {
            struct str line = str_cut(&all, '\n'), word = str_word(&line);
            if (str_is(word, "search") || str_is(word, "domain") || str_is(word, "nameserver"))
                while ((word = str_word(&line)).n > 0)
                    if (memchr(word.p, '.', word.n) || memchr(word.p, ':', word.n))
                        identities_add(ids, word, 'h');
        }
    for (size_t i = 0; i < sizeof serials / sizeof *serials; i++)
        identities_add_file(ids, h, serials[i], 's');
    identities_add_folder(ids, h, "sys/class/net", "address", 's');
    identities_add_folder(ids, h, "sys/class/infiniband", "node_guid", 's');
    identities_add_folder(ids, h, "sys/class/infiniband", "sys_image_guid", 's');
    identities_add_folder(ids, h, "sys/class/infiniband", "node_desc", 'h');
    identities_add_folder(ids, h, "sys/class/nvme", "serial", 's');
    identities_add_folder(ids, h, "sys/block", "device/serial", 's');
    identities_add_folder(ids, h, "sys/block", "serial", 's');
    identities_add_folder(ids, h, "sys/block", "device/wwid", 's');
    if (h->real) {
        identities_add_addresses(ids);
        identities_add_accounts(ids, h);
    }
}
