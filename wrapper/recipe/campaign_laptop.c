/* campaign_laptop.c: files with which another machine shows a campaign in Prometheus and Grafana; see campaign_laptop.h. */
#include "recipe/campaign_laptop.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/secret.h"
#include "exporters/grafana.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { LAPTOP_FILE_MAX = 4 << 20, LAPTOP_TOKEN_MAX = 4096 };
#define PASSWORD_FILE "grafana.env"
#define PORT_DIGITS(number) #number
#define PORT_TEXT(number) PORT_DIGITS(number)
#define PROMETHEUS_PORT PORT_TEXT(LAPTOP_PROMETHEUS)
#define GRAFANA_PORT PORT_TEXT(LAPTOP_GRAFANA)

/* Both listen on this machine alone, and share its network, since the tunnels end there. Prometheus is root in its container to read the tokens,
 * which are closed to other users. */
static const char compose_text[] =
    "# Prometheus and Grafana for a campaign of benchwrap. In this folder:\n"
    "#   sh tunnels.sh                      (in another terminal)\n"
    "#   docker compose up -d               (or: podman-compose up -d)\n"
    "# Grafana is at http://127.0.0.1:" GRAFANA_PORT ", user admin, password in " PASSWORD_FILE
    ". Prometheus is at http://127.0.0.1:" PROMETHEUS_PORT ".\n"
    "services:\n"
    "  prometheus:\n"
    "    image: docker.io/prom/prometheus:v2.53.3\n"
    "    network_mode: host\n"
    "    user: \"0:0\"\n"
    "    command: [--config.file=/etc/prometheus/prometheus.yml, \"--web.listen-address=127.0.0.1:" PROMETHEUS_PORT
    "\", --storage.tsdb.path=/prometheus]\n"
    "    volumes: [\"./prometheus:/etc/prometheus:ro\", \"prometheus-data:/prometheus\"]\n"
    "  grafana:\n"
    "    image: docker.io/grafana/grafana:11.6.0\n"
    "    network_mode: host\n"
    "    env_file: [" PASSWORD_FILE "]\n"
    "    environment: {GF_SERVER_HTTP_ADDR: \"127.0.0.1\", GF_SERVER_HTTP_PORT: \"" GRAFANA_PORT
    "\", GF_ANALYTICS_REPORTING_ENABLED: \"false\"}\n"
    "    volumes: [\"./grafana/provisioning:/etc/grafana/provisioning:ro\", \"./grafana/dashboards:/var/lib/grafana/dashboards/benchwrap:ro\", "
    "\"grafana-data:/var/lib/grafana\"]\n"
    "volumes: {prometheus-data: {}, grafana-data: {}}\n";

static const char datasource_text[] =
    "apiVersion: 1\n"
    "datasources:\n"
    "  - {name: Prometheus, type: prometheus, access: proxy, url: \"http://127.0.0.1:" PROMETHEUS_PORT "\", isDefault: true}\n";

static const char provider_text[] =
    "apiVersion: 1\n"
    "providers:\n"
    "  - {name: benchwrap, folder: benchwrap, type: file, options: {path: /var/lib/grafana/dashboards/benchwrap}}\n";

static int write_laptop_file(int dir, const char *name, const struct buf *text, mode_t mode, struct err *err)
{
    return text->failed ? err_memory(err, "%s", name) : fs_write(dir, name, buf_text(text), mode, false, err);
}

/* Writes prometheus.yml and a copy of each service's token, mode 0600, to the folder prometheus/.
 * 0; -1 with err. */
static int write_prometheus(int dir, const struct campaign_targets *t, struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, LAPTOP_FILE_MAX);
    buf_puts(&text, "# The services of the campaign at the local ends of the tunnels.\nglobal: {scrape_interval: 5s}\n");
    campaign_targets_scrape(t, true, &text);
    if (fs_mkdirs(dir, "prometheus", 0755, err) || write_laptop_file(dir, "prometheus/prometheus.yml", &text, 0644, err))
        return -1;
    for (size_t i = 0; i < t->token_count; i++) {
        char name[40];
        snprintf(name, sizeof name, "prometheus/token-%zu", i);
        buf_clear(&text);
        if (secret_read(t->tokens[i], true, LAPTOP_TOKEN_MAX, &text, err) || write_laptop_file(dir, name, &text, 0600, err))
            return -1;
    }
    return 0;
}

