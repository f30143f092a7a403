"""Writes a llama model of random weights, of about 1 MB: python llama-model.py FILE. Its words are random, its framing, counts and times are real."""
import sys

import gguf
import numpy

WIDTH, LAYERS, CONTEXT, WORDS = 64, 2, 2048, 1200
random = numpy.random.default_rng(1)


def vocabulary():
    """Three marks, the 256 bytes, single characters and words, some of several bytes: (pieces, kinds)."""
    pieces = ["\u2581"] + [chr(c) for c in range(33, 127)] + list("äöüßéñ中文字日本語русский😀🚀")
    syllables = "ka lo mi ter shi ran dú é 中 ж".split()
    while len(pieces) < WORDS:
        pieces.append("\u2581" + "".join(random.choice(syllables, size=random.integers(1, 4))))
        pieces = list(dict.fromkeys(pieces))
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + pieces
    kinds = [gguf.TokenType.UNKNOWN] + [gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(pieces)
    return tokens, kinds


def describe(w, tokens, kinds):
    w.add_name("random")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(2 * WIDTH)
    w.add_head_count(4)
    w.add_head_count_kv(4)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(WIDTH // 4)
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_vocab_size(len(tokens))
    w.add_tokenizer_model("llama")
    w.add_token_list([t.encode() for t in tokens])
    w.add_token_scores([0.0] * 259 + [-float(i) for i in range(len(tokens) - 259)])
    w.add_token_types(kinds)
    w.add_unk_token_id(0)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_add_bos_token(True)
    w.add_add_eos_token(False)
    w.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")


def weights(w, words):
    def add(name, *shape, scale=0.1, quiet=0):
        a = (random.standard_normal(shape) * scale).astype(numpy.float32)
        a[:quiet] *= 0.01  # marks and bytes are seldom chosen: answers have their full length
        w.add_tensor(name, a)

    def ones(name):
        w.add_tensor(name, numpy.ones(WIDTH, numpy.float32))

    add("token_embd.weight", words, WIDTH, scale=0.5, quiet=259)
    ones("output_norm.weight")
    add("output.weight", words, WIDTH, scale=0.5, quiet=259)
    for i in range(LAYERS):
        ones(f"blk.{i}.attn_norm.weight")
        ones(f"blk.{i}.ffn_norm.weight")
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{i}.{part}.weight", WIDTH, WIDTH)
        add(f"blk.{i}.ffn_gate.weight", 2 * WIDTH, WIDTH)
        add(f"blk.{i}.ffn_up.weight", 2 * WIDTH, WIDTH)
        add(f"blk.{i}.ffn_down.weight", WIDTH, 2 * WIDTH)


writer = gguf.GGUFWriter(sys.argv[1], "llama")
tokens, kinds = vocabulary()
describe(writer, tokens, kinds)
weights(writer, len(tokens))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
