"""Kills at random moments of the whole journey: ``python tests/faults/campaign.py 30 folder`` tells what happened."""

import random
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from journey import leftovers, results, send, start, statuses, wait

ENDS = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15}, signal.SIGINT: {1, 130, -2}}
"""With what exit codes each ends a run: in the middle of it, and before it has begun as any process."""


def kill_at_random(kills, folder, seed=0):
    """Kill runs until so many kills have hit, letting each data folder come to its end in between.

    Returns:
        What was counted; ``wrong`` is a list of everything that is not as it should be.
    """
    draw, counted, wrong = random.Random(seed), Counter(), []
    began = time.monotonic()
    if wait(start(folder / "undisturbed")) != 0:
        return counted, [f"the undisturbed run failed: {Path(f'{folder}/undisturbed.log').read_text()[-2000:]}"]
    length, expected = time.monotonic() - began, results(folder / "undisturbed")
    here, hits = folder / "0", 0
    while counted["kills"] < kills or hits:
        process, kind = start(here), draw.choice(list(ENDS))
        code = wait(process, draw.uniform(0, 0.8 * length) if counted["kills"] < kills and hits < 5 else 600)
        if code is None:
            send(process, kind)
            code = wait(process)
            if code not in {0, *ENDS[kind]}:
                wrong.append(f"{kind.name} ended with {code}")
            hits += 1
            counted.update(["kills", kind.name])
            continue
        if code != 0:
            wrong.append(f"a resumed run ended with {code}: {Path(f'{here}.log').read_text()[-2000:]}")
        found = results(here)
        wrong += [f"{name} differs" for name in expected if found.get(name) != expected[name]]
        wrong += [f"{name} is left" for name in leftovers(here)]
        wrong += [f"{count} runs are RUNNING" for status, count in statuses(here).items() if status == "RUNNING"]
        counted.update(["folders"])
        counted.update({f"{status} runs": count for status, count in statuses(here).items()})
        if not wrong:
            shutil.rmtree(here)
        here, hits = folder / str(counted["folders"]), 0
    return counted, wrong


if __name__ == "__main__":
    counted, wrong = kill_at_random(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else 0)
    sys.stdout.write("\n".join([str(dict(counted)), *wrong, ""]))
    sys.exit(bool(wrong))
