"""What an account and its keys must be to be kept: as a whole it must be able to work."""

from django.core.exceptions import ValidationError

from payments import vault
from payments.models import AccountKey, ProviderAccount
from payments.providers import registry
from payments.providers.port import Account, Key, Misconfigured, Provider


def named(key: Key) -> str:
    """A key without what is secret in it."""
    return f"{key.purpose}:{key.key_id}"


def known(provider_name: str) -> Provider:
    """The provider of that name. Raises Misconfigured."""
    provider = registry.find(provider_name)
    if provider is None:
        known = ", ".join(registry.names())
        raise Misconfigured(f"unknown provider {provider_name!r}; known are: {known}")
    return provider


def check(provider: Provider, account: Account) -> None:
    """Refuse what could not work: an odd key would silently verify nothing.

    Raises Misconfigured.
    """
    facts = {fact.purpose: fact for fact in (*provider.facts.keys, *provider.facts.api_keys)}
    given = {key.purpose for key in account.keys}
    for purpose in sorted(given - facts.keys()):
        known = ", ".join(facts) or "none"
        raise Misconfigured(f"this provider has no keys with purpose {purpose!r}; it has: {known}")
    for purpose, fact in facts.items():
        if fact.needed and purpose not in given:
            raise Misconfigured(f"a key with purpose {purpose} is missing: {fact.what}")
    provider.check_settings(account)


def row(account: ProviderAccount, key: Key) -> AccountKey:
    """The key as it is kept: sealed."""
    return AccountKey(
        account=account,
        purpose=key.purpose,
        key_id=key.key_id,
        material=vault.seal(key.material),
        not_before=key.not_before,
        not_after=key.not_after,
    )


def save(row: ProviderAccount | AccountKey) -> None:
    """Insert it. Raises Misconfigured where a value could not be kept, and IntegrityError."""
    try:
        # What is unique is decided by the insert.
        row.full_clean(validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        problems = [f"{name}: {' '.join(words)}" for name, words in error.message_dict.items()]
        raise Misconfigured(" ".join(problems)) from error
    row.save(force_insert=True)
