"""Databases on network file systems: recognised in the list of mounts, and refused by name."""

from pathlib import Path

from table_of_cases import each

from mdvec.database.file import network_trouble
from mdvec.platform.locks import linux_mounts

LINUX = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:35 / /home/花子/share\\040of\\040all rw - nfs4 server:/exports/all rw,vers=4.2
41 22 0:36 / /mnt/office rw - cifs //nas/office rw
42 41 8:2 / /mnt/office/local rw - ext4 /dev/sdb1 rw
43 22 0:37 / /mnt/far rw - fuse.sshfs me@far:/data rw
44 22 0:38 / /mnt/odd rw - fuse.portal portal rw
"""


@each(
    ("path", "named"),
    [
        ("/home/花子/share of all/db.sqlite", "nfs4, server:/exports/all"),
        ("/mnt/office/db.sqlite", "cifs, //nas/office"),
        ("/mnt/far/a/b/db.sqlite", "fuse.sshfs, me@far:/data"),
        ("/mnt/office/local/db.sqlite", None),
        ("/mnt/officer/db.sqlite", None),
        ("/mnt/odd/db.sqlite", None),
        ("/home/花子/db.sqlite", None),
    ],
)
def test_a_network_file_system_is_named_and_a_local_one_inside_it_is_not(path, named):
    trouble = network_trouble(Path(path), linux_mounts(LINUX))
    assert trouble is None if named is None else f"{path} is on a network" in str(trouble)
    assert named is None or f"({named})" in str(trouble)


def test_this_machines_temporary_folder_is_local(tmp_path):
    assert network_trouble(tmp_path / "db.sqlite") is None


def test_a_path_that_leads_to_itself_is_on_the_file_system_where_it_lies(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert network_trouble(tmp_path / "loop") is None
