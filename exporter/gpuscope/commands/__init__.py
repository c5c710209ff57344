"""Commands that belong to no subject of their own; each is imported when it is used."""
