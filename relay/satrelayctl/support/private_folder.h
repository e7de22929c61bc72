// A temporary folder that only its user may read. The destructor removes it with its contents.
#pragma once

#include <filesystem>

namespace satrelay::ctl {

class PrivateFolder {
 public:
  // Throws std::runtime_error.
  PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace satrelay::ctl
