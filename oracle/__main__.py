"""Run every signer and judge what it made: `make oracle`, with N=200 and SEED of one's choice.

Prints a table and each difference. Ends with 1 if there is one that nobody meant; the lines with
those are then in var/oracle/faults.jsonl, which can be judged again: give it as the argument.
"""

import json
import os
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import fill
from typing import Final

from oracle.intended import REASONS
from oracle.judge import Finding, finding_on

FOLDER: Final = Path("var/oracle")
FAULTS: Final = FOLDER / "faults.jsonl"
#: The signers, each with the environment that has its SDK.
SIGNERS: Final = {
    "adyen": "sdks",
    "alipay": "sdks",
    "alipay_official": "alipay",
    "braintree": "sdks",
    "gocardless": "sdks",
    "mollie": "sdks",
    "no_sdk": "sdks",
    "paypal": "paypal",
    "paystack": "sdks",
    "razorpay": "sdks",
    "shopify": "sdks",
    "square": "sdks",
    "standardwebhooks": "sdks",
    "stripe": "sdks",
    "unionpay": "sdks",
    "wechatpay_v2": "sdks",
    "wechatpay_v3": "sdks",
}
#: So many cases have every kind of every signer.
EVERY_KIND: Final = 60


def made_by(signer: str, count: int, seed: str) -> list[str]:
    """The lines of one signer. Raises CalledProcessError."""
    python = FOLDER / SIGNERS[signer] / "bin" / "python"
    command = [str(python), "-m", f"oracle.signers.{signer}", str(count), seed]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def lines(arguments: Sequence[str], count: int, seed: str) -> Iterator[str]:
    """The lines of the given files, or of all signers."""
    if arguments:
        for name in arguments:
            yield from Path(name).read_text(encoding="utf-8").splitlines()
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for made in pool.map(lambda signer: made_by(signer, count, seed), SIGNERS):
            yield from made


def table(findings: Sequence[Finding]) -> Iterator[str]:
    """What came of each provider with each SDK."""
    columns = "{:<18}{:<34}{:>6}{:>10}{:>8}{:>10}{:>12}"
    yield columns.format(
        "provider", "SDK", "cases", "authentic", "agreed", "intended", "unintended"
    )
    for provider, tool in sorted({(each.provider, each.tool) for each in findings}):
        own = [each for each in findings if (each.provider, each.tool) == (provider, tool)]
        faults, intended = sum(bool(f.fault) for f in own), sum(bool(f.intended) for f in own)
        agreed = sum(not f.fault and not f.intended for f in own)
        authentic = sum(each.valid for each in own)
        yield columns.format(provider, tool, len(own), authentic, agreed, intended, faults)


def differences(findings: Sequence[Finding]) -> Iterator[str]:
    """The reason of each intended difference, with what differs by it and how often."""
    counts = Counter(entry for each in findings for entry in each.intended)
    for reason in sorted({REASONS[entry] for entry in counts}):
        own = [f"{' '.join(e)} ({counts[e]})" for e in sorted(counts) if REASONS[e] == reason]
        yield f"- {reason}"
        yield fill(", ".join(own), 100, initial_indent="    ", subsequent_indent="    ")


def problems(findings: Sequence[Finding], *, complete: bool) -> Iterator[str]:
    """What must not be: unintended differences, excuses for none, genuine ones refused."""
    kinds = Counter((each.provider, each.kind) for each in findings if each.fault)
    examples = {(each.provider, each.kind): each.fault for each in findings if each.fault}
    for one in sorted(kinds):
        yield f"{one[0]} {one[1]} ({kinds[one]}): {examples[one]}"
    for one in sorted(
        {(f.provider, f.tool) for f in findings if f.kind == "genuine" and not f.valid}
    ):
        yield f"{one[0]}: {one[1]} refuses what was signed with it"
    if not complete:
        return
    for entry in sorted(set(REASONS) - {e for each in findings for e in each.intended}):
        yield f"{entry[0]} {entry[1]}: listed as intended, but there is no difference"


def main(arguments: Sequence[str]) -> int:
    """The exit status: 0 if nothing differs but what is meant to."""
    count = int(os.environ.get("N") or 200)
    seed = os.environ.get("SEED") or secrets.token_hex(4)
    if not arguments:
        print(f"N={count} SEED={seed}", flush=True)
    judged = [(line, finding_on(json.loads(line))) for line in lines(arguments, count, seed)]
    findings = [finding for _, finding in judged]
    print(*table(findings), sep="\n")
    print("\nIntended differences:", *differences(findings), sep="\n")
    found = list(problems(findings, complete=not arguments and count >= EVERY_KIND))
    if found:
        print("\nNobody meant:", *found, sep="\n- ")
        if not arguments:
            FAULTS.write_text("".join(f"{line}\n" for line, finding in judged if finding.fault))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
