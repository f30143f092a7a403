/* init_files.c: the files of a results repository, as `benchwrap init` writes them. */
#include "results/init_files.h"

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

/* A job's folder outside of the checkout, with benchwrap built in it. */
#define JOB_FOLDER(NAME) SAFE("          ") "          work=$RUNNER_TEMP/" NAME "\n"
#define INSTALL_STEP(NAME)                                                                                                                 \
    "      - name: Install benchwrap\n"                                                                                                    \
    "        env:\n"                                                                                                                       \
    "          BENCHWRAP_SOURCE: ${{ vars.BENCHWRAP_SOURCE }}\n"                                                                           \
    "        run: |\n" JOB_FOLDER(NAME) "          mkdir \"$work\"\n" INSTALL("          ")

#define CHECK_JOB                                                                                                                          \
    "    steps:\n"                                                                                                                         \
    "      - uses: " CHECKOUT " # v4.2.2\n"                                                                                                \
    "        with:\n"                                                                                                                      \
    "          fetch-depth: 0\n"                                                                                                           \
    "          persist-credentials: false\n"                                                                                               \
    "          submodules: false\n"                                                                                                        \
    "          lfs: false\n" INSTALL_STEP(                                                                                                 \
        "benchwrap-check") "      - name: Check the runs\n"                                                                                \
                           "        env:\n"                                                                                                \
                           "          RANGE: ${{ github.event.pull_request.base.sha }}..${{ github.event.pull_request.head.sha }}\n"       \
                           "        run: |\n" JOB_FOLDER("benchwrap-check") CHECK(                                                         \
                               "          ", "$GITHUB_WORKSPACE") "          cat summary.md >>\"${GITHUB_STEP_SUMMARY:-/dev/null}\"\n"     \
                                                                  "          exit \"$status\"\n"

/* ---- the table of results ---- */

/* Steps behind INSTALL, in a checkout of the merged main branch. Only text between the two marks of README.md changes, and no hook is executed. */
#define REFRESH(I, REPOSITORY, PUSH)                                                                                                            \
    I "PATH=$work/benchwrap/build/bin:$PATH\n" I "cd \"" REPOSITORY "\"\n" I                                                                    \
      "git cat-file -e HEAD:mlruns 2>/dev/null || exit 0 # no run yet\n" I                                                                      \
      "if [ -L README.md ] || ! grep -qx '<!-- benchwrap: results -->' README.md || ! grep -qx '<!-- benchwrap: end -->' README.md; then\n" I   \
      "  echo 'README.md has no place for the table'\n" I "  exit 0\n" I "fi\n" I                                                               \
      "benchwrap ls --markdown --last 40 --ref HEAD >\"$work/table.md\"\n" I "awk -v table=\"$work/table.md\" '\n" I                            \
      "  /^<!-- benchwrap: end -->$/ { skip = 0 }\n" I "  !skip\n" I                                                                            \
      "  /^<!-- benchwrap: results -->$/ { skip = 1; while ((getline line < table) > 0) print line }\n" I                                       \
      "' README.md >\"$work/README.md\"\n" I "if cmp -s \"$work/README.md\" README.md; then\n" I "  exit 0\n" I "fi\n" I                        \
      "cp \"$work/README.md\" README.md\n" I "set -- -c core.hooksPath=/dev/null -c commit.gpgSign=false\n" I                                   \
      "git \"$@\" -c user.name=benchwrap -c user.email=benchwrap@benchwrap.invalid commit -q -m 'README: refresh the results' -- README.md\n" I \
          PUSH

#define RESULTS_JOB(RUNNER)                                                                                                                \
    "# Refreshes the table of results in README.md after a merge. Written by \"benchwrap init\"; delete it if you need no table.\n"        \
    "name: benchwrap results\n"                                                                                                            \
    "on:\n"                                                                                                                                \
    "  push:\n"                                                                                                                            \
    "permissions:\n"                                                                                                                       \
    "  contents: read\n"                                                                                                                   \
    "jobs:\n"                                                                                                                              \
    "  results:\n"                                                                                                                         \
    "    if: github.ref_type == 'branch' && github.ref_name == github.event.repository.default_branch\n"                                   \
    "    permissions:\n"                                                                                                                   \
    "      contents: write\n"                                                                                                              \
    "    runs-on: " RUNNER "\n"                                                                                                            \
    "    timeout-minutes: 20\n"                                                                                                            \
    "    steps:\n"                                                                                                                         \
    "      - uses: " CHECKOUT " # v4.2.2\n"                                                                                                \
    "        with:\n"                                                                                                                      \
    "          submodules: false\n"                                                                                                        \
    "          lfs: false\n" INSTALL_STEP("benchwrap-results") "      - name: Refresh the table\n"                                         \
                                                               "        env:\n"                                                            \
                                                               "          BRANCH: ${{ github.ref_name }}\n"                                \
                                                               "        run: |\n" JOB_FOLDER("benchwrap-results")                          \
                                                                   REFRESH("          ", "$GITHUB_WORKSPACE",                              \
                                                                           "git \"$@\" push -q origin \"HEAD:refs/heads/$BRANCH\"\n")

