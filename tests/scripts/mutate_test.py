# SPDX-License-Identifier: Apache-2.0
"""The mutations of a made-up file, and what becomes of their outcomes. Run as: mutate_test.py SCRIPTS."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import mutate
import mutation_catalogue as catalogue

SOURCE = """\
#define LESS(a, b) (a < b)
// if (a < b) return;
/* wait(a); */
int64_t Queue::take(int64_t n) {
  const std::lock_guard lock(mutex_);
  if (n < 0 && open_) throw Error(EINVAL, "n < 0 && true");
  size_ = n - 1;
  event_.wait(n);
  log(LogLevel::kInfo, "taken");
  is_empty_ = true;
  return first_ == n;
}
void flush() { queue_.drain(); }
Queue(Device& device, Stream stream);
"""


def mutations(text=SOURCE, path="src/queue.cc"):
    return catalogue.find(path, text)


class Catalogue(unittest.TestCase):
    def expect(self, kind, *pairs):
        found = {tuple(map(catalogue.flat, (one.before, one.after))) for one in mutations() if one.kind == kind}
        self.assertEqual(found, set(pairs))

    def test_bounds_change_by_one_and_change_sign(self):
        throws = 'if (n < 0 && open_) throw Error(EINVAL, "n < 0 && true");'
        self.expect("bound", (throws, throws.replace("(n < 0", "(n <= 0")), ("size_ = n - 1;", "size_ = n;"),
                    ("size_ = n - 1;", "size_ = n + 1;"))

    def test_conditions_are_negated_removed_and_exchanged(self):
        throws = 'if (n < 0 && open_) throw Error(EINVAL, "n < 0 && true");'
        self.expect("condition", (throws, throws.replace("0 && open_", "0 || open_")),
                    (throws, throws.replace("(n < 0 && open_)", "(!(n < 0 && open_))")),
                    (throws, throws.replace("(n < 0 && open_)", "(false && (n < 0 && open_))")),
                    ("return first_ == n;", "return first_ != n;"))

    def test_locks_and_waits_are_removed(self):
        self.expect("missing lock", ("const std::lock_guard lock(mutex_);", ";"))
        self.expect("missing wait", ("event_.wait(n);", ";"), ("void flush() { queue_.drain(); }", "void flush() { ; }"))

    def test_error_codes_and_values_change(self):
        throws = 'if (n < 0 && open_) throw Error(EINVAL, "n < 0 && true");'
        self.expect("error code", (throws, throws.replace("EINVAL", "EIO")))
        self.expect("value", ("is_empty_ = true;", "is_empty_ = false;"))

    def test_two_statements_change_places(self):
        self.expect("order", ("size_ = n - 1; / event_.wait(n);", "event_.wait(n); / size_ = n - 1;"))

    def test_comments_logging_macros_and_declarations_stay(self):
        self.assertEqual({one.line for one in mutations()}, {5, 6, 7, 8, 10, 11, 13})

    def test_a_mutation_changes_its_lines_only(self):
        for one in mutations():
            old, new = SOURCE.split("\n"), one.apply(SOURCE).split("\n")
            self.assertEqual(len(old), len(new))
            changed = {i + 1 for i, line in enumerate(old) if line != new[i]}
            self.assertTrue(changed and changed <= {one.line, one.line + 1}, one)

    def test_a_mutation_of_another_text_is_refused(self):
        with self.assertRaises(ValueError):
            mutations()[0].apply("another\n" * 20)

    def test_the_draw_depends_on_the_seed_and_has_every_file(self):
        with tempfile.TemporaryDirectory() as root:
            for name in ("a.cc", "b.h", "c.txt"):
                os.makedirs(os.path.join(root, "src"), exist_ok=True)
                with open(os.path.join(root, "src", name), "w", encoding="utf-8") as file:
                    file.write(SOURCE)
            first = catalogue.draw(root, 1)
            self.assertEqual(first, catalogue.draw(root, 1))
            self.assertNotEqual(first, catalogue.draw(root, 2))
            self.assertEqual(len(first), 2 * len(mutations()))
            self.assertEqual({one.path for one in first[:4]}, {"src/a.cc", "src/b.h"})


class Outcomes(unittest.TestCase):
    TESTS = {"short": {"seconds": 0.1, "files": 5}, "long": {"seconds": 5.0, "files": 5}, "wide": {"seconds": 0.1, "files": 50}}
    LINES = {"src/queue.cc": {"4": ["long"], "5": ["wide", "long", "short", "failed before"], "20": ["short"], "21": []}}

    def choose(self, line):
        return mutate.choose_tests(catalogue.Mutation("src/queue.cc", line, "bound", "a", "b"), self.LINES, self.TESTS)

    def test_short_tests_of_few_files_run_first(self):
        self.assertEqual(self.choose(5), ["short", "wide", "long"])

    def test_a_line_without_code_has_the_tests_of_the_line_before_or_of_the_file(self):
        self.assertEqual(self.choose(7), ["short", "wide", "long"])
        self.assertEqual(self.choose(15), ["short", "wide", "long"])
        self.assertEqual(self.choose(21), [])

    def report(self, outcomes, explanations):
        out = io.StringIO()
        drawn = mutations()
        with contextlib.redirect_stdout(out):
            code = mutate.report(drawn, {one.key: {"outcome": outcome} for one, outcome in zip(drawn, outcomes)}, explanations)
        return code, out.getvalue()

    def test_only_survivors_with_a_reason_are_no_failure(self):
        outcomes = ["killed", "survived", "not reached", "does not compile"]
        names = [one.name for one in mutations()]
        code, out = self.report(outcomes, {names[1]: "a reason"})
        self.assertEqual((code, out.splitlines()[-1]), (1, "3 mutations, 1 killed, 2 survived, of which 1 are explained"))
        self.assertIn(names[2], out)
        self.assertNotIn(names[1], out)
        self.assertEqual(self.report(outcomes, {names[1]: "a reason", names[2]: "another"})[0], 0)

    def test_a_reason_for_a_killed_mutation_is_reported(self):
        name = mutations()[0].name
        self.assertIn(f"explained, and killed: {name}", self.report(["killed"], {name: "a reason"})[1])

    def test_an_explanation_needs_a_reason(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("# comment — of the file\nsrc/a.cc: x; => ; — cannot be seen\nsrc/b.cc: y; => ;\n")
            file.flush()
            self.assertEqual(mutate.read_explanations(file.name), {"src/a.cc: x; => ;": "cannot be seen"})


if __name__ == "__main__":
    unittest.main()
