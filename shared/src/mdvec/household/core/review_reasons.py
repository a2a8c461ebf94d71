"""Says in Japanese why two rows are likely one purchase, likely two, or a transfer."""

from __future__ import annotations

from collections.abc import Iterable

_REASONS = {
    "moved": "同じ金額が一方の口座から出て、もう一方の口座に入っている",
    "moving_words": "振替、振込、チャージなど、口座間の移動を表すことばがある",
    "refund": "入ったほうは返金か収入らしい",
    "same_account": "同じ口座の同じ明細が、両方の家計簿にある",
    "charged_twice": "毎月1回の支払いが、ここだけ2回ある",
    "final_amount": "同じ店が数日後に少し違う金額で請求している（仮の金額と確定額らしい）",
    "named_account": "内容がもう一方の口座の店や決済サービスを指している",
    "mirror": "この2つの口座は、ほかの買い物も両方に記録している",
    "same_name": "店名が同じ",
    "like_name": "店名が似ている（読み・略称・支店名を除いて）",
    "by_hand": "一方は手入力かレシート",
    "same_category": "カテゴリが同じ",
    "points": "金額の差はポイントや値引きらしい",
    "same_group": "同じ候補のほかの行と合う",
    "one_account": "同じ口座の明細に別の行としてある",
    "two_payers": "どちらも支払いの口座で、互いの買い物を記録していない",
    "matched_otherwise": "もっとよく合う別の行がある",
    "other_name": "店名が違う",
    "other_amount": "金額が違う",
    "common_amount": "よくある金額で、偶然同じになりやすい",
}
"""What each code of a reason says; what speaks for one purchase comes first."""


def reasons_in_words(codes: Iterable[str]) -> tuple[str, ...]:
    """The reasons in Japanese, each once, those for one purchase first."""
    given = set(codes)
    words = [words for code, words in _REASONS.items() if code in given]
    visits = max((int(code[7:]) for code in given if code.startswith("visits:")), default=0)
    if visits:
        words.append(f"この店は前後45日で{visits}回ある")
    return tuple(words)
