// A file that is written as a whole or not at all. The text goes to a temporary file in the same
// folder, and commit() renames the temporary file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace satrelay::satlab {

class OutputFile {
 public:
  // Creates the temporary file, so that a path that cannot be written fails before the run begins.
  // Throws std::runtime_error "FILE: cannot be written: why".
  explicit OutputFile(std::filesystem::path file);
  ~OutputFile();  // removes the temporary file, unless commit() was called
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns the temporary file, for another program that writes the content.
  const std::filesystem::path& temporary() const { return temporary_; }
  // write() and commit() throw as the constructor does.
  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace satrelay::satlab
