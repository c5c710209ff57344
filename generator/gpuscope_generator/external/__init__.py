"""Names, labels and kinds of other people's metrics, one module a source, with the version in which they were seen."""
