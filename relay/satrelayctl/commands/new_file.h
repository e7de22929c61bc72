// A file that is written under a temporary name in the same folder, and appears as a whole or not
// at all.
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

enum class Existing { kKeep, kReplace };

class NewFile {
 public:
  // Throws std::runtime_error if `path` exists and must be kept, or if no file can be created in
  // its folder. The new file has mode 0600.
  NewFile(std::filesystem::path path, Existing existing);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes the file unless it was published
  int descriptor() const { return descriptor_; }
  // Gives the file its final name, `path`. Throws std::runtime_error, also if a file with this name
  // has been created in the meantime and must be kept.
  void publish();

 private:
  std::filesystem::path path_;
  Existing existing_;
  std::string temporary_;
  int descriptor_;
};

}  // namespace satrelay::ctl