static const char github_results[] = RESULTS_JOB("ubuntu-24.04");
static const char forgejo_results[] = RESULTS_JOB("docker");

/* ---- the web pages ---- */

/* Steps behind INSTALL, in a checkout of the merged main branch: what was published before is in the branch $PAGES, so that only new runs are read.
 * The branch has one commit: pages are made again, their history is that of the runs. Nothing of the main branch is in it. */
#define WRITE_PAGES(I, REPOSITORY, FOLDER)                                                                                                 \
    I "PATH=$work/benchwrap/build/bin:$PATH\n" I "cd \"" REPOSITORY "\"\n" I                                                               \
      "git cat-file -e HEAD:mlruns 2>/dev/null || exit 0 # no run yet\n" I "status=0\n" I "benchwrap pages --ref HEAD -o \"" FOLDER        \
      "\" || status=$?\n" I "[ \"$status\" -le 1 ] # 1: a damaged run, which the start page names\n"

#define PUBLISH(I, REPOSITORY)                                                                                                                           \
    I "mkdir -p \"$work/site\"\n" I "if git -C \"" REPOSITORY "\" fetch -q --depth 1 origin \"refs/heads/$PAGES\"; then\n" I                             \
      "  git -C \"" REPOSITORY "\" archive FETCH_HEAD | tar -x -C \"$work/site\"\n" I "fi\n" WRITE_PAGES(I, REPOSITORY, "$work/site") I                  \
        "touch \"$work/site/.nojekyll\"\n" I "export GIT_INDEX_FILE=\"$work/index\"\n" I                                                                 \
        "git --work-tree=\"$work/site\" -c core.hooksPath=/dev/null add -A -f .\n" I "tree=$(git write-tree)\n" I                                        \
        "commit=$(git -c user.name=benchwrap -c user.email=benchwrap@benchwrap.invalid commit-tree -m \"Pages of $(git rev-parse HEAD)\" \"$tree\")\n" I \
        "git -c core.hooksPath=/dev/null push -q --force origin \"$commit:refs/heads/$PAGES\"\n"

#define PAGES_JOB(RUNNER)                                                                                                                   \
    "# Publishes web pages of all runs after a merge. It runs where the repository's variable BENCHWRAP_PAGES names the branch for them,\n" \
    "# such as gh-pages, from which the forge serves them. Who can see the pages is the forge's setting. Written by \"benchwrap init\".\n"  \
    "name: benchwrap pages\n"                                                                                                               \
    "on:\n"                                                                                                                                 \
    "  push:\n"                                                                                                                             \
    "permissions:\n"                                                                                                                        \
    "  contents: read\n"                                                                                                                    \
    "concurrency:\n"                                                                                                                        \
    "  group: benchwrap-pages\n"                                                                                                            \
    "jobs:\n"                                                                                                                               \
    "  pages:\n"                                                                                                                            \
    "    if: vars.BENCHWRAP_PAGES != '' && github.ref_type == 'branch' && github.ref_name == github.event.repository.default_branch\n"      \
    "    permissions:\n"                                                                                                                    \
    "      contents: write\n"                                                                                                               \
    "    runs-on: " RUNNER "\n"                                                                                                             \
    "    timeout-minutes: 20\n"                                                                                                             \
    "    steps:\n"                                                                                                                          \
    "      - uses: " CHECKOUT " # v4.2.2\n"                                                                                                 \
    "        with:\n"                                                                                                                       \
    "          submodules: false\n"                                                                                                         \
    "          lfs: false\n" INSTALL_STEP("benchwrap-pages") "      - name: Publish the pages\n"                                            \
                                                             "        env:\n"                                                               \
                                                             "          PAGES: ${{ vars.BENCHWRAP_PAGES }}\n"                               \
                                                             "        run: |\n" JOB_FOLDER("benchwrap-pages")                               \
                                                                 PUBLISH("          ", "$GITHUB_WORKSPACE")

static const char github_pages[] = PAGES_JOB("ubuntu-24.04");
static const char forgejo_pages[] = PAGES_JOB("docker");

/* GitLab publishes the artifact `public` of a job of this name; a cache has what was published before. */
#define GITLAB_PAGES                                                                                                                       \
    "\n# Publishes web pages of all runs after a merge, where the variable BENCHWRAP_PAGES is set.\n"                                      \
    "pages:\n"                                                                                                                             \
    "  image: $BENCHWRAP_IMAGE\n"                                                                                                          \
    "  timeout: 20 minutes\n"                                                                                                              \
    "  rules:\n"                                                                                                                           \
    "    - if: $CI_PIPELINE_SOURCE == \"push\" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $BENCHWRAP_PAGES\n"                           \
    "  variables:\n"                                                                                                                       \
    "    GIT_STRATEGY: clone\n"                                                                                                            \
    "    GIT_SUBMODULE_STRATEGY: none\n"                                                                                                   \
    "  cache:\n"                                                                                                                           \
    "    key: benchwrap-pages\n"                                                                                                           \
    "    paths: [public]\n"                                                                                                                \
    "  script:\n"                                                                                                                          \
    "    - |\n" SAFE("      ") "      work=$(mktemp -d)\n"                                                                                 \
                               "      command -v git || { apt-get update -qq && apt-get install -qq -y git ca-certificates; }\n" INSTALL(  \
                                   "      ") "    - |\n" WRITE_PAGES("      ", "$CI_PROJECT_DIR",                                          \
                                                                     "$CI_PROJECT_DIR/public") "  artifacts:\n"                            \
                                                                                               "    paths: [public]\n"

