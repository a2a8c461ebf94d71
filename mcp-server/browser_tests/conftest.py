"""A site of the sample notes and household, and windows of a real browser that have opened it."""

import os
import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from imported import imported
from mdvec.database.connection import open_database
from mdvec.household import Ledger, review
from mdvec.household.budgeting import set_budget
from mdvec.household.core.pair import DetectionOptions
from mdvec.manage.registering import find_tool
from page_site import page_site
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
TODAY = date(2025, 9, 30)
"""The sample household ends then."""
EXAMPLES = ROOT / "docs" / "examples"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def filled(folder):
    """A database of the sample notes and the sample household, with two budgets and candidates."""
    database = folder / "data" / "v.sqlite"
    imported(database, "notes", EXAMPLES / "notes", "markdown", "the sample notes")
    imported(database, "kakeibo", EXAMPLES / "household", "household", "the sample kakeibo")
    with open_database(database, "write") as connection:
        household = Ledger(connection, find_tool(database, "kakeibo").id, TODAY)
        review.detect(household, DetectionOptions(3, Decimal(0), Decimal(1)))
        for category, amount in (("食費", 45_000), ("水道・光熱費", 20_000)):
            set_budget(household, category=category, amount=amount)
    return database


@pytest.fixture(scope="session")
def fill():
    """How to fill a database with the samples."""
    return filled


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ui")
    with page_site(filled(folder), analytics={"folder": str(folder / "exports")}) as site:
        yield site


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


class Window:
    """A window of the browser that has opened the page."""

    def __init__(self, browser, site, **options):
        self.context = browser.new_context(base_url=site.address, bypass_csp=False, **options)
        self.page = self.context.new_page()
        self.said = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(f"/open?code={site.key.one_time_code()}")
        self.page.wait_for_url("/")


@pytest.fixture
def window(browser, site):
    windows = []

    def opened(**options):
        windows.append(Window(browser, options.pop("site", site), **options))
        return windows[-1]

    yield opened
    for one in windows:
        one.context.close()
