"""Builds a folder that transformers loads as it loads PLaMo: tiny, seeded, with code of its own.

It copies what makes the real one delicate: remote code that calls what transformers deprecates,
a config that says bfloat16, rotary tables that are computed and not stored, a tokenizer in Python
that knows no offsets and falls back to bytes, ``encode_query`` and ``encode_document``.

transformers takes remote code by the folder's last name: two folders of one name in one process
share the code of the first, so every folder that a test builds needs a name of its own.
"""

import json
from pathlib import Path

HIDDEN = 32
MAX_POSITIONS = 512
WORDS = (
    "東京", "の", "猫", "は", "犬", "が", "好き", "天気", "ねこ", "です", "。", "、",
    "▁", "▁▁", "▁the", "the", "cat", "dog", "chases", "hello", "▁world", "\r\n", "\n",
    *"abcdefghijklmnopqrstuvwxyz0123456789#-",
)  # fmt: skip
SPECIALS = ("<unk>", "<s>", "</s>", "<pad>")
BYTES = tuple(f"<0x{number:02X}>" for number in range(256))
VOCABULARY = (*SPECIALS, *BYTES, *WORDS)


def build(folder: Path, *, weights: str = "seeded", shards: int = 1) -> Path:
    """Write the model into ``folder``, which must be new.

    ``weights`` is "seeded", "nan" (every number) or "halved" (the last tensor is left out).
    """
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(_CONFIG, indent=2), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(_TOKENIZER), encoding="utf-8")
    (folder / "tokenizer.jsonl").write_text(
        "".join(json.dumps(piece, ensure_ascii=False) + "\n" for piece in VOCABULARY),
        encoding="utf-8",
    )
    (folder / "modeling_plamo.py").write_text(_MODEL_CODE, encoding="utf-8")
    (folder / "tokenization_plamo.py").write_text(_TOKENIZER_CODE, encoding="utf-8")
    (folder / "README.md").write_text("A tiny stand-in.\n", encoding="utf-8")
    _save_weights(folder, weights, shards)
    return folder


def build_fast(folder: Path) -> Path:
    """The same with a tokenizer of transformers, which reports offsets and has few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    build(folder)
    words = {piece: number for number, piece in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {**_TOKENIZER, "tokenizer_class": "PreTrainedTokenizerFast"}
    del config["auto_map"]
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def _save_weights(folder: Path, kind: str, shards: int) -> None:
    import torch
    from safetensors.torch import save_file

    noise = torch.Generator().manual_seed(7)
    shapes = {
        "embed_tokens.weight": (len(VOCABULARY), HIDDEN),
        "layer.query.weight": (HIDDEN, HIDDEN),
        "layer.key.weight": (HIDDEN, HIDDEN),
        "layer.value.weight": (HIDDEN, HIDDEN),
        "norm.weight": (HIDDEN,),
    }
    state = {
        # Small enough that a token attends to the others, and not to itself alone.
        name: (torch.randn(shape, generator=noise) * 0.5).to(torch.bfloat16)
        for name, shape in shapes.items()
    }
    if kind == "nan":
        state = {name: torch.full_like(tensor, torch.nan) for name, tensor in state.items()}
    if kind == "halved":
        del state["norm.weight"]
    if shards == 1:
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
        return
    files = {
        name: f"model-{number % shards + 1:05}-of-{shards:05}.safetensors"
        for number, name in enumerate(state)
    }
    for file in set(files.values()):
        part = {name: tensor for name, tensor in state.items() if files[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    index = {"metadata": {"total_size": 0}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


_CONFIG = {
    "architectures": ["TinyPlamoModel"],
    "auto_map": {
        "AutoConfig": "modeling_plamo.TinyPlamoConfig",
        "AutoModel": "modeling_plamo.TinyPlamoModel",
    },
    "model_type": "tiny-plamo",
    "hidden_size": HIDDEN,
    "vocab_size": len(VOCABULARY),
    "max_position_embeddings": MAX_POSITIONS,
    "torch_dtype": "bfloat16",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 3,
}

_TOKENIZER = {
    "auto_map": {"AutoTokenizer": ["tokenization_plamo.TinyPlamoTokenizer", None]},
    "tokenizer_class": "TinyPlamoTokenizer",
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "pad_token": "<pad>",
    "model_max_length": 4096,
    "clean_up_tokenization_spaces": False,
}

_MODEL_CODE = """
import warnings

import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel

QUERY = "次の文章に対して、関連する文章を検索してください: "


