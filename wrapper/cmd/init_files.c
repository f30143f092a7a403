/* init_files.c: the files of a results repository, as `benchwrap init` writes them. */
#include "cmd/init_files.h"

/* The jobs read the commits of the branch under review; they execute, source and follow nothing of it, and write outside of its checkout. They
 * have no filter of paths: forges inspect only the first 300 changed files, and skip a filtered job. */

/* Steps of a POSIX shell; `I` is the indentation. Only the system's directories are searched for programs, and $work is outside of the checkout. BENCHWRAP_SOURCE names the commit that is built. */
#define SAFE(I)                                                                                                                            \
    I "set -eu\n" I                                                                                                                        \
      "unset LD_PRELOAD LD_LIBRARY_PATH BASH_ENV ENV GIT_DIR GIT_WORK_TREE GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT\n" I              \
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"

#define INSTALL(I)                                                                                                                         \
    I "if ! command -v benchwrap; then\n" I "  source=${BENCHWRAP_SOURCE:-} && commit=${source##*#}\n" I                                   \
      "  case $commit in *[!0-9a-f]*) commit= ;; esac\n" I "  if [ ${#commit} != 40 ] || [ \"$source\" = \"$commit\" ]; then\n" I          \
      "    echo \"BENCHWRAP_SOURCE: expected ADDRESS#COMMIT with the 40 digits of a commit, got \\\"$source\\\"\" >&2\n" I                 \
      "    exit 1\n" I "  fi\n" I "  git init -q \"$work/benchwrap\"\n" I "  cd \"$work/benchwrap\"\n" I                                   \
      "  git fetch -q --depth 1 -- \"${source%#*}\" \"$commit\"\n" I                                                                       \
      "  git -c advice.detachedHead=false checkout -q --detach \"$commit\"\n" I "  [ \"$(git rev-parse HEAD)\" = \"$commit\" ]\n" I        \
      "  scripts/install-needs build\n" I "  make -s\n" I "fi\n"

#define CHECK(I, REPOSITORY)                                                                                                               \
    I "PATH=$work/benchwrap/build/bin:$PATH\n" I "cd \"$work\"\n" I "status=0\n" I                                                         \
      "benchwrap check --markdown --range \"$RANGE\" -- \"" REPOSITORY "\" >summary.md || status=$?\n" I "cat summary.md\n"

/* actions/checkout v4.2.2 */
#define CHECKOUT "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683"

#define CHECK_JOB                                                                                                                                 \
    "    steps:\n"                                                                                                                                \
    "      - uses: " CHECKOUT " # v4.2.2\n"                                                                                                       \
    "        with:\n"                                                                                                                             \
    "          fetch-depth: 0\n"                                                                                                                  \
    "          persist-credentials: false\n"                                                                                                      \
    "          submodules: false\n"                                                                                                               \
    "          lfs: false\n"                                                                                                                      \
    "      - name: Install benchwrap\n"                                                                                                           \
    "        env:\n"                                                                                                                              \
    "          BENCHWRAP_SOURCE: ${{ vars.BENCHWRAP_SOURCE }}\n"                                                                                  \
    "        run: |\n" SAFE(                                                                                                                      \
        "          ") "          work=$RUNNER_TEMP/benchwrap-check\n"                                                                             \
                      "          mkdir \"$work\"\n" INSTALL(                                                                                      \
                          "          ") "      - name: Check the runs\n"                                                                          \
                                        "        env:\n"                                                                                          \
                                        "          RANGE: ${{ github.event.pull_request.base.sha }}..${{ github.event.pull_request.head.sha }}\n" \
                                        "        run: |\n" SAFE("          ") "          work=$RUNNER_TEMP/benchwrap-check\n" CHECK(              \
                                            "          ",                                                                                         \
                                            "$GITHUB_WORKSPACE") "          cat summary.md >>\"${GITHUB_STEP_SUMMARY:-/dev/null}\"\n"             \
                                                                 "          exit \"$status\"\n"

