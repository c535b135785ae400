"""The kernel of keys: claims, leases, digests, the front."""

from typing import Final

from tests.mutants.mutant import mutant

KEYS = "tests/idempotency/test_claims.py"
LEASES = "tests/idempotency/test_leased.py"
FRONT = "tests/idempotency/test_front.py"
DIGESTS = "tests/idempotency/test_digest.py"

MUTANTS: Final = (
    mutant(
        "idempotency: whoever holds the record finishes it",
        "idempotency/lease.py",
        "id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s",
        "id = %(id)s",
        *(KEYS, "-k", "taken_over"),
    ),
    mutant(
        "idempotency: an answer is overwritten",
        "idempotency/lease.py",
        "WHERE {OURS} AND status = 'PROCESSING' AND {only_if}",
        "WHERE {OURS} AND {only_if}",
        *(KEYS, "-k", "final_status_is_final"),
    ),
    mutant(
        "idempotency: a lease that runs is taken over",
        "idempotency/lease.py",
        "status = 'PROCESSING' AND lease_until <= {NOW}",
        "status = 'PROCESSING'",
        *(KEYS, "-k", "lease_that_runs"),
    ),
    mutant(
        "idempotency: the meaning does not matter",
        "idempotency/claims.py",
        "if bytes(digest) != intent.digest:",
        "if False:",
        KEYS,
    ),
    mutant(
        "idempotency: everybody queues for the key",
        "idempotency/claims.py",
        "CASE WHEN pg_try_advisory_xact_lock(%(lock)s::bigint)",
        "CASE WHEN %(lock)s::bigint IS NOT NULL",
        *(KEYS, "-k", "not_committed"),
    ),
    mutant(
        "idempotency: whose meaning is being run is not asked",
        "idempotency/claims.py",
        "        case (False,):\n            return Mismatch()",
        "        case (False,):\n            return Running()",
        *(KEYS, "-k", "not_committed"),
    ),
    mutant(
        "idempotency: a holder who is gone is not looked for",
        "idempotency/claims.py",
        "match look(intent) or _held(intent) or look(intent):",
        "match look(intent) or _held(intent):",
        *(KEYS, "-k", "while_he_is_looked_for"),
    ),
    mutant(
        "idempotency: a broken recovery keeps the others waiting",
        "idempotency/sweep.py",
        "    except Exception as error:",
        "    except KeyError as error:",
        *("tests/idempotency/test_sweep.py", "-k", "breaks"),
    ),
    mutant(
        "idempotency: a storm may occupy every thread",
        "idempotency/patience.py",
        "    if not _places.acquire(blocking=False):\n        return None\n",
        "    _places.acquire()\n",
        *("tests/concurrency/test_hot_key.py", "-k", "few_statements and transaction"),
    ),
    mutant(
        "idempotency: an expired lease runs the work again",
        "idempotency/leased.py",
        "finding = recover(intent, claim)",
        "finding: Finding | RetryWithSameKey = RetryWithSameKey()",
        *(LEASES, "-k", "lost_reply"),
    ),
    mutant(
        "idempotency: a refusal keeps what was written",
        "idempotency/one_transaction.py",
        "            result = work()\n            lifecycle.finish(claim, status, result)",
        "            try:\n                result = work()\n"
        "            except Refused as refusal:\n"
        "                result, status = refusal.result, RecordStatus.FAILED_FINAL\n"
        "            lifecycle.finish(claim, status, result)",
        "tests/idempotency/test_one_transaction.py",
    ),
    mutant(
        "idempotency: what is undecided is forgotten",
        "idempotency/retention.py",
        "WHERE finished_at < clock_timestamp() - %(horizon)s",
        "WHERE created_at < clock_timestamp() - %(horizon)s",
        *(LEASES, "-k", "past_the_horizon"),
    ),
    mutant(
        "idempotency: the front lets everybody leave",
        "idempotency/front.py",
        "if redis.call('GET', KEYS[1]) == ARGV[1] then",
        "if true then",
        *(FRONT, "-k", "may_leave"),
    ),
    mutant(
        "idempotency: the front decides about meanings",
        "idempotency/front.py",
        "return holder is None or holder == mark or not holder.endswith(intent.digest)",
        "return holder is None or holder == mark",
        *(FRONT, "-k", "left or another_meaning"),
    ),
    mutant(
        "idempotency: numbers are doubles",
        "idempotency/digest.py",
        "        sign, digits, exponent = Decimal(value).as_tuple()",
        "        sign, digits, exponent = Decimal(float(value)).as_tuple()",
        DIGESTS,
    ),
)
