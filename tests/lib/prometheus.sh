# shellcheck shell=sh
# prometheus.sh: Prometheus, promtool, the Pushgateway, node exporter, Alertmanager, InfluxDB and VictoriaMetrics: those in PATH, else Debian's packages, unpacked into $CACHE.
# Sourced after tap.sh.

prometheus_pids=

# prometheus_ready: puts the programs into PATH. Status 1 and the reason in $prometheus_why where one is missing.
prometheus_ready()
{
    prometheus_dir=$CACHE/prometheus-debian
    PATH=$PATH:$prometheus_dir/root/usr/bin
    if ! command -v prometheus >/dev/null || ! command -v prometheus-pushgateway >/dev/null || ! command -v prometheus-node-exporter >/dev/null ||
        ! command -v prometheus-alertmanager >/dev/null || ! command -v influxd >/dev/null || ! command -v victoria-metrics >/dev/null; then
        command -v apt-get >/dev/null || { prometheus_why="Prometheus is not installed"; return 1; }
        mkdir -p "$prometheus_dir" && (
            flock 9
            [ ! -x "$prometheus_dir/root/usr/bin/victoria-metrics" ] || exit 0
            cd "$prometheus_dir" &&
                timeout 300 apt-get download prometheus prometheus-pushgateway prometheus-node-exporter prometheus-alertmanager influxdb victoria-metrics >log 2>&1 &&
                for prometheus_deb in *.deb; do dpkg -x "$prometheus_deb" new || exit 1; done && rm -rf root && mv new root
        ) 9>"$prometheus_dir.lock"
    fi
    command -v victoria-metrics >/dev/null && return 0
    # shellcheck disable=SC2034 # for the caller
    prometheus_why="Prometheus could not be downloaded: $(tail -n 1 "$prometheus_dir/log" 2>/dev/null)"
    return 1
}

# prometheus_start DIR [OPTION…]: with DIR/prometheus.yml and DIR/data; sets $prometheus_url.
prometheus_start()
{
    prometheus_dir=$1 prometheus_port=$(free_port)
    shift
    [ -e "$prometheus_dir/prometheus.yml" ] || printf 'global: {scrape_interval: 1s}\n' >"$prometheus_dir/prometheus.yml"
    prometheus --config.file="$prometheus_dir/prometheus.yml" --storage.tsdb.path="$prometheus_dir/data" --web.listen-address="127.0.0.1:$prometheus_port" \
        --storage.tsdb.retention.time=100y "$@" >"$prometheus_dir/log" 2>&1 &
    prometheus_pids="$prometheus_pids $!" prometheus_pid=$!
    prometheus_url=http://127.0.0.1:$prometheus_port
    prometheus_wait "$prometheus_url/-/ready"
}

pushgateway_start() # DIR: sets $pushgateway_url
{
    pushgateway_port=$(free_port)
    prometheus-pushgateway --web.listen-address="127.0.0.1:$pushgateway_port" >"$1/gateway.log" 2>&1 &
    prometheus_pids="$prometheus_pids $!" pushgateway_pid=$!
    pushgateway_url=http://127.0.0.1:$pushgateway_port
    prometheus_wait "$pushgateway_url/-/ready"
}

influx_start() # DIR: InfluxDB 1 with the database runs; sets $influx_url
{
    influx_port=$(free_port)
    mkdir -p "$1/influx"
    cat >"$1/influx/conf" <<C
reporting-disabled = true
bind-address = "127.0.0.1:$(free_port)"
[meta]
  dir = "$1/influx/meta"
[data]
  dir = "$1/influx/data"
  wal-dir = "$1/influx/wal"
[http]
  bind-address = "127.0.0.1:$influx_port"
C
    influxd -config "$1/influx/conf" >"$1/influx/log" 2>&1 &
    prometheus_pids="$prometheus_pids $!"
    influx_url=http://127.0.0.1:$influx_port
    prometheus_wait "$influx_url/ping" && curl -s -X POST "$influx_url/query" --data-urlencode 'q=CREATE DATABASE runs' >/dev/null
}

victoria_start() # DIR: sets $victoria_url
{
    victoria_port=$(free_port)
    victoria-metrics -storageDataPath="$1/victoria" -httpListenAddr="127.0.0.1:$victoria_port" -retentionPeriod=100y -search.latencyOffset=0s >"$1/victoria.log" 2>&1 &
    prometheus_pids="$prometheus_pids $!"
    victoria_url=http://127.0.0.1:$victoria_port
    prometheus_wait "$victoria_url/health"
}

prometheus_wait() # URL
{
    prometheus_waits=$1
    wait_until 'curl -sf "$prometheus_waits"'
}

prometheus_stop()
{
    # shellcheck disable=SC2086 # numbers
    [ -z "$prometheus_pids" ] || { kill $prometheus_pids 2>/dev/null; wait $prometheus_pids 2>/dev/null; }
    prometheus_pids=
}
