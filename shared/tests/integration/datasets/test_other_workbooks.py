"""Workbooks of other kinds than .xlsx: .xls, .ods and .xlsb, within the same limits."""

import base64
import struct
import zipfile
import zlib
from datetime import date

from source_folder import left_out, problems

# Made with xlwt: on 売上 two rows and a column are empty, B4:B5 is merged, and 下書き is hidden.
XLS = zlib.decompress(base64.b85decode(
    "c-rk)T}V_x6#nM^?2q}g{zV#?2x^(=MlV6=EunmJu?Vy%N^_I4*4lc=9?G&M2!bMrie3y0g0On&hkmG@3Ih9iNP<WWpL!|^d"
    "{A#^&b_yGZ37olQtr3RnK@_XoH_T*nYpv~^+5Je@14S7OhGMFOqzap;$(t~-(dove$$jqr}j}XUCb%?eYB7s9S<{JdF2|)^&"
    "W<T+uAdtzzCJC*pE<WBwRd;sAC^mg!G|CXq0;ju29KD0sEE1bSKkXrnh+PBc^Lua)xOQjU5tOFkpl#R@r&ntdwwHCQ*TVtn+"
    "~-E0B*DGLMg)71mfCYoohc_Rg1%A}t+#ptY_KN5WCbXW*LLx?P0oebsG6njhDp0l}(Z=@9ZLCHnBgEC#+id;e*%E1zAt0LjM"
    "^<=(%@eYBp*<Z@Z3%Fipb(A_Y12)PkrNJmtYJ&O3&oED1F29c>Epo#^dv0V+pajfQJUKY{_HhpTMYBW3;qUz1LhKmB?)In+="
    "Xul~%<(n%mQ03d?J56bLI8DAm_{0e$oH!Z057UXZA&cADyc+{F(fEz8ZyQ=0jqNPy=BcfBQK@tuCXP!DQqJTNUOU@?3g(wHJ"
    ";7ENbGwjf9*v>8tTEqitncA5C%Lzb=2^*jXOzdamr^_SWyAfV*k@xIwfpObkL2~gH+oS*0d6CG`RhTYs1%nkNjxx|TG*%7N2"
    "UdToM1jBz_kw3e&J?e0%>+UBrHxLPW<9jJ60B_5vSU=)Fif4wk6~Cn7mO*BL{n4N{d&sK)gy(RH;ALNfAR@(xzB?LQk%-B|&"
    "x;QCr%Hu${Uk@_E{6pvGS4NxaZmSGT>;Sv$(wBUO$UdYl)7?1hJICR*~aCE0USk(`Xi^KHN=^$C6wxgNDj4(`ez(VO8nW;z?"
    "49*fS!Y_xn&jJQNL?=p@ml10^p3l}b2xNz}5L-0i&d{?w?dDb1sYk$|7pfc%xCYiU`h)(()qQ8af5TQDXu9Wg;A#~x`64TUi"
    "z86X~(d<!lpq2gTNI8G$4lClHXWEK^f47BFoqsYFKWBLUpX4SYlK"
))  # fmt: skip
CONTENT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>'
    '<office:spreadsheet><table:table table:name="表">{rows}</table:table></office:spreadsheet>'
    "</office:body></office:document-content>"
)


def ods(path, rows):
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("mimetype", kind, zipfile.ZIP_STORED)
        made.writestr("META-INF/manifest.xml", "<manifest/>")
        made.writestr("content.xml", CONTENT.format(rows=rows))


def ods_row(*cells, repeated=1):
    said = "".join(
        f'<table:table-cell office:value-type="{kind}" office:{kind}-value="{value}"'
        f' office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
        for kind, value in cells
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{said}</table:table-row>'


def xlsb(path, rows):
    """A workbook of records, each with its kind and length; [MS-XLSB] 2.1.4 and 2.4."""

    def record(kind, data=b""):
        head = bytes([kind & 0x7F | 0x80, kind >> 7]) if kind > 0x7F else bytes([kind])
        return head + bytes([len(data)]) + data

    def text(value):
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    def cell(at, value):
        head = struct.pack("<II", at, 0)
        is_text = isinstance(value, str)
        return record(
            *((6, head + text(value)) if is_text else (5, head + struct.pack("<d", value)))
        )

    sheet = record(0x91)
    for at, row in enumerate(rows):
        sheet += record(0, struct.pack("<I", at) + bytes(13))
        sheet += b"".join(cell(*numbered) for numbered in enumerate(row))
    ends = struct.pack("<IIII", 0, len(rows) - 1, 0, len(rows[0]) - 1)
    named = record(0x9C, struct.pack("<II", 0, 1) + text("r1") + text("表"))
    office = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr(
            "xl/_rels/workbook.bin.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1"'
            f' Type="{office}/officeDocument/2006/relationships/worksheet"'
            ' Target="worksheets/sheet1.bin"/></Relationships>',
        )
        made.writestr("xl/workbook.bin", record(0x8F) + named + record(0x90) + record(0x84))
        made.writestr("xl/worksheets/sheet1.bin", record(0x94, ends) + sheet + record(0x92))


def test_workbooks_of_other_kinds_are_read_and_say_what_is_not_seen(files):
    (files.folder / "a.XLS").write_bytes(XLS)
    names = ods_row(("string", "名"), ("string", "日"), ("string", "数"), ("string", "時間"))
    row, long = (
        ods_row(("string", "あ\r\nい"), ("date", "2025-03-01"), ("float", 12), ("time", length))
        for length in ("PT01H03M00S", "PT26H03M00S")
    )
    rows = f'<table:table-row table:number-rows-repeated="3"/>{names}{row}{long}'
    ods(files.folder / "b.ods", rows)
    xlsb(files.folder / "c.xlsb", [("品", "数"), ("鉛筆", 12.0), ("紙", 3.5)])
    report = files.choose("totals=out", mode="new")
    assert problems(report) == {}
    assert left_out(report) == {
        "a.XLS#下書き": "it is a hidden sheet; show it in the workbook to import it"
    }
    assert files.content("t__a") == (
        {"地域": "VARCHAR", "日付": "DATE", "金額": "BIGINT", "率": "DOUBLE"},
        [("東京", date(2025, 1, 1), 1000, 0.125), ("東京", date(2025, 1, 2), 2000, 0.25),
         ("大阪", date(2025, 1, 3), 3000, 0.375)],
    )  # fmt: skip
    assert files.read("t__b") == [
        ("あ\nい", date(2025, 3, 1), 12, length) for length in ("01:03:00", "26:03:00")
    ]
    assert files.content("t__c") == (
        {"品": "VARCHAR", "数": "DOUBLE"}, [("鉛筆", 12.0), ("紙", 3.5)]
    )  # fmt: skip
    said = str(report.details)
    assert said.count("leading zeros that only a cell's format shows are not seen") == 3
    assert "merged cells are filled down: 1" in said
    assert "rows of totals are left out: 7" in said


def test_workbooks_of_other_kinds_that_cannot_be_read_say_so_within_limits(files):
    (files.folder / "cut.xls").write_bytes(XLS[:3000])
    (files.folder / "web.xls").write_text("<html><table><tr><td>1</td></tr></table></html>")
    (files.folder / "locked.ods").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    wide = ods_row(*[("float", 1)] * 99, repeated=1_000_000)
    ods(files.folder / "bomb.ods", ods_row(("string", "a")) + wide)
    failed = problems(files.import_("new"))
    assert failed.keys() == {"cut.xls", "web.xls", "locked.ods", "bomb.ods"}
    assert set(failed.values()) == {
        "it is damaged, too large, or no workbook at all; save it again as .xlsx"
    }
