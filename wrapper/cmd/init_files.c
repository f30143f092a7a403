/* init_files.c: the files of a results repository, as `benchwrap init` writes them. */
#include "cmd/init_files.h"

/* The jobs have no filter of paths: forges look at the first 300 changed files only, and a filtered job is passed by. They read the commits and
 * execute nothing of them; their token may read. */
#define INSTALL                                                                                                                                               \
    "          if ! command -v benchwrap; then\n"                                                                                                             \
    "            git clone --quiet --depth 1 \"${BENCHWRAP_SOURCE:?set the variable BENCHWRAP_SOURCE to the address of benchwrap's sources}\" ../benchwrap\n" \
    "            ../benchwrap/scripts/install-needs build && make -s -C ../benchwrap && mkdir -p bin && ln -s ../../benchwrap/build/bin/benchwrap bin/\n"     \
    "          fi\n"

#define CHECK_JOB                                                                                                                          \
    "    steps:\n"                                                                                                                         \
    "      - uses: actions/checkout@v4\n"                                                                                                  \
    "        with:\n"                                                                                                                      \
    "          fetch-depth: 0\n"                                                                                                           \
    "          persist-credentials: false\n"                                                                                               \
    "      - name: Install benchwrap\n"                                                                                                    \
    "        env:\n"                                                                                                                       \
    "          BENCHWRAP_SOURCE: ${{ vars.BENCHWRAP_SOURCE }}\n"                                                                           \
    "        run: |\n" INSTALL "      - name: Check the runs\n"                                                                            \
    "        env:\n"                                                                                                                       \
    "          RANGE: ${{ github.event.pull_request.base.sha }}..${{ github.event.pull_request.head.sha }}\n"                              \
    "        run: |\n"                                                                                                                     \
    "          PATH=$PWD/bin:$PATH\n"                                                                                                      \
    "          status=0\n"                                                                                                                 \
    "          benchwrap check --range \"$RANGE\" --markdown >../summary.md || status=$?\n"                                                \
    "          cat ../summary.md\n"                                                                                                        \
    "          cat ../summary.md >>\"${GITHUB_STEP_SUMMARY:-/dev/null}\"\n"                                                                \
    "          exit \"$status\"\n"

static const char github[] =
    "# Looks at the runs that a pull request brings, and shows what it found as the job's summary. Written by \"benchwrap init\".\n"
    "name: benchwrap check\n"
    "on:\n"
    "  pull_request:\n"
    "permissions:\n"
    "  contents: read\n"
    "jobs:\n"
    "  check:\n"
    "    runs-on: ubuntu-latest\n"
    "    timeout-minutes: 20\n" CHECK_JOB;

static const char forgejo[] =
    "# Looks at the runs that a pull request brings, and shows what it found as the job's summary. Written by \"benchwrap init\".\n"
    "name: benchwrap check\n"
    "on:\n"
    "  pull_request:\n"
    "jobs:\n"
    "  check:\n"
    "    runs-on: docker\n"
    "    timeout-minutes: 20\n" CHECK_JOB;

static const char gitlab[] =
    "# Looks at the runs that a merge request brings. Written by \"benchwrap init\".\n"
    "benchwrap check:\n"
    "  image: debian:stable\n"
    "  timeout: 20 minutes\n"
    "  rules:\n"
    "    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"\n"
    "  variables:\n"
    "    GIT_DEPTH: \"0\"\n"
    "  script:\n"
    "    - |\n"
    "      if ! command -v benchwrap; then\n"
    "        command -v git || { apt-get update -qq && apt-get install -qq -y git ca-certificates; }\n"
    "        git clone --quiet --depth 1 \"${BENCHWRAP_SOURCE:?set the variable BENCHWRAP_SOURCE to the address of benchwrap's sources}\" ../benchwrap\n"
    "        ../benchwrap/scripts/install-needs build && make -s -C ../benchwrap && export PATH=$PWD/../benchwrap/build/bin:$PATH\n"
    "      fi\n"
    "    - |\n"
    "      status=0\n"
    "      benchwrap check --range \"$CI_MERGE_REQUEST_DIFF_BASE_SHA..$CI_COMMIT_SHA\" --markdown >summary.md || status=$?\n"
    "      cat summary.md\n"
    "      exit \"$status\"\n"
    "  artifacts:\n"
    "    when: always\n"
    "    expose_as: benchwrap check\n"
    "    paths: [summary.md]\n";

