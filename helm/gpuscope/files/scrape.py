"""Scrapes every address behind URLs and checks what comes: KIND=URL, where KIND is agents, agents? or collector."""

import http.client
import socket
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

EXPECTED = {"agents": ("gpuscope_up", "gpuscope_gpus"), "collector": ("gpuscope_collector_source_up",)}
PATIENCE_S = 120  # for all together: the pod is ended soon after, and would have said nothing
TIMEOUT_S = 10
AT_A_TIME = 32
SHOWN = 20


def addresses(url):
    """The URL once for each of its addresses; none while the name is unknown."""
    parts = urllib.parse.urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return []
    hosts = sorted({one[4][0] for one in found})
    return [f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{parts.port}/metrics" for host in hosts]


def problem(kind, url):
    """What is wrong with one target; nothing when all is well."""
    # Certificates name the service or nobody: this test asks whether metrics come.
    context = ssl._create_unverified_context() if url.startswith("https") else None  # noqa: S323
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S, context=context) as answer:  # noqa: S310
            # Line by line, since many answers at a time have to fit into little memory.
            lines = (line.decode("utf-8", "replace").strip() for line in answer)
            values = {one.split("{")[0].split(" ")[0]: one.rsplit(" ", 1)[-1] for one in lines if one and one[0] != "#"}
    except urllib.error.HTTPError as error:
        return None if error.code in (401, 403) else f"answers {error.code}"
    except (OSError, http.client.HTTPException) as error:
        if isinstance(getattr(error, "reason", error), ssl.SSLError):
            return None  # it wants a certificate of the client
        return f"does not answer: {error}"
    missing = [name for name in EXPECTED[kind] if name not in values]
    if kind == "agents" and values.get("gpuscope_up") == "0":
        return "gpuscope_up is 0: the driver cannot be reached; see agent.gpu.access and agent.gpu.runtimeClassName"
    return f"has no {', '.join(missing)}" if missing else None


def check(kind, url, until):
    """Waits until all targets behind a URL are well, or until then; says what is not."""
    needed = not kind.endswith("?")
    kind = kind.rstrip("?")
    last = until + 3 * TIMEOUT_S
    well = set()
    while True:
        found = addresses(url)
        asked = [one for one in found if one not in well]
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            texts = pool.map(
                lambda one: problem(kind, one) if time.monotonic() < last else "was not asked in time", asked
            )
            answers = dict(zip(asked, texts, strict=True))
        well.update(one for one, text in answers.items() if not text)
        wrong = {one: text for one, text in answers.items() if text}
        if found and not wrong:
            print(f"{kind}: {len(found)} scraped, all well")
            return True
        if not found and not needed:
            print(f"{kind}: none runs")
            return True
        if time.monotonic() > until:
            if not found:
                print(f"{kind}: {url} has no addresses: no pod runs")
            for one, text in list(wrong.items())[:SHOWN]:
                print(f"{kind}: {one} {text}")
            if wrong:
                print(f"{kind}: {len(wrong)} of {len(found)} are not well")
            return False
        time.sleep(3)


def main():
    """Checks everything that it was told, and ends with 1 where something is wrong."""
    until = time.monotonic() + PATIENCE_S
    results = [check(*target.split("=", 1), until) for target in sys.argv[1:]]
    sys.exit(0 if all(results) else 1)


main()
