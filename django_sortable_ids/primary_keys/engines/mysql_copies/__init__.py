"""Copies of tables of MariaDB and MySQL with other definitions, and their exchange."""
