"""An app with one table of invoices, and decoders of ids that share no code with the package."""
