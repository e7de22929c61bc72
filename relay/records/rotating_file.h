// A file of lines with a limit for its size. At the limit, FILE is renamed to FILE.1, FILE.1 to
// FILE.2, and so on, and files beyond the number to keep are removed. The file is opened at the
// first write, and again if it was removed or renamed. Each line is written whole, or not at all.
// Only a kill or a loss of power can leave a part of a line, and the next write then begins a new
// line. A lock (flock(2)) keeps other gateways from writing to the file.
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
    // Largest size of the file; a write that would exceed it rotates the file first.
    ByteCount size;
    unsigned keep = 0;  // number of rotated files to keep
  };

  RotatingFile(std::filesystem::path path, Limits limits);
  RotatingFile(const RotatingFile&) = delete;
  RotatingFile& operator=(const RotatingFile&) = delete;
  ~RotatingFile();

  // Writes whole lines. If it throws std::system_error, the file contains none of the lines.
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
