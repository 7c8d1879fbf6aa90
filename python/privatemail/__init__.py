"""PrivateMail for Python."""
