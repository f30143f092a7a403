# shellcheck shell=sh
# ollama.sh: Ollama, built from its Go module once and kept in $CACHE. The module comes without the headers that llama.cpp vendors: they are taken from
# other modules and from Debian's libstb-dev.
OLLAMA_VERSION=v0.17.4

# ollama_ready: sets $ollama, its program. Status 1 and the reason in $ollama_why where it cannot be had. It takes ten minutes the first time.
ollama_ready()
{
    ollama=$CACHE/ollama-$OLLAMA_VERSION/ollama
    [ ! -x "$ollama" ] || return 0
    command -v go >/dev/null && command -v g++ >/dev/null || { ollama_why="no Go compiler (golang-go) or no g++ to build Ollama with"; return 1; }
    mkdir -p "$CACHE" && ollama_new=$(mktemp -d "$CACHE/ollama.XXXXXX") || { ollama_why="no folder in $CACHE"; return 1; }
    if ollama_build >"$ollama_new.log" 2>&1 && mkdir -p "$CACHE/ollama-$OLLAMA_VERSION" && mv "$ollama_new/ollama" "$ollama"; then
        rm -rf "$ollama_new"
        return 0
    fi
    ollama_why="Ollama could not be built: $(tail -n 1 "$ollama_new.log")"
    rm -rf "$ollama_new"
    return 1
}

ollama_module() # NAME VERSION: fetches it and prints its folder
{
    (cd "$ollama_new" && GOFLAGS=-modcacherw timeout 900 go mod download -json "$1@$2" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
}

ollama_build()
{
    ollama_vendor=$ollama_new/source/llama/llama.cpp/vendor
    cp -r "$(ollama_module github.com/ollama/ollama "$OLLAMA_VERSION")" "$ollama_new/source" && chmod -R u+w "$ollama_new/source" &&
        mkdir -p "$ollama_vendor/nlohmann" "$ollama_vendor/stb" "$ollama_vendor/miniaudio" &&
        cp "$(ollama_module github.com/nlohmann/json v3.12.0+incompatible)"/single_include/nlohmann/*.hpp "$ollama_vendor/nlohmann/" &&
        cp "$(ollama_module github.com/gen2brain/malgo v0.11.23)/miniaudio.h" "$ollama_vendor/miniaudio/" &&
        cp /usr/include/stb/stb_image.h "$ollama_vendor/stb/" &&
        (cd "$ollama_new/source" && timeout 9000 go build -o ../ollama .)
}
