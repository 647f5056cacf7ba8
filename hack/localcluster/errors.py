"""The one exception that the commands turn into a sentence and exit code 1."""


class ClusterError(Exception):
    """Something a person has to know or change; the text says what and the way round it."""
