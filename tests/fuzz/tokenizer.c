/* tokenizer.c: any bytes as a tokenizer.json, up to the first NUL, and the rest as a text for it: ids are those of tokens. */
#include "benchmarks/native/llmload/tokens/bpe_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {size ? (const char *)data : "", size}, json = str_cut(&rest, 0);
    struct bpe_file *f;
    struct ids ids CLEANUP_IDS = {0};
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    if (bpe_file_parse(&f, json, NULL) < 0)
        return 0;
    buf_utf8(&text, rest.p ? rest : STR("the text 123"));
    if (bpe_file_encode(f, buf_text(&text), &ids, NULL) == 0)
        for (size_t i = 0; i < ids.n; i++)
            if (ids.id[i] >= bpe_file_size(f))
                abort();
    for (uint32_t i = 0; i < bpe_file_size(f) && i < 300; i++)
        bpe_file_text(f, i, &text);
    bpe_file_free(f);
    return 0;
}
