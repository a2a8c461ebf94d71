"""`mdvec household export` on real files: what it prints, and what it refuses."""

from ledger_folder import HEADER, JULY, line


def test_the_ledger_goes_to_stdout_and_a_tool_of_another_kind_is_refused(mdvec):
    mdvec.write(f"{JULY}.csv", "\n".join([HEADER, line("a", -500), line("b", -3200)]))
    folder = ("-d", "家計簿", "-s", str(mdvec.docs))
    assert mdvec("tool", "add", "-n", "kakeibo", *folder, "--kind", "household").code == 0
    assert mdvec("tool", "add", "-n", "notes", *folder).code == 0
    assert mdvec("import", "-n", "kakeibo").code == 0

    done = mdvec("household", "export", "-n", "kakeibo", "--format", "hledger")
    assert (done.code, done.err) == (0, "")
    assert done.out.count(" JPY\n") == 4
    assert mdvec("household", "export", "-n", "kakeibo").out.startswith(
        'option "operating_currency" "JPY"\n'
    )
    none = mdvec("household", "export", "-n", "kakeibo", "--format", "csv", "--since", "2030-01-01")
    assert len(none.out.splitlines()) == 1

    refused = mdvec("household", "export", "-n", "notes")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "error: the tool 'notes' is a markdown, not a household\n"
    swapped = ("--since", "2025-02-01", "--until", "2025-01-01")
    turned = mdvec("household", "export", "-n", "kakeibo", *swapped)
    assert turned.code == 2
    assert "it is before --since 2025-02-01; swap them" in turned.err
