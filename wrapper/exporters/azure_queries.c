/* azure_queries.c: KQL queries on the tables of azure_setup.c. */
#include "exporters/azure_setup.h"

/* The newest row of each record: a delivery that was repeated left two. */
#define RUNS "let Runs = BenchwrapRuns_CL | summarize arg_max(TimeGenerated, *) by RecordId;\n"

static const struct azure_query {
    const char *title, *text;
} azure_queries[] = {
    {"Runs of the last day, with their outcome",
     RUNS "Runs\n"
          "| where RunStart > ago(1d) and Metric == \"run.wall_s\"\n"
          "| project RunStart, RunName, Benchmark, Cluster, Computer, JobId, Status, Verdict, Reason, WallSeconds = Value, Params\n"
          "| order by RunStart desc\n"},
    {"Trend: a headline metric over time, for each cluster",
     RUNS "Runs\n"
          "| where RunStart > ago(90d) and Headline and Benchmark == \"ior\"\n"
          "| summarize Median = percentile(Value, 50), Least = min(Value), Most = max(Value), Runs = dcount(RunId)\n"
          "    by bin(RunStart, 1d), Cluster, Metric, Unit\n"
          "| order by RunStart asc\n"},
    {"Comparison of clusters: median of the last 30 days, against the best", RUNS
     "let Medians = Runs\n"
     "| where RunStart > ago(30d) and Headline and Status == \"FINISHED\"\n"
     "| summarize Median = percentile(Value, 50), Runs = dcount(RunId), Direction = take_any(Direction) by Benchmark, Metric, Unit, Cluster;\n"
     "Medians\n"
     "| join kind=inner (Medians | summarize Highest = max(Median), Lowest = min(Median) by Benchmark, Metric) on Benchmark, Metric\n"
     "| extend Ratio = Median / iff(Direction == \"lower\", Lowest, Highest)\n"
     "| project Benchmark, Metric, Cluster, Median, Unit, Runs, Ratio\n"
     "| order by Benchmark asc, Metric asc, Ratio desc\n"},
    {"Regression: the last day against the 30 days before, by more than 5 % and the earlier spread", RUNS
     "let Changes = Runs\n"
     "| where RunStart > ago(31d) and Headline and Status == \"FINISHED\"\n"
     "| summarize Now = percentile(iff(RunStart > ago(1d), Value, real(null)), 50), Before = percentile(iff(RunStart <= ago(1d), Value, real(null)), 50),\n"
     "    Low = percentile(iff(RunStart <= ago(1d), Value, real(null)), 5), High = percentile(iff(RunStart <= ago(1d), Value, real(null)), 95),\n"
     "    RunsNow = countif(RunStart > ago(1d)), RunsBefore = countif(RunStart <= ago(1d)), Direction = take_any(Direction)\n"
     "    by Benchmark, Cluster, Metric, Unit;\n"
     "Changes\n"
     "| where RunsNow > 0 and RunsBefore >= 4\n"
     "| extend Change = (Now - Before) / Before\n"
     "| where (Direction == \"higher\" and Change < -0.05 and Now < Low) or (Direction == \"lower\" and Change > 0.05 and Now > High)\n"
     "| project Benchmark, Cluster, Metric, Before, Now, Unit, Change, RunsNow, RunsBefore\n"
     "| order by Change asc\n"},
    {"Runs that missed a reference",
     RUNS "Runs\n"
          "| where RunStart > ago(7d) and MetricVerdict in (\"below\", \"above\", \"missing\")\n"
          "| project RunStart, Benchmark, Cluster, Partition, Metric, Value, Reference, Low, High, MetricVerdict, RunId\n"
          "| order by RunStart desc\n"},
    {"Job archive: recent submissions",
     "slurmjobs_raw_CL\n"
     "| where TimeGenerated > ago(1d) and FilePath endswith \".sh\"\n"
     "| extend User = extract(@\"/([^/]+)/job_[^/]+$\", 1, FilePath), JobId = extract(@\"/job_(\\d+)\", 1, FilePath)\n"
     "| summarize Submitted = min(TimeGenerated), Lines = count() by JobId, User, FilePath\n"
     "| order by Submitted desc\n"},
    {"Job archive: failures in standard error",
     "slurmjobs_raw_CL\n"
     "| where TimeGenerated > ago(1d) and FilePath endswith \".err\"\n"
     "| where RawData has_any (\"error\", \"failed\", \"fatal\", \"killed\", \"cancelled\", \"segmentation\", \"abort\")\n"
     "| extend User = extract(@\"/([^/]+)/job_[^/]+$\", 1, FilePath), JobId = extract(@\"/job_(\\d+)\", 1, FilePath)\n"
     "| summarize Failures = count(), First = take_any(RawData), Last = max(TimeGenerated) by JobId, User, Computer\n"
     "| order by Last desc\n"},
    {"Job archive: SLURM_ variables of each job",
     "slurmjobs_raw_CL\n"
     "| where TimeGenerated > ago(1d) and FilePath endswith \".env\" and RawData startswith \"SLURM_\"\n"
     "| extend JobId = extract(@\"/job_(\\d+)\", 1, FilePath)\n"
     "| parse RawData with Name \"=\" Setting\n"
     "| summarize Variables = make_bag(bag_pack(Name, Setting)) by JobId, FilePath\n"
     "| order by JobId desc\n"},
    {"Lines of slurmctld in parts; level and component may be absent",
     "slurmctld_raw_CL\n"
     "| where TimeGenerated > ago(1d)\n"
     "| extend LogTime = todatetime(extract(@\"^\\[([^\\]]+)\\]\", 1, RawData)), Rest = replace_regex(RawData, @\"^\\[[^\\]]+\\]\\s*\", \"\")\n"
     "| extend Level = extract(@\"^(fatal|error|warning|info|verbose|debug[1-5]?):\", 1, Rest)\n"
     "| extend Rest = replace_regex(Rest, @\"^(fatal|error|warning|info|verbose|debug[1-5]?):\\s*\", \"\")\n"
     "| extend Component = extract(@\"^([a-z_]+/[A-Za-z0-9_]+|sched|backfill):\\s\", 1, Rest)\n"
     "| extend Message = replace_regex(Rest, @\"^([a-z_]+/[A-Za-z0-9_]+|sched|backfill):\\s*\", \"\")\n"
     "| project LogTime, Level, Component, Message, Computer\n"
     "| order by LogTime desc\n"},
    {"Lines of syslog in parts",
     "syslog_raw_CL\n"
     "| where TimeGenerated > ago(1d)\n"
     "| extend Parts = extract_all(@\"^(?:<\\d+>)?([A-Z][a-z]{2} +\\d+ [\\d:]{8}|\\d{4}-\\d\\d-\\d\\dT\\S+) (\\S+) ([^:\\[\\s]+)(?:\\[(\\d+)\\])?: (.*)$\", RawData)\n"
     "| extend Part = Parts[0]\n"
     "| project LogTime = tostring(Part[0]), Host = tostring(Part[1]), Process = tostring(Part[2]), ProcessId = tolong(Part[3]), Message = tostring(Part[4]),\n"
     "    RawData\n"},
    {"Lines that arrived in the last 15 minutes, of each table",
     "union withsource=Table slurmctld_raw_CL, slurmd_raw_CL, slurmdb_raw_CL, slurmrestd_raw_CL, jetpack_raw_CL, jetpackd_raw_CL, healthagent_raw_CL,\n"
     "    dmesg_raw_CL, syslog_raw_CL, slurmjobs_raw_CL\n"
     "| where ingestion_time() > ago(15m)\n"
     "| summarize Lines = count(), Last = max(TimeGenerated) by Table, Computer\n"
     "| order by Table asc\n"},
};

void azure_queries_print(struct buf *to)
{
    for (size_t i = 0; i < sizeof azure_queries / sizeof *azure_queries; i++)
        buf_printf(to, "%s// %s\n%s", i ? "\n" : "", azure_queries[i].title, azure_queries[i].text);
}
