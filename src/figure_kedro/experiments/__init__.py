"""Tables and figures made of many runs."""
