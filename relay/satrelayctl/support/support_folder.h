// The folder from which tech-support makes its archive, with a MANIFEST. The MANIFEST lists the
// files in the archive, and says which data could not be collected, and why.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "relay/satrelayctl/support/private_folder.h"

namespace satrelay::ctl {

class SupportFolder {
 public:
  // Name of the folder in the archive.
  static constexpr const char* kName = "satrelay-tech-support";

  SupportFolder();
  const std::filesystem::path& parent() const { return folder_.path(); }
  std::filesystem::path path_of(const std::string& name) const { return content_ / name; }

  // `what` describes the file in a few words. Throws std::runtime_error, for example if the disk is
  // full.
  void add(const std::string& name, const std::string& what, const std::string& text);
  // Lists a file that was written to path_of() in the MANIFEST.
  void has(const std::string& name, const std::string& what);
  void lacks(const std::string& name, const std::string& why);
  void write_manifest(const std::string& heading);

 private:
  PrivateFolder folder_;
  std::filesystem::path content_;
  std::vector<std::pair<std::string, std::string>> there_;
  std::vector<std::pair<std::string, std::string>> missing_;
};

}  // namespace satrelay::ctl
