#include "relay/satrelayctl/support/private_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace satrelay::ctl {

PrivateFolder::PrivateFolder() {
  // mkdtemp() creates the folder with mode 0700, and never uses an existing folder.
  std::string name = (std::filesystem::temp_directory_path() / "satrelayctl-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error(name + " cannot be made: " + std::strerror(errno));
  }
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace satrelay::ctl
