"""A server that runs for weeks: its memory and descriptors stay flat, and it leaves no file."""

import random
import sys
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from answer_text import passages
from mdvec.manage import registering

QUESTIONS = ("水は何日分いる？", "two branches at once", "rice", "自転車の手入れ", "9リットル")


class Weeks:
    """What clients and a terminal do to a server, and how large its process is meanwhile."""

    def __init__(self, one, database, import_use):
        self.one, self.database, self.import_use = one, database, import_use
        self.process = psutil.Process(one.process.pid)
        self.random = random.Random(13)

    def search(self):
        tool = self.random.choice(("notes", "dev"))
        assert passages(self.one.ask(tool, self.random.choice(QUESTIONS)))

    def import_changes(self, number):
        note = self.database.parent / "notes" / f"{number % 5}.md"
        note.write_text(f"# 第{number}版\n\n水は{number}リットル備える。\n", encoding="utf-8")
        self.import_use(self.database, "notes")

    def switch(self, number):
        registering.set_active(self.database, "off", active=bool(number % 2))

    def run(self, searches, imports, switches):
        """All of it, evenly mixed."""
        for number in range(searches):
            self.search()
            if number * imports // searches != (number + 1) * imports // searches:
                self.import_changes(number)
            if number * switches // searches != (number + 1) * switches // searches:
                self.switch(number)

    def size(self):
        """Its memory in bytes, and its descriptors."""
        return self.process.memory_info().rss, self.process.num_fds()

    def arenas(self):
        """How many times glibc has reserved 64 MB for what threads allocate."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text(encoding="utf-8").splitlines()
        parts = [(line.partition(" ")[0].split("-"), " ---p " in line) for line in maps]
        return sum(
            is_unused and int(end, 16) - int(start, 16) == 2**26
            for ((start, _), _), ((_, end), is_unused) in pairwise(parts)
        )


@pytest.mark.parametrize(
    ("searches", "imports", "switches"),
    [
        (20, 1, 1),
        pytest.param(
            100_000, 1_000, 1_000, marks=[pytest.mark.soak, pytest.mark.timeout(3 * 3_600)]
        ),
    ],
)
def test_weeks_of_use_leave_the_server_as_it_was(
    database, wire, import_use, searches, imports, switches
):
    weeks = Weeks(wire(database).greet(), database, import_use)
    weeks.run(10, 1, 1)
    files = {path.name for path in database.parent.iterdir()}
    before = weeks.size()
    weeks.run(searches, imports, switches)
    after = weeks.size()
    if sys.platform == "linux":  # elsewhere the C library keeps what it has
        assert after[0] - before[0] < 20_000_000
        assert weeks.arenas() <= 1
    assert after[1] - before[1] <= 4
    assert {path.name for path in database.parent.iterdir()} <= files
    assert weeks.one.end()[1] == 0
    assert weeks.one.count("Traceback") == 0
