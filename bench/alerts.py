"""Plays stories of a small simulated cluster in simulated time, and prints which alerts fired when.

Real agents run on the simulated driver, the other exporters are simulated, and the real promtool evaluates the generated
rules once a simulated minute. An hour takes well under a minute.

    python bench/alerts.py                      what stories there are
    python bench/alerts.py gpu-off-the-bus …    plays these
    python bench/alerts.py gpus work …          plays all of these files
    python bench/alerts.py all                  plays all
    python bench/alerts.py gpus --save          keeps what fired, as data for tests
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playing.kept import kept
from playing.story import missed, play, stories
from playing.timeline import table

ROOT = Path(__file__).parent.parent
STORIES = ROOT / "tests/generator/stories"
PROMTOOL = ROOT / ".cache/programs/usr/bin/promtool"


def main() -> int:
    """Plays; 1 when alerts are missing or too many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="STORY", help="stories, or files of them, to play, or all")
    parser.add_argument("--folder", type=Path, default=STORIES, help="folder with stories, and the cluster they are of")
    parser.add_argument("--cache", type=Path, help="folder to keep in what agents say, for the next time")
    parser.add_argument("--save", action="store_true", help="keep what fired in the files that are named")
    options = parser.parse_args()
    files = [path for path in sorted(options.folder.glob("*.yaml")) if path.name != "cluster.yaml"]
    told = {path.stem: stories(path) for path in files}
    known = {name: story for one in told.values() for name, story in one.items()}
    if not options.names:
        for story in known.values():
            print(f"{story.name:28} {story.fleet.minutes:5} min  {story.title}")
        return 0
    names = (
        list(known) if options.names == ["all"] else [one for name in options.names for one in told.get(name, [name])]
    )
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="gpuscope-agents-") as folder:
        cache = options.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise SystemExit(f"no story {', '.join(unknown)}")
        played = play([known[name] for name in names], promtool=str(PROMTOOL), cache=cache)
        for stem in options.names if options.save else ():
            (options.folder / "fired").mkdir(exist_ok=True)
            text = kept({name: played[name] for name in told[stem]})
            (options.folder / "fired" / f"{stem}.json").write_text(text, encoding="utf-8")
        for name, found in played.items():
            print(f"== {name}: {known[name].title}" if name else "== of no cluster")
            print(table(found))
            for line in missed(known[name], found) if name else map(str, found):
                wrong += 1
                print(f"!! {line}")
            print(flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