static const char readme[] =
    "# Results of benchmarks\n"
    "\n"
    "Runs recorded by benchwrap, as MLflow's file tree: `mlruns/<experiment>/<run>/`. Every run is a folder of its own that is added once and never\n"
    "edited, so sites that never meet can add theirs by pull request without conflicts.\n"
    "\n"
    "## To contribute runs\n"
    "\n"
    "```\n"
    "benchwrap init --site YOUR-SITE ADDRESS-OF-THIS-REPOSITORY results   # once: a clone that is set up\n"
    "cd results\n"
    "benchwrap -- ANY BENCHMARK      # recorded here, and committed by itself to a branch of this clone\n"
    "benchwrap share --dry-run       # what would leave the site\n"
    "benchwrap share                 # pushes the branch and opens one pull request\n"
    "```\n"
    "\n"
    "A pull request adds folders of runs and nothing else. `benchwrap check` looks at it, locally and as a job of the forge: names, sizes, readability by\n"
    "MLflow, checksums, times, the figures read again from the stored output, secrets and personal data. What it finds stands in the job's summary.\n"
    "\n"
    "A run that turned out wrong is withdrawn by another run (`benchwrap retract RUN --why TEXT`); published files are not edited.\n"
    "\n"
    "## To look at runs\n"
    "\n"
    "```\n"
    "git pull\n"
    "benchwrap ls; benchwrap show last; benchwrap compare --by node.type -e EXPERIMENT\n"
    "benchwrap ui                    # MLflow's web pages of this tree\n"
    "```\n"
    "\n"
    "## For maintainers\n"
    "\n"
    "The jobs that check pull requests build benchwrap from the address in the variable `BENCHWRAP_SOURCE`, or use one that the runner has. Let changes to\n"
    "`benchwrap.yaml`, `.gitattributes` and the jobs' own files need a maintainer's approval: a pull request could change the job that is to judge it.\n";

static const char attributes[] = "# Runs are bytes: nothing is converted, and merges never edit them.\n"
                                 "mlruns/** -text -merge\n"
                                 "mlruns/** linguist-generated\n";

static const char ignore[] =
    "# What MLflow leaves beside the runs. The runs themselves are not here: in this clone .git/info/exclude keeps git status quiet.\n"
    "/mlruns/.trash/\n"
    "/mlruns/models/\n"
    "/mlflow.db*\n"
    "/mlartifacts/\n";

const struct init_file init_files[] = {
    {".gitattributes", INIT_LINES, attributes},
    {".gitignore", INIT_LINES, ignore},
    {"README.md", INIT_WHOLE, readme},
    {".github/workflows/benchwrap.yml", INIT_WHOLE, github},
    {".forgejo/workflows/benchwrap.yml", INIT_WHOLE, forgejo},
    {".gitlab-ci.yml", INIT_WHOLE, gitlab},
};
const size_t init_files_count = sizeof init_files / sizeof *init_files;

void init_config(struct buf *to, const char *profile)
{
    buf_puts(
        to,
        "# A results repository of benchwrap. What stands here holds for everybody who uses it; each clone keeps its own settings (site …) in\n"
        "# .benchwrap/config.yaml. Taken from here: experiment, cluster, profile, commit, tag, param and other plain settings, nothing that could run\n"
        "# or send something.\n");
    if (profile)
        buf_printf(to, "profile: %s\n", profile);
    else
        buf_puts(to, "# profile: public        # the default once the repository has a remote: names of machines and people stay out\n");
    buf_puts(to, "commit: run              # each run by itself; batch: once a day and with \"benchwrap share\"; none\n");
}
