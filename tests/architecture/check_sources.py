# SPDX-License-Identifier: Apache-2.0
"""Checks a source tree against the rules of the structure: check_sources.py ROOT"""

import sys

import rules

broken = 0
for rule in rules.RULES:
    found = rule(sys.argv[1])
    broken += len(found)
    for line in found:
        print(f"[{rule.__name__}] {line}")
print(f"{len(rules.RULES)} rules, {broken} places that break them")
sys.exit(1 if broken else 0)
