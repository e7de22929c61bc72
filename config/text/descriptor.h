// A file descriptor that closes itself.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace satrelay::config {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }  // -1 if the file could not be opened; see errno

 private:
  int number_;
};

// Opens a file to read it. A user may have named any file: a pipe without a writer must not block
// the process, and a terminal must not become its controlling terminal.
inline Descriptor open_to_read(const std::filesystem::path& file) {
  return Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

}  // namespace satrelay::config
