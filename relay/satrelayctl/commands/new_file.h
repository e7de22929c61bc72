// A file that appears as a whole or not at all: it is written under another name beside its place.
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

enum class Existing { kKeep, kReplace };

class NewFile {
 public:
  // Throws std::runtime_error if `path` exists and must be kept, or if no file can be made beside
  // it. The file has mode 0600.
  NewFile(std::filesystem::path path, Existing existing);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes the file unless it was published
  int descriptor() const { return descriptor_; }
  // Gives the file its name. Throws std::runtime_error, also if another file has taken the name.
  void publish();

 private:
  std::filesystem::path path_;
  Existing existing_;
  std::string temporary_;
  int descriptor_;
};

}  // namespace satrelay::ctl
