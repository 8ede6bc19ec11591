"""Access tokens of an OpenID provider: JWTs, checked against its public keys and nothing that the token says itself."""

import jwt
from jwt.exceptions import PyJWTError

from service.domain.principal import Principal
from service.settings import Settings
from service.surfaces.authentication.claims import principal_of
from service.surfaces.authentication.signing_keys import SigningKeys
from service.surfaces.problems import CredentialsInvalid

_JWT = jwt.PyJWT(options={"enforce_minimum_key_length": True})
_REQUIRED = ("exp", "iss", "aud", "sub")
_TYPES = ("JWT", "AT+JWT", "APPLICATION/AT+JWT")


class Tokens:
    """`oidc_algorithms` are asymmetric, all of them: no public key is taken for a shared secret, and `none` is none."""

    def __init__(self, settings: Settings, keys: SigningKeys) -> None:
        self._settings = settings
        self._keys = keys

    async def principal(self, token: str) -> Principal:
        """Raises CredentialsInvalid for any token that is not valid here and now, Unavailable when nobody can say."""
        try:
            header = jwt.get_unverified_header(token)
            if str(header.get("typ", "JWT")).upper() not in _TYPES:
                raise CredentialsInvalid
            if header.get("alg") not in self._settings.oidc_algorithms:
                raise CredentialsInvalid
            key = await self._keys.key((str(header.get("kid")), header["alg"]))
            if key is None:
                raise CredentialsInvalid
            claims = _JWT.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self._settings.oidc_audiences,
                issuer=self._settings.oidc_issuer,
                leeway=self._settings.oidc_leeway,
                options={"require": list(_REQUIRED)},
            )
        except (PyJWTError, ValueError, TypeError, RecursionError):
            raise CredentialsInvalid from None
        caller = principal_of(claims, self._settings.oidc_rules)
        if len(caller.audiences) > self._settings.visibility_classes:
            raise CredentialsInvalid
        return caller

    async def close(self) -> None:
        await self._keys.close()
