"""From a text to the schemes that it may be an id of."""
