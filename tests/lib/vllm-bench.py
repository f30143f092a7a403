"""vllm-bench.py WHEEL-FOLDER ARGUMENTS…: vLLM's own `vllm bench serve`, from its wheel's folder, without torch. Its client, its metrics and its command
line are the original files (vllm/benchmarks/serve.py and lib/); what they import from the rest of the package is stood in for here: the reading of data
sets (one fixed prompt is sent, of --input-len tokens as it is told), the tokenizer (counts are the server's
usage), and three helpers.
Figures of it are thus vLLM's client, on this prompt."""
import argparse, asyncio, gc, logging, sys, types
from dataclasses import dataclass
from typing import Any

folder, arguments = sys.argv[1], sys.argv[2:]


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


@dataclass
class SampleRequest:
    prompt: Any
    prompt_len: int
    expected_output_len: int = 0
    multi_modal_data: Any = None
    lora_request: Any = None
    request_id: str | None = None
    timestamp: float | None = None
    chat_messages: Any = None
    request_overrides: dict | None = None


def words(text, **options): # for answers without usage alone
    return types.SimpleNamespace(input_ids=text.split())


def get_samples(args, tokenizer):
    return [SampleRequest("Write a short story about a lighthouse.", args.input_len or 8, args.output_len, request_id=str(i)) for i in range(args.num_prompts)]


def add_dataset_parser(parser):
    parser.add_argument("--num-prompts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dataset-name", default="custom")
    parser.add_argument("--dataset-path")
    parser.add_argument("--trust-remote-code", action="store_true")


for package in ("vllm", "vllm.utils", "vllm.benchmarks", "vllm.benchmarks.lib"): # no __init__ of theirs is run
    module(package, __path__=[folder + "/" + package.replace(".", "/")])
module("vllm.benchmarks.datasets", SampleRequest=SampleRequest, get_samples=get_samples, add_dataset_parser=add_dataset_parser)
module("vllm.tokenizers", TokenizerLike=object, get_tokenizer=lambda *args, **options: words)
module("vllm.logger", init_logger=logging.getLogger)
module("vllm.utils.argparse_utils", FlexibleArgumentParser=argparse.ArgumentParser)
module("vllm.utils.gc_utils", freeze_gc_heap=lambda: (gc.collect(), gc.freeze()))
module("vllm.utils.network_utils", join_host_port=lambda host, port: f"{host}:{port}")

from vllm.benchmarks import serve # noqa: E402

parser = argparse.ArgumentParser()
serve.add_cli_args(parser)
asyncio.run(serve.main_async(parser.parse_args(arguments)))
