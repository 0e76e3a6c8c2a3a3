"""What there is to do, and how far it is."""
