// A file that is there as a whole or not at all: written under another name beside it.
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

enum class Existing { kKeep, kReplace };

class NewFile {
 public:
  // Throws std::runtime_error if `path` is there and to be kept, or if nothing can be written
  // beside it. The file has mode 0600.
  NewFile(std::filesystem::path path, Existing existing);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // nothing is left unless it was published
  int descriptor() const { return descriptor_; }
  // Gives it its name. Throws std::runtime_error, also if another file has got it meanwhile.
  void publish();

 private:
  std::filesystem::path path_;
  Existing existing_;
  std::string temporary_;
  int descriptor_;
};

}  // namespace satrelay::ctl
