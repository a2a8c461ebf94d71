"""Builds a folder that sentence-transformers loads: a tiny, seeded BERT with mean pooling."""

import json
from pathlib import Path

HIDDEN = 32
MAX_TOKENS = 128
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789:。、 水火猫犬検索文書クエリ本文見出し"


def build(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """Write the model into ``folder``, which must be new."""
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder.mkdir(parents=True)
    words = {piece: number for number, piece in enumerate([*SPECIALS, *dict.fromkeys(LETTERS)])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]", model_max_length=MAX_TOKENS,
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(words), hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=HIDDEN, max_position_embeddings=MAX_TOKENS,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    modules = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling")]
    _write(folder / "modules.json", [
        {"idx": int(name), "name": name, "path": path,
         "type": f"sentence_transformers.models.{kind}"} for name, path, kind in modules
    ])  # fmt: skip
    (folder / "1_Pooling").mkdir()
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True},
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS})
    _write(folder / "config_sentence_transformers.json", {"prompts": prompts or {}})
    return folder


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