static const char github[] =
    "# Checks the runs of a pull request and shows the findings as the job's summary. Written by \"benchwrap init\".\n"
    "name: benchwrap check\n"
    "on:\n"
    "  pull_request:\n"
    "permissions:\n"
    "  contents: read\n"
    "jobs:\n"
    "  check:\n"
    "    runs-on: ubuntu-24.04\n"
    "    timeout-minutes: 20\n" CHECK_JOB;

static const char forgejo[] =
    "# Checks the runs of a pull request and shows the findings as the job's summary. Written by \"benchwrap init\".\n"
    "name: benchwrap check\n"
    "on:\n"
    "  pull_request:\n"
    "permissions:\n"
    "  contents: read\n"
    "jobs:\n"
    "  check:\n"
    "    runs-on: docker\n"
    "    timeout-minutes: 20\n" CHECK_JOB;

static const char gitlab[] =
    "# Checks the runs of a merge request. Written by \"benchwrap init\". The variable BENCHWRAP_IMAGE names an image of Debian with its digest,\n"
    "# as in debian@sha256:…; GIT_CHECKOUT leaves the files of the branch out of the job's directory.\n"
    "benchwrap check:\n"
    "  image: $BENCHWRAP_IMAGE\n"
    "  timeout: 20 minutes\n"
    "  rules:\n"
    "    - if: $CI_PIPELINE_SOURCE == \"merge_request_event\"\n"
    "  variables:\n"
    "    GIT_STRATEGY: clone\n"
    "    GIT_CHECKOUT: \"false\"\n"
    "    GIT_DEPTH: \"0\"\n"
    "    GIT_SUBMODULE_STRATEGY: none\n"
    "  script:\n"
    "    - |\n" SAFE(
        "      ") "      case ${CI_JOB_IMAGE:-none} in\n"
                  "      none | *@sha256:*) ;;\n"
                  "      *)\n"
                  "        echo \"BENCHWRAP_IMAGE: expected an image with its digest, as in debian@sha256:…, got \\\"$CI_JOB_IMAGE\\\"\" >&2\n"
                  "        exit 1\n"
                  "        ;;\n"
                  "      esac\n"
                  "      work=$(mktemp -d)\n"
                  "      command -v git || { apt-get update -qq && apt-get install -qq -y git ca-certificates; }\n" INSTALL(
                      "      ") "    - |\n"
                                "      RANGE=$CI_MERGE_REQUEST_DIFF_BASE_SHA..$CI_COMMIT_SHA\n" CHECK(
                                    "      ", "$CI_PROJECT_DIR") "      rm -rf -- \"$CI_PROJECT_DIR/benchwrap-check\"\n"
                                                                 "      mkdir -- \"$CI_PROJECT_DIR/benchwrap-check\"\n"
                                                                 "      cp summary.md \"$CI_PROJECT_DIR/benchwrap-check/summary.md\"\n"
                                                                 "      exit \"$status\"\n"
                                                                 "  artifacts:\n"
                                                                 "    when: always\n"
                                                                 "    expose_as: benchwrap check\n"
                                                                 "    paths: [benchwrap-check/summary.md]\n";

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
    "The jobs that check pull requests use the benchwrap that the runner has. Elsewhere they build the commit that the variable `BENCHWRAP_SOURCE` names,\n"
    "as `ADDRESS#COMMIT`; on GitLab the variable `BENCHWRAP_IMAGE` names an image with its digest.\n"
    "\n"
    "Let changes to `benchwrap.yaml`, `.gitattributes` and the jobs' own files need a maintainer's approval: a pull request could change the job that\n"
    "judges it.\n";

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
        "# A results repository of benchwrap. What stands here holds for everybody who uses it; each clone keeps its site in its own\n"
        "# .git/config (benchwrap.site). Read from here: experiment, cluster, profile, commit, reference, tag and param. All else is ignored.\n");
    buf_printf(to, "profile: %-8s         # public: names of machines and people stay out\n", profile);
    buf_puts(to, "commit: run              # each run by itself; batch: once a day and with \"benchwrap share\"; none\n");
}
