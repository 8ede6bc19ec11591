"""Access tokens of an OpenID provider: what is taken, what never is, and how its keys are come by."""

import asyncio
import base64
import hashlib
import hmac
import json
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from service.domain.errors import SettingInvalid
from service.domain.principal import Scope
from service.settings import ClaimRule, Settings, load_settings
from service.surfaces.authentication import check
from service.surfaces.authentication.claims import principal_of
from tests.surfaces.access import AUDIENCE, ISSUER, WITH_TOKENS, bearer, service

pytestmark = pytest.mark.anyio

SEARCH = "/v1/search?q=fusion"
STAFF = ClaimRule(claim="groups", value="staff", scopes=(Scope.SEARCH,), classes=("internal",))
SETTINGS = WITH_TOKENS.model_copy(update={"oidc_rules": (STAFF,)})


async def asked(running, token):
    return await running.client.get(SEARCH, headers=bearer(token))


async def test_a_valid_token_is_its_claims_principal(toolbox):
    async with service(toolbox, SETTINGS) as running:
        answer = await asked(running, running.issuer.token(groups=["staff", "other"]))
        assert answer.status_code == 200
        (principal,) = toolbox.principals
        assert principal.name == "token:someone"
        assert (principal.audiences, principal.scopes) == ({"internal", "*"}, {Scope.SEARCH})


async def test_a_valid_token_that_no_rule_speaks_of_may_nothing(toolbox):
    async with service(toolbox, SETTINGS) as running:
        answer = await asked(running, running.issuer.token(groups=["other"]))
        assert (answer.status_code, answer.json()["code"]) == (401, "credentials_missing")
        assert toolbox.asked == []


NOW = int(time.time())
WRONG_CLAIMS = {
    "expired": {"exp": NOW - 31},
    "not yet valid": {"nbf": NOW + 86_400},
    "from the future": {"iat": NOW + 86_400},
    "never expires": {"exp": None},
    "expires at a word": {"exp": "tomorrow"},
    "another issuer": {"iss": "https://evil.example"},
    "an issuer that begins alike": {"iss": ISSUER + "/"},
    "several issuers": {"iss": [ISSUER]},
    "no issuer": {"iss": None},
    "for somebody else": {"aud": "https://other.example"},
    "for nobody": {"aud": None},
    "for an audience that begins alike": {"aud": AUDIENCE + ".evil.example"},
    "of nobody": {"sub": None},
    "of a number": {"sub": 7},
}


