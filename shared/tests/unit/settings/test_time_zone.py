"""The time zone of SQL: the system's, or one that exists."""

import pytest
from pydantic import ValidationError

from mdvec.settings import AnalyticsSettings
from mdvec.settings.sections import system_zone


def test_the_systems_zone_has_the_name_of_its_link(tmp_path):
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/posix/Asia/Tokyo")
    assert system_zone({}, link) == "Asia/Tokyo"
    assert system_zone({"TZ": ":Europe/Paris"}, link) == "Europe/Paris"
    nameless = system_zone({"TZ": "JST-9"}, tmp_path / "none")
    assert nameless == "UTC" or nameless.startswith("Etc/GMT")


def test_a_zone_that_does_not_exist_is_refused():
    assert AnalyticsSettings(time_zone="Asia/Tokyo").zone == "Asia/Tokyo"
    for name in ("Asia/Tokio", "JST'", "../UTC", ""):
        with pytest.raises(ValidationError):
            AnalyticsSettings(time_zone=name)
