# SPDX-License-Identifier: Apache-2.0
"""Compares the benchmarks of two libraries: pgo_table.py FOLDER

FOLDER has the results of each round, release-N-PROGRAM.json and profile-N-PROGRAM.json. A row has the median times, and the median of the
ratios of the rounds.
"""

import pathlib
import statistics
import sys

from bench_table import rows_of  # it is beside this file


def main():
    folder = pathlib.Path(sys.argv[1])
    times = {"release": {}, "profile": {}}
    for library, of_library in times.items():
        for path in sorted(folder.glob(f"{library}-*.json")):
            for row in rows_of(path):
                of_library.setdefault(f"{path.stem.split('-')[-1]}: {row.name}", []).append(row.microseconds)
    if not times["release"] or times["release"].keys() != times["profile"].keys():
        raise SystemExit("the two libraries have not run the same benchmarks")
    width = max(len(name) for name in times["release"])
    print(f"{'case':<{width}} {'release, us':>12} {'profile, us':>12} {'ratio':>7}")
    for name, release in times["release"].items():
        profile = times["profile"][name]
        ratio = statistics.median(one / other for one, other in zip(profile, release))
        print(f"{name:<{width}} {statistics.median(release):>12.2f} {statistics.median(profile):>12.2f} {ratio:>7.2f}")


if __name__ == "__main__":
    main()