/* Writes tunnels.sh, which opens the tunnels to all targets by one ssh. 0; -1 with err. */
static int write_tunnels(int dir, const struct campaign_targets *t, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct arena a;
    arena_init(&a, 0);
    const char *login = campaign_targets_login(&a);
    buf_init(&text, LAPTOP_FILE_MAX);
    buf_puts(
        &text,
        "#!/bin/sh\n# Makes the services of the campaign reachable, until it is interrupted: sh tunnels.sh [USER@LOGIN_NODE]\nexec ssh -N \\\n");
    for (size_t i = 0; i < t->count; i++)
        buf_printf(&text, "    -L 127.0.0.1:%u:%s:%u \\\n", t->list[i].local, t->list[i].host, t->list[i].port);
    buf_puts(&text, "    \"${1:-");
    buf_puts(&text, login ? login : "");
    buf_puts(&text, "}\"\n");
    int rc = login ? write_laptop_file(dir, "tunnels.sh", &text, 0755, err) : err_memory(err, "tunnels.sh");
    arena_deinit(&a);
    return rc;
}

static int write_dashboards(int dir, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct grafana_dashboard d;
    buf_init(&text, LAPTOP_FILE_MAX);
    if (fs_mkdirs(dir, "grafana/dashboards", 0755, err) || fs_mkdirs(dir, "grafana/provisioning/datasources", 0755, err) ||
        fs_mkdirs(dir, "grafana/provisioning/dashboards", 0755, err) ||
        fs_write(dir, "grafana/provisioning/datasources/prometheus.yaml", STR(datasource_text), 0644, false, err) ||
        fs_write(dir, "grafana/provisioning/dashboards/benchwrap.yaml", STR(provider_text), 0644, false, err))
        return -1;
    for (size_t i = 0; grafana_dashboard_at(i, &d); i++) {
        char name[100];
        snprintf(name, sizeof name, "grafana/dashboards/%s.json", d.name);
        buf_clear(&text);
        grafana_put_dashboard(i, &text);
        if (write_laptop_file(dir, name, &text, 0644, err))
            return -1;
    }
    return 0;
}

/* Writes a generated password for Grafana, mode 0600. A file that exists stays, since Grafana
 * stores the first password. 0; -1 with err. */
static int write_password(int dir, struct err *err)
{
    CLEANUP_BUF struct buf text;
    char password[SECRET_DIGITS + 1];
    buf_init(&text, 1000);
    if (faccessat(dir, PASSWORD_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    if (secret_generate(password, err))
        return -1;
    buf_printf(&text, "GF_SECURITY_ADMIN_PASSWORD=%s\n", password);
    return write_laptop_file(dir, PASSWORD_FILE, &text, 0600, err);
}

int campaign_laptop_write(const char *folder, const char *to, FILE *out, struct err *err)
{
    struct campaign_targets t;
    struct arena a;
    arena_init(&a, 0);
    int rc = campaign_targets_read(&t, folder, &a, err);
    CLEANUP_FD int dir = rc ? -1 : place_open_folder(to, 0700);
    if (rc == 0 && dir < 0)
        rc = err_sys(err, "cannot write into %.300s", to);
    if (rc == 0)
        rc = write_prometheus(dir, &t, err) || write_tunnels(dir, &t, err) || write_dashboards(dir, err) || write_password(dir, err) ||
                     fs_write(dir, "compose.yaml", STR(compose_text), 0644, false, err)
                 ? -1
                 : 0;
    arena_deinit(&a);
    if (rc == 0)
        fprintf(out, "%s: copy this folder to your machine; compose.yaml begins with what to do there\n", to);
    return rc;
}