@pytest.mark.parametrize("claims", WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
async def test_a_claim_that_is_wrong_makes_the_token_so(toolbox, claims):
    async with service(toolbox, SETTINGS) as running:
        answer = await asked(running, running.issuer.token(groups=["staff"], **claims))
    assert (answer.status_code, answer.json()["code"]) == (401, "credentials_invalid")
    assert toolbox.asked == []


async def test_clocks_may_differ_by_the_leeway(toolbox):
    async with service(toolbox, SETTINGS) as running:
        now = int(time.time())
        token = running.issuer.token(groups=["staff"], exp=now - 5, nbf=now + 5, iat=now + 5)
        assert (await asked(running, token)).status_code == 200
        for claims in ({"aud": [AUDIENCE, "https://other.example"]}, {"nbf": None, "iat": None}):
            assert (await asked(running, running.issuer.token(groups=["staff"], **claims))).status_code == 200


def unsigned(header, claims):
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    return b".".join(parts)


def forgeries(issuer):
    """Tokens that claim everything and prove nothing."""
    claims = issuer.claims(groups=["staff"])
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = issuer.private["first"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    body = unsigned({"alg": "HS256", "kid": "first", "typ": "JWT"}, claims)
    confused = body + b"." + base64.urlsafe_b64encode(hmac.new(pem, body, hashlib.sha256).digest()).rstrip(b"=")
    valid = issuer.token(groups=["staff"])
    head, middle, signature = valid.split(".")
    more = unsigned({"alg": "RS256", "kid": "first"}, {**claims, "groups": ["staff", "root"]}).split(b".")[1].decode()
    return {
        "no algorithm": unsigned({"alg": "none", "kid": "first"}, claims).decode() + ".",
        "no algorithm, in capitals": unsigned({"alg": "NONE", "kid": "first"}, claims).decode() + ".",
        "the public key as a shared secret": confused.decode(),
        "signed by a stranger": jwt.encode(claims, stranger, "RS256", headers={"kid": "first"}),
        "signed by a stranger who brings the key": jwt.encode(
            claims,
            stranger,
            "RS256",
            headers={"kid": "first", "jwk": json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(stranger.public_key()))},
        ),
        "signed by a stranger who says where the key is": jwt.encode(
            claims, stranger, "RS256", headers={"kid": "first", "jku": "https://evil.example/keys"}
        ),
        "another algorithm of the same key": jwt.encode(claims, issuer.private["first"], "PS256", {"kid": "first"}),
        "no key's name": jwt.encode(claims, issuer.private["first"], "RS256"),
        "a key's name that is none": jwt.encode(claims, issuer.private["first"], "RS256", {"kid": "../../etc/passwd"}),
        "of another type": issuer.token(groups=["staff"], headers={"typ": "logout+jwt"}),
        "understood by nobody": issuer.token(groups=["staff"], headers={"crit": ["exp2"], "exp2": 1}),
        "other claims": f"{head}.{more}.{signature}",
        "cut": valid[:-4],
        "no signature": f"{head}.{middle}.",
        "no token": "a.b.c",
        "bottomless": f"{head}.{base64.urlsafe_b64encode(b'[' * 5000).decode()}.{signature}",
        "opaque": "opaque",
        "nothing": "",
    }


async def test_nothing_forged_is_taken(toolbox):
    async with service(toolbox, SETTINGS) as running:
        for name, token in forgeries(running.issuer).items():
            answer = await asked(running, token)
            assert (answer.status_code, answer.json()["code"]) == (401, "credentials_invalid"), name
        assert toolbox.asked == []
        assert all(url.startswith(ISSUER) for url in running.issuer.requests)


async def test_a_weak_key_is_none(toolbox):
    async with service(toolbox, SETTINGS) as running:
        running.issuer.private = {"weak": rsa.generate_private_key(public_exponent=65537, key_size=1024)}
        assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 401


async def test_a_shared_secret_in_the_key_set_is_no_key(toolbox):
    async with service(toolbox, SETTINGS) as running:
        secret = b"s" * 32
        jwk = {"kty": "oct", "kid": "shared", "k": base64.urlsafe_b64encode(secret).rstrip(b"=").decode()}
        running.issuer.extra_keys = [jwk, {"kty": "RSA"}, {"kid": "broken", "kty": "RSA", "n": 1}, "no key"]
        token = jwt.encode(running.issuer.claims(groups=["staff"]), secret, "HS256", {"kid": "shared"})
        assert (await asked(running, token)).status_code == 401
        assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 200


async def test_only_a_pinned_algorithm_is_taken(toolbox):
    settings = SETTINGS.model_copy(update={"oidc_algorithms": ("ES256",)})
    async with service(toolbox, settings) as running:
        running.issuer.private["curve"] = ec.generate_private_key(ec.SECP256R1())
        assert (await asked(running, running.issuer.token(kid="curve", groups=["staff"]))).status_code == 200
        assert (await asked(running, running.issuer.token(kid="first", groups=["staff"]))).status_code == 401


@pytest.mark.parametrize("algorithm", ["none", "HS256", "HS512", "RS1"])
def test_no_other_algorithm_can_be_pinned(algorithm):
    with pytest.raises(SettingInvalid, match="oidc_algorithms"):
        load_settings(environment={"COGITAVE_QUERY_OIDC_ALGORITHMS": json.dumps([algorithm])})


async def test_the_keys_are_fetched_once(toolbox):
    async with service(toolbox, SETTINGS) as running:
        for _ in range(5):
            assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 200
        assert running.issuer.requests == [f"{ISSUER}/.well-known/openid-configuration", f"{ISSUER}/keys"]


async def test_a_new_key_is_looked_for_at_once_and_the_old_one_is_forgotten(toolbox):
    async with service(toolbox, SETTINGS.model_copy(update={"oidc_pause": 0})) as running:
        old = running.issuer.token(groups=["staff"])
        assert (await asked(running, old)).status_code == 200
        running.issuer.rotate("second")
        assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 200
        assert (await asked(running, old)).status_code == 401


async def test_made_up_key_names_ask_the_issuer_once_a_pause(toolbox):
    async with service(toolbox, SETTINGS) as running:
        assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 200
        fetched = len(running.issuer.requests)
        for number in range(10):
            token = jwt.encode(running.issuer.claims(), running.issuer.private["first"], "RS256", {"kid": str(number)})
            assert (await asked(running, token)).status_code == 401
        assert len(running.issuer.requests) == fetched


async def test_an_issuer_that_is_down_is_not_the_callers_fault(toolbox):
    async with service(toolbox, SETTINGS) as running:
        running.issuer.is_down = True
        token = running.issuer.token(groups=["staff"])
        answer = await asked(running, token)
        assert (answer.status_code, answer.json()["code"]) == (503, "engine_unavailable")
        tried = len(running.issuer.requests)
        await asked(running, token)
        assert len(running.issuer.requests) == tried  # the pause holds for failures, too


async def test_known_keys_outlast_their_issuer_for_so_long_and_no_longer(toolbox):
    for outage, status in ((3_600, 200), (0, 503)):
        settings = SETTINGS.model_copy(update={"oidc_keys_age": 0, "oidc_pause": 0, "oidc_outage": outage})
        async with service(toolbox, settings) as running:
            token = running.issuer.token(groups=["staff"])
            if outage:
                assert (await asked(running, token)).status_code == 200
            running.issuer.is_down = True
            assert (await asked(running, token)).status_code == status


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example", "jwks_uri": f"{ISSUER}/keys"},
        {"issuer": ISSUER, "jwks_uri": "http://login.example.org/keys"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"},
        {"issuer": ISSUER, "jwks_uri": 7},
        {"issuer": ISSUER},
        ["no object"],
        {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys", "padding": "x" * 300_000},
    ],
)
async def test_a_discovery_document_that_is_not_right_is_none(toolbox, document):
    async with service(toolbox, SETTINGS) as running:
        running.issuer.discovery = document
        assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 503
        assert running.issuer.requests == [f"{ISSUER}/.well-known/openid-configuration"]


async def test_an_issuer_that_hangs_is_given_up_at_the_deadline(toolbox):

    settings = SETTINGS.model_copy(update={"oidc_deadline": 50})
    async with service(toolbox, settings) as running:

        async def hang(_request):
            await asyncio.sleep(60)
            return httpx.Response(200)

        running.issuer.transport.handler = hang
        async with asyncio.timeout(10):
            assert (await asked(running, running.issuer.token(groups=["staff"]))).status_code == 503


CLAIMS = {
    "sub": "a",
    "scope": "docs.read docs.write",
    "roles": ["writer", 7, None],
    "department": "docs team",
    "realm_access": {"roles": ["operator"]},
    "https://example.org/tier": "gold",
    "level": 3,
}


@pytest.mark.parametrize(
    ("rule", "scopes", "classes"),
    [
        ({"claim": "scope", "value": "docs.write"}, True, {"seen"}),
        ({"claim": "scope", "value": "docs"}, False, set()),
        ({"claim": "department", "value": "docs team"}, True, {"seen"}),
        ({"claim": "department", "value": "docs"}, False, set()),
        ({"claim": "roles", "value": "writer"}, True, {"seen"}),
        ({"claim": "roles", "value": "7"}, False, set()),
        ({"claim": ["realm_access", "roles"], "value": "operator"}, True, {"seen"}),
        ({"claim": "realm_access.roles", "value": "operator"}, False, set()),
        ({"claim": "https://example.org/tier", "value": "*", "classes": ["tier:{value}"]}, True, {"tier:gold"}),
        ({"claim": "level", "value": "*"}, False, set()),
        ({"claim": "missing", "value": "*"}, False, set()),
        ({"claim": ["sub", "a"], "value": "*"}, False, set()),
    ],
)
def test_a_rule_speaks_of_one_claim(rule, scopes, classes):
    rule = ClaimRule.model_validate({"scopes": ["graph"], "classes": ["seen"], **rule})
    principal = principal_of(CLAIMS, [rule])
    assert principal.scopes == ({Scope.GRAPH} if scopes else set())
    assert principal.audiences == classes | {"*"}


async def test_a_token_of_too_many_classes_is_refused(toolbox):
    everyone = ClaimRule(claim="groups", scopes=(Scope.SEARCH,), classes=("{value}",))
    settings = WITH_TOKENS.model_copy(update={"oidc_rules": (everyone,), "visibility_classes": 5})
    async with service(toolbox, settings) as running:
        assert (await asked(running, running.issuer.token(groups=list("abcd")))).status_code == 200
        assert (await asked(running, running.issuer.token(groups=list("abcde")))).status_code == 401


def test_rules_come_from_the_environment_as_json():
    text = '[{"claim": "groups", "value": "staff", "scopes": ["search"], "classes": ["internal"]}]'
    loaded = load_settings(environment={"COGITAVE_QUERY_OIDC_RULES": text, "COGITAVE_QUERY_AUTHENTICATION": "required"})
    assert loaded.settings.oidc_rules == (STAFF,)
    assert loaded.settings.authentication == "required"


@pytest.mark.parametrize("changed", [{"oidc_audiences": ()}, {"public_url": ""}, {"oidc_issuer": "http://a.example"}])
def test_settings_that_leave_a_gap_are_refused(changed):
    check(Settings())
    check(WITH_TOKENS)
    with pytest.raises(SettingInvalid):
        check(WITH_TOKENS.model_copy(update=changed))
