"""Workbooks of other kinds than .xlsx: .xls, .ods and .xlsb, within the same limits."""

import base64
import struct
import zipfile
import zlib
from datetime import date

from source_folder import left_out, problems

# Made with xlwt: on 売上 A2:A3 is merged, and 下書き is hidden.
XLS = zlib.decompress(base64.b85decode(
    "c-rk)T}V_x6#nMkU3WEg*G(f0OoX&d(g-35yC#%RE*60nMQOW9nQLu5WDjN85(GgJL`5%#Jp^I((hp@+^iUAk&qESK"
    "YWUPsQQ(7mJLl}Zvf2hNl%U*inKLtI=A8NN%$d2f_ica9VE4U(Axy&t=$J6mk(QuSl+x{rAJlG|T(om9CDXy2Lb{h0"
    "GR=+0S#LbNhP>WG&~VrFoFp(zX(tXL*d7TN%_3@qLz7|-Rmw%Nr{OxKY~%~CfXKZf7mB<ieV>S|7R`B)Rn&J-?LfZ~"
    "EL&&Aaidl&ZP_Fh9*E5+(X2)uUU3|syrANJ-Pjo2-*j+}H59rs(F0o2+HfQs<+=|ykpXlND%#pALZLzA(sK9Umste-"
    "wD<M1B1b>FdIi#tPStz<qW97wPS;=3TtFwxJ&J=lhD@w=af_yYG-d>26yz_{I5Kp#AUL|Ou5t|P<*4RF7L^TO8YmkH"
    "4+JTDcd_n@f;xMI%7<HSv#NA^*=5SS+q~x}#*St1TR=_?|CCcBOZHMG$q;-}&XFDEr-8<9eScrqTyN|aO{WYUf1fO4"
    "@-T6VEyy@qTHGSJrA#bViaae|mq@ulWG?ljyre$QDs1kOK4+x0gvMDT_+XSKl$TRE_HE0<!q``11(kbihmPm=el)sK"
    "Oz*c4+4HXp<*Hm=yUKWE*txP!p3frl|2T!bn&0AXS}#o>#(Ccnazw^!JUeQ#rde|pujy3NEng~$FD1TscKV17a}D6Y"
    "YxZ%&$G&u$MI~OW5HZ-3HqFyhdUDNT)rZA0ZvjNaPt8)+w+I)u)swK$#nx@H(8W3`*2Al87J34U0b$`1pHn@##1qHR"
    "35{#)<HasuM4nX%OS+M00o<2jb;6xwHlk5Y%DEbiDrq!&>{&&!S#{vRfddB)9L!fJxqZUA;l*#>e1Gy--*v_*O*o%P"
    "<}J3Ooqk8@FXbjgD378erTAF{x3Yby8QR$23mFYGdK9f_79OoB$1mM~RpRr^*wFv)wot0$Po%>0Kac+#bMzT-"
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
    assert "rows of totals are left out: 5" in said


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
