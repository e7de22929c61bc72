#!/usr/bin/env python3
"""classes.py counts methods and members as a reader would."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import classes

SAMPLE = """
// class Comment { int not_counted; };
enum class Kind { kOne, kTwo };
template <typename T>
class Sample final : public Base<int> {
 public:
  static constexpr int kMost = 3;
  using List = std::vector<int>;
  explicit Sample(int size) : size_(size) { grow(); }
  ~Sample() override;
  Sample& operator=(const Sample&) = delete;
  bool is_empty() const { return size_ == 0; }
  void set(std::function<void(int)> call, int more = f(1));
  [[nodiscard]] virtual int size() const noexcept = 0;
  struct Shown {
    int a = 0, b = 0;
    bool any() const { return a > 0; }
  };

 private:
  struct Part {
    int x{};
    void move();
  };
  void grow();
  int size_ = 0;
  std::array<int, 3> list_{1, 2, 3};
  std::function<int(int)> call_;
  const char* text_ = "class Text { int x; };";
  Part part_;
};
"""


class ClassesTest(unittest.TestCase):
    def test_counts(self):
        counted = {each.name: (each.methods, each.members) for each in classes.classes(SAMPLE)}
        # is_empty, set, size, grow, Part::move; size_, list_, call_, text_, part_, Part::x.
        self.assertEqual(counted["Sample"], (5, 6))
        self.assertEqual(counted["Sample::Shown"], (1, 2))
        self.assertEqual(counted["Sample::Part"], (1, 1))
        self.assertNotIn("Comment", counted)
        self.assertNotIn("Kind", counted)
        self.assertNotIn("Text", counted)

    def test_finds_a_large_class(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            text = "class Large {\n" + "".join(f"  void f{i}();\n" for i in range(46)) + "};\n"
            (root / "large.h").write_text(text)
            (root / "small.h").write_text(text.replace("  void f0();\n", "").replace("Large", "Small"))
            subprocess.run(["git", "-C", name, "init", "-q"], check=True)
            subprocess.run(["git", "-C", name, "add", "."], check=True)
            self.assertEqual(classes.check(root),
                             ["large.h: Large has 46 methods and 0 members; at most 45 and 20"])


if __name__ == "__main__":
    sys.exit(unittest.main())
