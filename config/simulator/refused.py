"""A call that is not carried out, and what the caller is told."""


class Refused(Exception):
    """The HTTP status, a code for programs, and a sentence for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
