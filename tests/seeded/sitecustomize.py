"""Python imports this at the start of a process that a test has started: its random sources get the
seed that the test has drawn."""

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

if seed := os.environ.get("RANDOM_SEED"):
    spec = spec_from_file_location(
        "random_sources", Path(__file__).parents[1] / "random_sources.py"
    )
    sources = module_from_spec(spec)
    spec.loader.exec_module(sources)
    name, _, test = seed.partition(" ")
    source = sources.Source(name)
    source.start(test)
    source.install()
