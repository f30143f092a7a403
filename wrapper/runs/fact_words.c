/* fact_words.c: names of recorded facts in standard terms. docs/keys.md defines the keys. */
#include "runs/fact_words.h"

#include <string.h>

static const struct {
    const char *key, *words;
} fact_words_of[] = {
    {"cache.l1d_KiB", "L1 data cache"},
    {"cache.l2_KiB", "L2 cache"},
    {"cache.l3_KiB", "L3 cache"},
    {"cache.l3_count", "number of L3 caches"},
    {"cgroup.cpu_limit", "processors that the control group allows"},
    {"cgroup.memory_limit_GiB", "memory that the control group allows"},
    {"cloud.instance_type", "cloud instance type"},
    {"cpu.allowed_threads", "hardware threads that the job may use"},
    {"cpu.boost", "boost of the processor frequency"},
    {"cpu.bound_cores", "cores that the program may use"},
    {"cpu.bound_threads", "hardware threads that the program may use"},
    {"cpu.cores", "cores of the node"},
    {"cpu.governor", "frequency governor"},
    {"cpu.microcode", "microcode of the processor"},
    {"cpu.model", "processor"},
    {"cpu.simd", "vector instructions"},
    {"cpu.smt", "simultaneous multithreading"},
    {"cpu.sockets", "processor sockets"},
    {"cpu.threads", "hardware threads of the node"},
    {"cpu.threads_per_core", "hardware threads of a core"},
    {"dimm.count", "memory modules"},
    {"dimm.kind", "kind of memory"},
    {"dimm.speed", "speed of the memory"},
    {"fs.type", "file system"},
    {"gpu.count", "number of GPUs"},
    {"gpu.cuda_driver", "CUDA version of the GPU driver"},
    {"gpu.driver", "GPU driver"},
    {"gpu.model", "GPU"},
    {"job.partition", "partition"},
    {"job.scheduler", "scheduler"},
    {"kernel.mitigations", "kernel's mitigations of processor vulnerabilities"},
    {"kernel.numa_balancing", "automatic NUMA balancing"},
    {"kernel.release", "kernel version"},
    {"kernel.thp", "transparent huge pages"},
    {"machine.product", "model of the machine"},
    {"machine.vendor", "maker of the machine"},
    {"machine.virtualization", "hypervisor"},
    {"memory.total_GiB", "memory of the node"},
    {"mpi.implementation", "MPI"},
    {"mpi.library", "MPI library file"},
    {"net.fabric_link", "link of the fabric"},
    {"net.fabric_model", "adapter of the fabric"},
    {"net.fabric_rate", "rate of the fabric"},
    {"node.type", "node type"},
    {"numa.bound_nodes", "NUMA nodes that the program may use"},
    {"numa.memory_GiB", "memory of the NUMA nodes"},
    {"numa.nodes", "number of NUMA nodes"},
    {"os.name", "operating system"},
    {"os.version", "version of the operating system"},
    {"program.compiler", "compiler"},
    {"program.sha256", "checksum of the program file"},
    {"software.container", "container engine"},
    {"software.container_image", "container image"},
    {"software.modules", "environment modules"},
    {"step.nodes", "nodes"},
    {"step.tasks", "tasks"},
    {"step.tasks_per_node", "tasks on each node"},
    {"step.cpus_per_task", "processors for each task"},
};

/* Returns the words of a fact; NULL: there are none. */
static const char *words_of_fact(const char *key)
{
    for (size_t i = 0; i < sizeof fact_words_of / sizeof *fact_words_of; i++)
        if (strcmp(key, fact_words_of[i].key) == 0)
            return fact_words_of[i].words;
    return strncmp(key, "env.", 4) == 0 ? "environment variable" : NULL;
}

const char *fact_words_and_key(const char *key, struct arena *a)
{
    const char *words = words_of_fact(key);
    return words ? arena_printf(a, "%s (%s)", words, key) : key;
}

const char *fact_words_of_metric(const char *key)
{
    static const struct {
        const char *stem, *words;
    } rows[] = {
        {"client.cpu_per_event", "processor time of llmload for each token it received"},
        {"client.first_tokens_unknown", "answers without a time to first token, because llmload read it late"},
        {"client.gaps_late", "gaps between tokens of unknown length, because llmload read late"},
        {"client.read_delay", "time from the arrival of bytes to their read by llmload"},
        {"client.reads_late", "reads more than 10 ms after their bytes came"},
        {"client.send_lag", "time from the scheduled to the actual send of a request"},
        {"client.sends_late", "requests sent more than 10 ms behind the schedule"},
        {"client.steal", "share of processor time that a hypervisor withheld"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].stem);
        if (strncmp(key, rows[i].stem, n) == 0 && (!key[n] || strchr("._", key[n])))
            return rows[i].words;
    }
    return NULL;
}
