"""Credentials → principals, for every HTTP surface at once, and what a principal may do."""

from service.surfaces.authentication.authenticator import Authenticator, anonymous, check, open_authenticator
from service.surfaces.authentication.authorized import AuthorizedToolbox
from service.surfaces.authentication.middleware import Authentication

__all__ = ["Authentication", "Authenticator", "AuthorizedToolbox", "anonymous", "check", "open_authenticator"]
