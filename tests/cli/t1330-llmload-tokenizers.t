#!/bin/sh
# t1330: tokens are counted as the libraries count them: random text through tokenizers of every kind, compared with PyPI's tokenizers and sentencepiece;
# made-up prompts have the wanted number of tokens.
# sanitizer: no, because the libraries take minutes to install
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/llm.sh"
. "$TESTLIB/venv.sh"
cd "$WORK" || exit 1
printf '%s' '{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}' >small.json
printf 'abab' >text
is "llmload tokens" "$("$LLMLOAD" tokens --tokenizer small.json text) $("$LLMLOAD" tokens --tokenizer small.json --ids text)" "2 2 2"
like "what is no tokenizer" "$("$LLMLOAD" tokens --tokenizer text text 2>&1)" 'tokenizer text: line 1, column 1: not valid JSON'
if [ -e "$BUILD/libexec/benchwrap/llmload-sentencepiece.so" ]; then
    cp text bad.model
    like "what is no SentencePiece model" "$("$LLMLOAD" tokens --tokenizer bad.model text 2>&1)" 'tokenizer bad.model: no SentencePiece model'
else
    cp text bad.model
    like "without libsentencepiece it is told what is missing" "$("$LLMLOAD" tokens --tokenizer bad.model text 2>&1)" 'libsentencepiece-dev'
fi
printf '"ab"\n"a\\u0000b"\n' >strings
like "a JSON string with a NUL is refused: only its beginning could be counted" "$("$LLMLOAD" tokens --tokenizer small.json --strings strings 2>&1 >/dev/null)" \
    '^llmload: line 2: expected a string without a NUL'
# The pattern fails on each answer: such a text has no count, which is not the count 0.
printf '%s' '{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a|a)*(a|a)*(a|a)*[!?]"},"behavior":"Isolated"},"model":{"type":"BPE","vocab":{"a":0,"h":1},"merges":[]}}' >hostile.json
cat >answers.py <<'P'
import http.server, json
class Answers(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self): self.send_error(404)
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        event = lambda delta, end: b"data: " + json.dumps({"choices": [{"delta": delta, "finish_reason": end}]}).encode() + b"\n\n"
        body = 2 * event({"content": "a" * 2000}, None) + event({}, "stop") + b"data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
print(server.server_port, flush=True)
server.serve_forever()
P
python3 answers.py >port & server=$!
wait_until '[ -s port ]'
is "an answer that the tokenizer cannot count is counted by its chunks" "$("$LLMLOAD" --url "http://127.0.0.1:$(cat port)" -m m -n 3 --tokenizer hostile.json --prompt h --json -q |
    jq -c '[.total_input_tokens, .total_output_tokens, .tokens.output_source]')" '[3,6,"chunks"]'
like "a page that the server does not have has no time of readiness" "$("$LLMLOAD" --url "http://127.0.0.1:$(cat port)" -m m -n 3 --wait-ready 20s -q | xargs)" \
    'ready: connection after [0-9.]+ s, health -, model -, first answer [0-9.]+ s'
kill $server
# Text that is not ASCII needs utf8proc where the tokenizer has a normal form: e and an accent become one letter.
printf '%s' '{"normalizer":{"type":"NFC"},"model":{"type":"BPE","vocab":{"e":0,"\u00e9":1,"\u0301":2},"merges":[]}}' >nfc.json
printf 'e\314\201e' >accent
"$LLMLOAD" tokens --tokenizer nfc.json --ids accent >ids 2>err
if grep -q 'utf8proc is not installed' err; then
    like "without utf8proc it says what is missing" "$(cat err)" 'cannot normalize text for tokenizers: utf8proc is not installed; install the package libutf8proc2'
    skip "text that is not ASCII" "libutf8proc2 is not installed"
    done_testing
    exit
fi
is "text that is not ASCII in its normal form" "$(cat ids err)" "1 0"
if ! long_tests; then done_testing; exit; fi
if ! python=$(venv_python tokenizers-1 280 tokenizers==0.23.3 sentencepiece==0.2.3); then
    skip "the libraries' own counts" "$python"
    done_testing
    exit
fi
mkdir made
if [ -e "$BUILD/libexec/benchwrap/llmload-sentencepiece.so" ]; then pieces=; else pieces=--no-sentencepiece; skip "SentencePiece models" "libsentencepiece-dev is not installed"; fi
ok "the same ids for 2,000 texts of every kind" timeout 500 "$python" "$TESTLIB/tokenizers-compare.py" "$LLMLOAD" made 2000 "$(date +%j)" $pieces
llm_server --log sent
for t in made/gpt2.json made/gpt4o.json made/llama2.json made/sp-bpe.model; do
    [ -e "$t" ] || continue
    : >sent
    timeout 300 "$LLMLOAD" --url "$url" -n 8 --max-tokens 1 --input-tokens 50-200 --tokenizer "$t" --records rec --json >out 2>err
    jq -c '.messages[0].content' sent >texts
    is "prompts of the wanted lengths: $t" "$("$LLMLOAD" tokens --tokenizer "$t" --strings texts | awk '$1 >= 46 && $1 <= 200' | wc -l) $(jq .completed out)" "8 8"
done
is "exactly so where the vocabulary has words" "$(jq -r .load.prompt_exact out)" true
done_testing
