// A file that is either written whole or not at all: its text goes to a temporary name beside it
// and is renamed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace satrelay::satlab {

class OutputFile {
 public:
  // Creates the temporary file, so that a path that cannot be written is known before the run
  // begins. Throws std::runtime_error "FILE: cannot be written: why".
  explicit OutputFile(std::filesystem::path file);
  ~OutputFile();  // without commit(): leaves nothing behind
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // For a program that writes the file itself.
  const std::filesystem::path& temporary() const { return temporary_; }
  // Both throw as the constructor does.
  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace satrelay::satlab
