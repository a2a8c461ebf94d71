"""Makes docs/examples/documents: an invented file of each format, for `make demo` and tests."""

# ruff: noqa: E501 - the words of the files

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from sample_documents import columns, epub, lines, pdf, slides, word  # noqa: E402

FOLDER = ROOT / "docs" / "examples" / "documents"


def boiler_manual() -> bytes:
    """An English manual: a page in two columns, a page with a table, a page of faults."""
    head = [(60, 30, 8, "Brightwater B200 Manual")]
    first = [
        (60, 80, 20, "Installation"),
        *lines(60, 120, 10, "The boiler hangs on a wall that", "carries at least forty kilograms.",
               "Leave thirty centimetres of free", "space above it, and ten on either",
               "side, so that air can reach the", "burner and a person the screws."),
        *lines(320, 120, 10, "Connect the cold water on the left", "and the heating on the right side.",
               "Fill the circuit slowly until the", "gauge shows one and a half bar of",
               "pressure, then open each radia-", "tor to let out the air inside it."),
    ]  # fmt: skip
    second = [
        (60, 80, 20, "Maintenance"),
        *lines(60, 120, 10, "Have the flue inspected every year before winter. Replace the filter "
               "when the", "green lamp blinks; spare filters are sold under the number F-210."),
        *(
            (x, 180 + 16 * row, 10, cell)
            for row, cells in enumerate(
                (("Part", "Number", "Lifetime"), ("Filter", "F-210", "2 years"),
                 ("Electrode", "E-77", "5 years"))
            )
            for x, cell in zip((60, 200, 340), cells, strict=True)
        ),
    ]  # fmt: skip
    third = [
        (60, 80, 20, "Error codes"),
        *lines(60, 120, 10, "E04 means that no flame was seen: check that the gas tap is open.",
               "E11 means that the water is too hot: the pump stands still or is blocked.",
               leading=3),
    ]  # fmt: skip
    number = 820
    return pdf(
        *(
            [*head, *page, (290, number, 8, str(at))]
            for at, page in enumerate((first, second, third), 1)
        )
    )


def building_rules() -> bytes:
    """Japanese rules of a house, with a page of vertical text."""
    first = [
        (60, 80, 18, "第1章 ごみの出し方"),
        *lines(60, 120, 11, "燃えるごみは月曜日と木曜日の朝八時までに、一階の集積所に出しま",
               "す。粗大ごみは管理室で札を買い、第二土曜日に出してください。"),
    ]  # fmt: skip
    second = [
        (60, 80, 18, "第2章 駐輪場とペット"),
        *lines(60, 120, 11, "自転車は一世帯に二台まで置けます。登録の札は毎年四月に配り、札の",
               "ない自転車は一か月の予告の後に片づけます。"),
        *lines(60, 190, 11, "犬や猫は、体重十キロまでのものを二匹まで飼えます。共用の廊下では",
               "必ず抱くか、かごに入れてください。"),
    ]  # fmt: skip
    third = columns(500, 90, 13, "回覧　井戸端会議のお知らせ。来る十月十日、", "中庭の井戸の蓋を開けて、水質の検査を行い",
                    "ます。見学を望む方は、前日までに当番の久保", "田までお申し出ください。")  # fmt: skip
    return pdf(
        *(
            [(60, 30, 8, "みどり荘 使用細則"), *page, (290, 820, 8, f"- {at} -")]
            for at, page in enumerate((first, second, third), 1)
        )
    )


def travel_rules() -> bytes:
    """A Word file with headings and a table."""
    return word(
        ("Title", "出張旅費規程"),
        ("Heading 1", "第1条 目的"),
        (
            "Normal",
            "この規程は、社員が会社の命令で出張するときの、交通費、宿泊料、日当の支給について定めるものである。",
        ),
        ("Heading 1", "第2条 日当と宿泊料"),
        ("Normal", "日当と宿泊料は、次の表の額を上限とする。海外は別に定める。"),
        [
            ["区分", "日当", "宿泊料"],
            ["一般", "2,500円", "11,000円"],
            ["管理職", "3,500円", "14,000円"],
        ],
        ("Heading 1", "第3条 精算"),
        (
            "Normal",
            "出張から戻った日の翌日から七日以内に、領収書を添えて経理課に精算書を出す。遅れるときは、その前に課長に知らせる。",
        ),
        ("Heading 1", "第4条 新幹線"),
        (
            "Normal",
            "片道の距離が百キロを超えるときは、新幹線の普通車指定席を使うことができる。グリーン車は役員だけが使える。",
        ),
    )


def launch_slides() -> bytes:
    """A presentation with notes."""
    return slides(
        ("焙煎所の新商品", ["秋の発売に向けて"], ""),
        ("市場と顧客", ["三十代の在宅勤務者が主な顧客", "競合は駅前の二店"], ""),
        (
            "価格と原価",
            ["二百グラム千四百円", "原価率は三十八パーセント"],
            "値上げの理由を聞かれたら円安を話す",
        ),
        ("Schedule", ["Packaging is ready in August", "Tasting event on 12 September"], ""),
    )


GARDEN = """<!doctype html><html lang="ja"><head><meta charset="utf-8"><title>冬の庭しごと | 園芸だより</title>
<style>.promo { display: none }</style></head><body><nav>ホーム 会社案内 通販</nav><main>
<h1>冬の庭しごと</h1><p>木が眠っている間に、来年の準備をします。晴れて風のない日を選びましょう。</p>
<h2>薔薇の剪定</h2><p><ruby>薔薇<rt>ばら</rt></ruby>は一月の終わりに、外を向いた芽の上五ミリで切ります。枯れた枝と、内側へ伸びた枝は根元から落とします。</p>
<h2>寒肥</h2><p>油かすと骨粉を二対一で混ぜ、幹から五十センチ離した穴に埋めます。肥料が根に直に触れると傷みます。</p>
<h2>霜よけ</h2><p>鉢植えは軒下に移し、株元を藁で覆います。水やりは昼前に済ませ、夕方には与えません。</p>
<p class="promo">今すぐ注文すると半額</p></main><footer>© 園芸だより</footer></body></html>
"""


def mountain_book() -> bytes:
    """A book of three chapters."""
    return epub(
        "雲取の山小屋",
        "<h1>峠の茶屋</h1><p>祖父の営む茶屋は、峠の古い杉の陰にあった。名物は胡桃の餅で、朝のうちに売り切れた。</p>",
        "<h1>吹雪の夜</h1><p>その晩、鐘を鳴らし続けたのは郵便配達の源さんだった。三人の登山者が音を頼りに助かった。</p>",
        "<h1>雪解け</h1><p>春になると、沢に架かる吊り橋を村の皆で架け替えた。板は七十二枚、綱は麻を撚って作った。</p>",
    )


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in {
        "boiler-manual.pdf": boiler_manual(),
        "みどり荘使用細則.pdf": building_rules(),
        "出張旅費規程.docx": travel_rules(),
        "新商品.pptx": launch_slides(),
        "冬の庭しごと.html": GARDEN.encode(),
        "雲取の山小屋.epub": mountain_book(),
    }.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
