// A file of lines that does not grow beyond a size: FILE is then FILE.1, FILE.1 is FILE.2, and what
// is beyond those that are to be kept is removed. It is opened when there is something to write,
// and again if somebody has taken it away. A line is in it whole, or not at all; only what was
// killed or lost its power leaves a piece of one, which then stands by itself. Nobody else writes
// to it: flock(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "pep/base/units.h"

namespace satrelay::records {

class RotatingFile {
 public:
  struct Limits {
    ByteCount size;     // a file that would be larger is rotated first
    unsigned keep = 0;  // rotated ones
  };

  RotatingFile(std::filesystem::path path, Limits limits);
  RotatingFile(const RotatingFile&) = delete;
  RotatingFile& operator=(const RotatingFile&) = delete;
  ~RotatingFile();

  // Whole lines. Throws std::system_error, and then none of them is in the file.
  void write(std::string_view lines);
  std::uint64_t rotations() const { return rotations_; }

 private:
  void open();
  void close();
  void rotate();
  bool is_still_there();
  void end_last_line();
  std::filesystem::path numbered(unsigned number) const;

  std::filesystem::path path_;
  Limits limits_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t rotations_ = 0;
};

}  // namespace satrelay::records
