#!/bin/bash
# Reports as a part of a paper, compiled by pdflatex and LuaLaTeX in one and two columns: no error, no character lost, no line far beyond its column.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
if ! command -v pdflatex >/dev/null || ! command -v pdftotext >/dev/null; then
    skip "reports compile" "pdflatex or pdftotext is not installed (texlive-latex-recommended, texlive-luatex, poppler-utils)"
    done_testing
    exit
fi
bw() { benchwrap "$@" 2>err; }
odd="[x] *y* a_b^c~d #1 \$2 50% & {z} \\w ?\` ,,q '' -- <t> | \"u\" é ß µ 中 → Ŧ $(printf '\001\342\200\256')"
for n in 1 2 4; do
    for i in 1 2 3; do
        bw -q -e solver -p scaling=strong -p step.nodes=$n --tag "team=$odd" -- sh -c "benchwrap log --unit s time=$((24 / n + i)); echo '$odd'; echo '  two  blanks'; echo '[first]'"
    done
done
bw -q -e long -n "$odd" -p "note=$odd" -p "path=/a/very/long/path/that/has/no/blank/in/it/and/would/leave/the/page/on/its/right/side.txt" -- sh -c 'for i in $(seq 60); do echo "metric$i: $i.5 MB/s"; done'
bw -q -e swept --sweep n=1,2,4 --repeat 3 -- sh -c 'echo "rate: {n}00.5 MB/s"'
bw report -e solver --format latex >experiment.tex
bw report -e solver --by step.nodes --format latex >groups.tex
bw report last --format latex >sweep.tex
bw report -e long --last 1 --format latex >run.tex

# document ENGINE CLASS-OPTIONS NAME: compiles the part as a reader of a paper would use it
document()
{
    local fonts='\usepackage[T1]{fontenc}\usepackage{textcomp}'
    [ "$1" = lualatex ] && fonts='\usepackage{fontspec}\usepackage{textcomp}'
    printf '\\documentclass[%s]{article}\n%s\\usepackage{array}\n\\begin{document}\n\\input{%s}\n\\end{document}\n' "$2" "$fonts" "$3" >doc.tex
    rm -f doc.pdf doc.log
    "$1" -interaction=nonstopmode -halt-on-error doc.tex >/dev/null 2>&1
}
for part in run experiment groups sweep; do
    for engine in pdflatex lualatex; do
        command -v $engine >/dev/null || { skip "$part by $engine" "not installed"; continue; }
        for columns in onecolumn twocolumn; do
            document $engine a4paper,$columns $part
            is "$part by $engine, $columns" "$? $(grep -c '^!' doc.log)" "0 0"
            # 15 pt are the margin between two columns; half of a narrow column's tables would need more than the column has
            [ $columns = twocolumn ] || is "... no line leaves its column by more than 15 pt" "$(sed -n 's/^Overfull .hbox (\([0-9]*\)\..*/\1/p' doc.log | awk '$1 > 15' | wc -l)" 0
        done
    done
done
document pdflatex a4paper run
pdftotext -layout doc.pdf run.txt
text=$(tr -s ' \n' ' ' <run.txt)
like "what the user wrote is on the page, to the letter" "$text" '\[x\] \*y\* a_b\^c~d #1 \$2 50% & \{z\} \\w \?` ,,q '
like "... also letters beyond Latin-1, by number" "$text" 'U\+4E2D'
like "... and the rest of a long path" "$(tr -d ' \n' <run.txt)" '/a/very/long/path/that/has/no/blank'
is "every metric is there" "$(for i in $(seq 60); do grep -qE "(^|[^0-9])$i\.5([^0-9]|$)" run.txt || echo "$i"; done)" ""
done_testing
