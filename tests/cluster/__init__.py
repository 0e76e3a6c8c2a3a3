"""Processes that write through all nodes of a MariaDB Galera cluster.

``.ci/engine galera10.11 pytest -n 0 -m galera`` starts the cluster and runs these tests alone.
"""
