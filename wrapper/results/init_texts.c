/* init_texts.c: the pages and examples that `benchwrap init` writes for the people of a repository. */
#include "results/init_files.h"

const char init_readme[] =
    "# Results of benchmarks\n"
    "\n"
    "<!-- A badge of the check: keep the line of your forge, with OWNER and NAME.\n"
    "[![check](https://github.com/OWNER/NAME/actions/workflows/benchwrap.yml/badge.svg)](https://github.com/OWNER/NAME/actions/workflows/benchwrap.yml)\n"
    "[![check](https://gitlab.com/OWNER/NAME/badges/main/pipeline.svg)](https://gitlab.com/OWNER/NAME/-/pipelines)\n"
    "[![check](https://codeberg.org/OWNER/NAME/actions/workflows/benchwrap.yml/badge.svg)](https://codeberg.org/OWNER/NAME/actions)\n"
    "-->\n"
    "\n"
    "Runs recorded by benchwrap, in MLflow's file format: `mlruns/EXPERIMENT/RUN/`. Sites add runs by pull requests, and never edit\n"
    "published ones. [CONTRIBUTING.md](CONTRIBUTING.md) shows how.\n"
    "\n"
    "## Latest results\n"
    "\n"
    "<!-- benchwrap: results -->\n"
    "<!-- benchwrap: end -->\n"
    "\n"
    "A job of the forge writes this table after each merge. Where no job runs, `benchwrap ls --markdown --ref main` prints it. Read all\n"
    "runs in a clone:\n"
    "\n"
    "```\n"
    "git pull\n"
    "benchwrap ls; benchwrap show last; benchwrap compare --by node.type -e EXPERIMENT\n"
    "benchwrap ui                    # the runs in MLflow\n"
    "```\n"
    "\n"
    "## For maintainers\n"
    "\n"
    "- The jobs use the benchwrap of the runner. Elsewhere they build the commit that the variable `BENCHWRAP_SOURCE` names, as\n"
    "  `ADDRESS#COMMIT`. On GitLab the variable `BENCHWRAP_IMAGE` names an image with its digest, and `BENCHWRAP_PUSH_TOKEN` lets the\n"
    "  job write the table.\n"
    "- A job publishes web pages of all runs where the variable `BENCHWRAP_PAGES` is set: on GitHub and Forgejo to the branch for pages, such as\n"
    "  `gh-pages` or `pages`. First decide who may read them.\n"
    "- `benchwrap-check.yaml` defines which findings of `benchwrap check` block a pull request.\n"
    "- Let changes to `benchwrap.yaml`, `benchwrap-check.yaml`, `.gitattributes` and the jobs require a maintainer's approval: a pull\n"
    "  request could change the job that checks it. CODEOWNERS has an example.\n"
    "- Delete what you do not need of CITATION.cff, CODEOWNERS, CONTRIBUTING.md, benchwrap-check.yaml, benchwrap-results.yml and benchwrap-pages.yml.\n";

const char init_contributing[] =
    "# Contribute runs\n"
    "\n"
    "```\n"
    "benchwrap init --site YOUR-SITE ADDRESS-OF-THIS-REPOSITORY results   # once: a clone\n"
    "cd results\n"
    "benchwrap -- ANY BENCHMARK      # record a run; benchwrap commits it to a branch of this clone\n"
    "benchwrap share --dry-run       # what would leave the site\n"
    "benchwrap share                 # push the branch and open a pull request\n"
    "```\n"
    "\n"
    "If you may not push here, clone your fork, and run `git remote add upstream ADDRESS-OF-THIS-REPOSITORY` in it.\n"
    "\n"
    "A pull request adds folders of runs and nothing else. `benchwrap check` verifies names, sizes, checksums, times, the values read\n"
    "again from the stored output, secrets and personal data. `benchwrap share` runs the same check first.\n"
    "\n"
    "Withdraw a wrong run by another run: `benchwrap retract RUN --why TEXT`. Published files are never edited.\n";

const char init_citation[] =
    "# How to cite these results (https://citation-file-format.github.io). Fill in the authors, and validate with cffconvert.\n"
    "cff-version: 1.2.0\n"
    "type: dataset\n"
    "title: Results of benchmarks\n"
    "message: Cite this repository with the commit that you used.\n"
    "authors:\n"
    "  - name: The contributing sites\n";

const char init_owners[] =
    "# Who must approve which changes. An example without effect: remove the first # and name your maintainers. GitHub, GitLab, Gitea and Forgejo\n"
    "# read this file. Runs (mlruns/) need no owner.\n"
    "# benchwrap.yaml @maintainers\n"
    "# benchwrap-check.yaml @maintainers\n"
    "# .gitattributes @maintainers\n"
    "# .gitlab-ci.yml @maintainers\n"
    "# .github/ @maintainers\n"
    "# .forgejo/ @maintainers\n";

const char init_policy[] =
    "# Which findings of \"benchwrap check\" block a pull request: lines \"finding: error|warning|note\"; errors block. check reads this file\n"
    "# from the target's branch, never from the pull request. docs/howto-review.md of benchwrap lists the findings. Examples:\n"
    "# unverifiable: error   # every value must follow from the stored output\n"
    "# copy-output: note     # the same output under another id is expected\n";
