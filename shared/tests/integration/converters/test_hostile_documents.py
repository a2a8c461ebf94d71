"""Sixty and more files that are not what they seem, in one folder with good ones."""

import json
import random
import struct
import zlib
from dataclasses import replace

from collection import RULES
from sample_documents import epub, lines, notebook, pdf, slides, word, zipped

LINE = "停電のときは、まず懐中電灯を探して、家族の無事を確かめる。"
HTML = f"<html><body><h1>停電</h1><p>{LINE}</p></body></html>".encode()
MAIL = (
    f"Subject: =?utf-8?b?5YGc6Zu7?=\nContent-Type: text/plain; charset=utf-8\n\n{LINE}\n".encode()
)
GOOD = {
    ".pdf": pdf(lines(60, 120, 11, LINE)),
    ".docx": word(("Heading 1", "停電"), ("Normal", LINE)),
    ".pptx": slides(("停電", [LINE], "")),
    ".epub": epub("停電", f"<h1>停電</h1><p>{LINE}</p>"),
    ".ipynb": notebook(("markdown", f"# 停電\n\n{LINE}", "")),
    ".html": HTML,
    ".eml": MAIL,
    "conversations.json": json.dumps(
        [{"chat_messages": [{"sender": "human", "text": LINE}]}]
    ).encode(),
    ".zip": zipped({f"停電 {0:032x}.md": LINE}),
}
DEEP = 100_000
ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
LAUGHS = f'<!DOCTYPE d [<!ENTITY e0 "笑">{ENTITIES}]><d>&e11;</d>'.encode()
OUTSIDE = b'<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><d>&a;</d>'


def swollen_pdf():
    """A page whose stream unpacks to 30 MB, which show nothing."""
    stream = zlib.compress(b"(x) Tj " * (30 * 2**17), 1)
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n" % len(stream) + stream + b"\nendstream",
    )  # fmt: skip
    file, places = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        places += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    end = b"xref\n0 5\n%btrailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    return file + end % (places, len(file))


def overlapping_zip(data):
    """A zip file whose directory says a part is 4 GB, which it is not."""
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", 2**32 - 2) + data[at + 28 :]


def hostile():
    """Files by name that cannot be read, though their names promise it."""
    dice = random.Random(7)
    files: dict[str, bytes] = {}
    for ending, data in GOOD.items():
        noise = dice.randbytes(5_000)
        files |= {f"空{ending}": b"", f"雑音{ending}": noise, f"零{ending}": bytes(5_000)}
        if ending not in (".html", ".eml"):  # of which half is text, too
            files[f"半分{ending}"] = data[: len(data) // 2]
        if data.startswith(b"PK"):
            files |= {f"大嘘{ending}": overlapping_zip(data), f"泡{ending}": b"PK\x05\x06" + noise}
    docx = "word/document.xml"
    files |= {
        "wrong.docx": GOOD[".pdf"], "wrong.pdf": GOOD[".docx"], "wrong.pptx": GOOD[".epub"],
        "wrong.epub": GOOD[".html"], "locked.pdf": pdf(lines(60, 60, 11, LINE), password="秘密"),
        "old.docx": b"\xd0\xcf\x11\xe0" + bytes(4_000), "swollen.pdf": swollen_pdf(),
        "laughs.docx": zipped({docx: LAUGHS}), "outside.docx": zipped({docx: OUTSIDE}),
        "deep.docx": zipped({docx: "<a>" * DEEP}), "none.docx": zipped({"a": ""}),
        "none.pptx": zipped({"a": ""}), "none.epub": zipped({"a": ""}),
        "laughs.epub": zipped({"META-INF/container.xml": LAUGHS}),
        "many.zip": zipped({f"{n}.md": "" for n in range(20_001)}),
        "deep.ipynb": b'{"cells": ' + b"[" * DEEP, "deep.html": b"<script>x" + b"<!--" * 9,
        "spans.html": b"<table>" + b"<tr><td rowspan=65534>1</td></tr>" * 330,
        "math.html": b"<math><mfrac>" * 2_000 + b"1",
        "deepconversations.json": b"[" * DEEP, "self.zip": zipped({"users.json": "[[]]"}),
    }  # fmt: skip
    return files


def test_each_hostile_file_is_one_sentence_and_the_good_ones_are_in(collection):
    files = hostile()
    assert len(files) >= 60
    for name, data in files.items():
        (collection.folder / name).write_bytes(data)
    for ending, data in GOOD.items():
        (collection.folder / f"good{ending}").write_bytes(data)
    endings = tuple(ending if ending.startswith(".") else ".json" for ending in GOOD)
    collection.rules = replace(RULES, extensions=endings)
    report = collection.import_("new")
    said = {failure.file_path: failure.reason for failure in report.failed}
    assert {name for name in files if name not in said} == set()
    assert [name for name, why in said.items() if "\n" in why or len(why) > 200] == []
    assert "passwd" not in str(said)
    assert "no page of it has text" in said["swollen.pdf"]
    assert "more than 50,000 cells" in said["spans.html"]
    bundled = 2  # one part in each of the mailbox and the conversations
    assert report.added == len(GOOD) + bundled