/* GitLab's job token cannot push: a protected variable holds a project access token. */
#define GITLAB_RESULTS                                                                                                                                          \
    "# Refreshes the table of results in README.md after a merge. It runs where the protected variable BENCHWRAP_PUSH_TOKEN holds a token\n"                    \
    "# of the project with the scope write_repository.\n"                                                                                                       \
    "benchwrap results:\n"                                                                                                                                      \
    "  image: $BENCHWRAP_IMAGE\n"                                                                                                                               \
    "  timeout: 20 minutes\n"                                                                                                                                   \
    "  rules:\n"                                                                                                                                                \
    "    - if: $CI_PIPELINE_SOURCE == \"push\" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $BENCHWRAP_PUSH_TOKEN\n"                                           \
    "  variables:\n"                                                                                                                                            \
    "    GIT_STRATEGY: clone\n"                                                                                                                                 \
    "    GIT_SUBMODULE_STRATEGY: none\n"                                                                                                                        \
    "  script:\n"                                                                                                                                               \
    "    - |\n" SAFE(                                                                                                                                           \
        "      ") "      work=$(mktemp -d)\n"                                                                                                                   \
                  "      command -v git || { apt-get update -qq && apt-get install -qq -y git ca-certificates; }\n" INSTALL("      ") "    - |\n" REFRESH(      \
                      "      ", "$CI_PROJECT_DIR",                                                                                                              \
                      "set -- \"$@\" -c credential.helper= -c 'credential.helper=!f() { echo username=oauth2; echo \"password=$BENCHWRAP_PUSH_TOKEN\"; }; f'\n" \
                      "      git \"$@\" push -q \"$CI_SERVER_URL/$CI_PROJECT_PATH.git\" \"HEAD:refs/heads/$CI_COMMIT_BRANCH\"\n")

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
                                                                 "    paths: [benchwrap-check/summary.md]\n"
                                                                 "\n" GITLAB_RESULTS GITLAB_PAGES;

static const char attributes[] = "# Runs are bytes: nothing is converted, and merges never edit them.\n"
                                 "mlruns/** -text -merge -filter\n"
                                 "mlruns/** linguist-generated\n";

static const char ignore[] =
    "# What benchwrap and MLflow store next to the runs. The runs themselves are not listed: in a clone of benchwrap init .git/info/exclude keeps git status quiet.\n"
    "/.benchwrap/\n"
    "/mlruns/.trash/\n"
    "/mlruns/models/\n"
    "/mlflow.db*\n"
    "/mlartifacts/\n";

const struct init_file init_files[] = {
    {".gitattributes", INIT_LINES, attributes},
    {".gitignore", INIT_LINES, ignore},
    {"README.md", INIT_WHOLE, init_readme},
    {".github/workflows/benchwrap.yml", INIT_WHOLE, github},
    {".forgejo/workflows/benchwrap.yml", INIT_WHOLE, forgejo},
    {".gitlab-ci.yml", INIT_WHOLE, gitlab},
    {".github/workflows/benchwrap-results.yml", INIT_FIRST, github_results},
    {".forgejo/workflows/benchwrap-results.yml", INIT_FIRST, forgejo_results},
    {".github/workflows/benchwrap-pages.yml", INIT_FIRST, github_pages},
    {".forgejo/workflows/benchwrap-pages.yml", INIT_FIRST, forgejo_pages},
    {"benchwrap-check.yaml", INIT_FIRST, init_policy},
    {"CONTRIBUTING.md", INIT_FIRST, init_contributing},
    {"CITATION.cff", INIT_FIRST, init_citation},
    {"CODEOWNERS", INIT_FIRST, init_owners},
};
const size_t init_files_count = sizeof init_files / sizeof *init_files;

void init_config(struct buf *to, const char *profile)
{
    buf_puts(
        to,
        "# A results repository of benchwrap. These settings are for all who use it; each clone keeps its site in its own\n"
        "# .git/config (benchwrap.site). Read from here: experiment, cluster, profile, commit, reference, tag and param. All else is ignored.\n");
    buf_printf(to, "profile: %-8s         # public: names of machines and people stay out\n", profile);
    buf_puts(to, "commit: run              # each run by itself; batch: once a day and with \"benchwrap share\"; none\n");
}