class TinyPlamoConfig(PretrainedConfig):
    model_type = "tiny-plamo"

    def __init__(self, hidden_size=32, vocab_size=512, max_position_embeddings=512, **kwargs):
        self.hidden_size = hidden_size
        self.vocab_size = vocab_size
        self.max_position_embeddings = max_position_embeddings
        super().__init__(**kwargs)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, seq_len, base=10000):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.fill(seq_len)

    def fill(self, seq_len):
        self.seq_len = seq_len
        positions = torch.arange(seq_len, device=self.inv_freq.device).float()
        angles = torch.outer(positions, self.inv_freq)
        angles = torch.cat((angles, angles), dim=-1)
        dtype = torch.get_default_dtype()
        self.register_buffer("cos_cached", angles.cos().to(dtype), persistent=False)
        self.register_buffer("sin_cached", angles.sin().to(dtype), persistent=False)

    def forward(self, x):
        if x.shape[1] > self.seq_len:
            self.fill(x.shape[1])
        first, second = x.chunk(2, dim=-1)
        turned = torch.cat((-second, first), dim=-1)
        return x * self.cos_cached[: x.shape[1]] + turned * self.sin_cached[: x.shape[1]]


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.hidden_size
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        self.value = nn.Linear(size, size, bias=False)
        self.rotary = RotaryEmbedding(size, config.max_position_embeddings)

    def forward(self, hidden, mask):
        attended = nn.functional.scaled_dot_product_attention(
            self.rotary(self.query(hidden)),
            self.rotary(self.key(hidden)),
            self.value(hidden),
            attn_mask=mask[:, None, :],
        )
        return hidden + attended


class TinyPlamoModel(PreTrainedModel):
    config_class = TinyPlamoConfig
    base_model_prefix = "model"

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = Layer(config)
        self.norm = nn.LayerNorm(config.hidden_size, bias=False)
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, input_ids, attention_mask):
        warnings.warn("the attention mask API is deprecated", FutureWarning)
        hidden = self.layer(self.embed_tokens(input_ids), attention_mask.bool())
        return self.norm(hidden)

    def encode(self, texts, tokenizer, skip):
        inputs = tokenizer(
            texts, padding=True, truncation=True, max_length=4096, return_tensors="pt"
        ).to(self.device)
        hidden = self(inputs["input_ids"], inputs["attention_mask"])
        kept = inputs["attention_mask"].clone()
        kept[:, :skip] = 0
        kept = kept.unsqueeze(-1).to(hidden.dtype)
        return (hidden * kept).sum(dim=1) / kept.sum(dim=1)

    def encode_query(self, text, tokenizer):
        texts = [text] if isinstance(text, str) else text
        skip = len(tokenizer(QUERY)["input_ids"])
        return self.encode([QUERY + one for one in texts], tokenizer, skip)

    def encode_document(self, texts, tokenizer):
        return self.encode([texts] if isinstance(texts, str) else texts, tokenizer, 1)
"""

_TOKENIZER_CODE = """
import json
import shutil
from pathlib import Path

from transformers import PreTrainedTokenizer


class TinyPlamoTokenizer(PreTrainedTokenizer):
    vocab_files_names = {"vocab_file": "tokenizer.jsonl"}
    model_input_names = ["input_ids", "attention_mask"]

    def __init__(self, vocab_file, **kwargs):
        self.vocab_file = vocab_file
        lines = Path(vocab_file).read_text(encoding="utf-8").splitlines()
        self.pieces = [json.loads(line) for line in lines]
        self.numbers = {piece: number for number, piece in enumerate(self.pieces)}
        self.words = {p for p in self.pieces if not (p.startswith("<") and p.endswith(">"))}
        self.longest = max(map(len, self.words))
        super().__init__(**kwargs)

    @property
    def vocab_size(self):
        return len(self.pieces)

    def get_vocab(self):
        return {**self.numbers, **self.added_tokens_encoder}

    def _tokenize(self, text, **kwargs):
        found, start, text = [], 0, text.replace(" ", "▁")
        while start < len(text):
            for length in range(self.longest, 0, -1):
                if text[start : start + length] in self.words:
                    break
            if text[start : start + length] in self.words:
                found.append(text[start : start + length])
            else:
                length = 1
                found += [f"<0x{byte:02X}>" for byte in text[start].encode("utf-8")]
            start += length
        return found

    def _convert_token_to_id(self, token):
        return self.numbers.get(token, 0)

    def _convert_id_to_token(self, index):
        return self.pieces[index]

    def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
        return [1, *token_ids_0]

    def save_vocabulary(self, save_directory, filename_prefix=None):
        return (str(shutil.copy(self.vocab_file, save_directory)),)
"""
