"""Compares llmload's counting of tokens with the libraries themselves, on random text: tokenizers-compare.py PROGRAM FOLDER TEXTS SEED [--no-sentencepiece]

Trains small tokenizers of every kind that is supported with PyPI tokenizers (byte-level with the patterns of GPT-2, GPT-4 and GPT-4o, NFC, split digits,
Metaspace with byte fallback) and sentencepiece (unigram, BPE), gives both sides the same texts, and prints the first differences. Status 1: there are some."""
import json, random, subprocess, sys, os, unicodedata
import sentencepiece
from tokenizers import Tokenizer, Regex, AddedToken, models, trainers, pre_tokenizers, normalizers, decoders, processors

program, folder, texts, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4O = "|".join([r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
words = ["the", "quick", "brown", "Fox's", "don't", "I'LL", "we've", "naïve", "café", "日本語", "привет", "मानक", "e\u0301", "Å", "ﬁn", "١٢٣", "½", "12345", "3.14", "x=1;",
         "<|end|>", "<tool>", "🙂", "👩‍👩‍👧", "\u00a0", "\u200b", "\u3000", "\u180e", "\u0085", "--", "...", "'s", "\t", "\n", "\r\n", "\n\n", "  ", "     ", "𐍈", "\ufeff", "Ⅷ", "ß", "İ", "ſ"]

def known(chars):
    """Those that every version of Unicode in use knows: others are letters for one side and nothing for the other."""
    return "".join(c for c in chars if unicodedata.ucd_3_2_0.category(c) != "Cn")

def text(n):
    out = []
    for _ in range(n):
        kind = rng.random()
        if kind < 0.6: out.append(rng.choice(words))
        elif kind < 0.8: out.append("".join(chr(rng.randrange(97, 123)) for _ in range(rng.randrange(1, 9))))
        elif kind < 0.9: out.append(known(chr(rng.choice([rng.randrange(1, 0x250), rng.randrange(0x250, 0x2fff)])) for _ in range(rng.randrange(1, 5))))
        else: out.append(known([chr(rng.choice([rng.randrange(0x3000, 0xd800), rng.randrange(0x10000, 0x1f9ff)]))]))
        if rng.random() < 0.7: out.append(" ")
    return "".join(out)

corpus = [text(40) for _ in range(400)]

def byte_level(pattern, normalizer=None, prefix=False, **model):
    t = Tokenizer(models.BPE(**model))
    if normalizer: t.normalizer = normalizer
    if pattern: t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=False)])
    else: t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=1500, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|end|>"]))
    t.add_tokens([AddedToken("<tool>", normalized=True), AddedToken("quick", lstrip=True, rstrip=True, normalized=False)])
    return t

def llama2():
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.train_from_iterator([c.replace("日", "") for c in corpus[:100]], trainers.BpeTrainer(vocab_size=1200, show_progress=False, limit_alphabet=200, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", t.token_to_id("<s>"))])
    return t

def metaspace(scheme):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme=scheme), pre_tokenizers.Digits(individual_digits=True)])
    t.train_from_iterator(corpus[:50], trainers.BpeTrainer(vocab_size=900, show_progress=False, limit_alphabet=150, special_tokens=["<unk>", "<s>"]))
    return t

def gemma():
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=1200, show_progress=False, limit_alphabet=300, special_tokens=["<unk>"] + [f"<0x{i:02X}>" for i in range(256)]))
    return t

made = {"gpt2": byte_level(None, prefix=True), "gpt4": byte_level(GPT4, ignore_merges=True), "gpt4o": byte_level(GPT4O), "qwen": byte_level(GPT4, normalizers.NFC()),
        "nfkc": byte_level(None, normalizers.NFKC()), "llama2": llama2(), "meta-first": metaspace("first"), "meta-always": metaspace("always"), "gemma": gemma()}
for behaviour in ("removed", "merged_with_next", "contiguous"):
    t = byte_level(GPT4)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\s+|,"), behaviour), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made[behaviour] = t

files = {}
for name, t in made.items():
    files[name] = os.path.join(folder, name + ".json")
    t.save(files[name])
with open(os.path.join(folder, "corpus"), "w") as f:
    f.write("\n".join(c.replace("\n", " ").replace("\r", " ").replace("\0", " ") for c in corpus))
for kind in () if "--no-sentencepiece" in sys.argv else ("unigram", "bpe"):
    prefix = os.path.join(folder, "sp-" + kind)
    sentencepiece.SentencePieceTrainer.train(input=os.path.join(folder, "corpus"), model_prefix=prefix, vocab_size=3600, model_type=kind, byte_fallback=kind == "bpe",
                                             character_coverage=0.98, hard_vocab_limit=False, minloglevel=2)
    files["sp-" + kind] = prefix + ".model"
    made["sp-" + kind] = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")

bad = 0
samples = [text(rng.randrange(1, 60)) for _ in range(texts)] + ["", " ", "  ", "a", "\n", " a", "a ", "x" * 3000, " " * 500, "é" * 700]
for name, t in made.items():
    with open(os.path.join(folder, "texts"), "w") as f: f.write("".join(json.dumps(s) + "\n" for s in samples))
    r = subprocess.run([program, "tokens", "--ids", "--strings", "--tokenizer", files[name], os.path.join(folder, "texts")], capture_output=True, timeout=600)
    got = r.stdout.decode().split("\n")[:-1]
    if r.returncode or len(got) != len(samples):
        print(f"{name}: status {r.returncode}, {len(got)} answers of {len(samples)}: {r.stderr.decode()[:500]}")
        bad += 1
        continue
    wrong = 0
    for s, g in zip(samples, got):
        want = t.encode(s) if name.startswith("sp-") else t.encode(s, add_special_tokens=False).ids
        # Of two ways of equal probability another version of sentencepiece takes another one: their number is the same.
        if (len(g.split()) != len(want)) if name.startswith("sp-") else g.split() != [str(i) for i in want]:
            wrong += 1
            if wrong <= 3: print(f"{name}: {s!r}\n  got  {g[:300]}\n  want {' '.join(map(str, want))[:300]}")
    print(f"{name}: {len(samples) - wrong} of {len(samples)} equal")
    bad += wrong
sys.exit(1 if bad else 0)
