#!/usr/bin/env python3
"""images.py finds a member that an image forgets."""

import pathlib
import subprocess
import tempfile
import unittest

import images

HEADER = """
// class Comment { void image(Image& image) { } int lost; };
struct Part {
  int kept = 0, forgotten = 0;
  static constexpr int kMost = 3;
  void image(Image& image) { image(kept); }
};
class Whole : public Base {
 public:
  void image(Image& image);

 private:
  struct Inner {
    std::optional<Range> range;
    bool bit : 1 = false;
    void image(Image& image) { image(range); }
  };
  std::array<int, 3> list_{1, 2, 3};
  const Arena& arena_;
};
struct WithoutImage { int a; };
"""
SOURCE = """
void Whole::image(Image& image) {
  // arena_ is not here
  image(list_);
}
"""


class ImagesTest(unittest.TestCase):
    def test_finds_forgotten_members(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "whole.h").write_text(HEADER)
            (root / "whole.cc").write_text(SOURCE)
            subprocess.run(["git", "init", "-q", root], check=True)
            subprocess.run(["git", "-C", root, "add", "."], check=True)
            self.assertEqual(images.check(root), [
                "whole.h: the image of Part does not name forgotten",
                "whole.h: the image of Whole does not name arena_",
                "whole.h: the image of Whole::Inner does not name bit",
            ])


if __name__ == "__main__":
    unittest.main()
