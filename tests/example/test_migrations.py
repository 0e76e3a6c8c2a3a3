from .support import Demo


def test_are_complete(demo: Demo) -> None:
    assert demo.manage("makemigrations", "--check") == "No changes detected\n"


def test_the_project_has_no_warnings(demo: Demo) -> None:
    assert demo.manage("check") == "System check identified no issues (0 silenced).\n"
