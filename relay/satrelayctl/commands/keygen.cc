#include "relay/satrelayctl/commands/keygen.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "config/model/schema.h"
#include "pep/base/secret.h"

namespace satrelay::ctl {

std::string make_key() {
  Secret<config::kPskSize> key;
  if (::getrandom(key.bytes().data(), key.size(), 0) != static_cast<::ssize_t>(key.size())) {
    throw std::runtime_error("the kernel gives no random numbers");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  // Avoids a reallocation, which would leave a copy of the key in memory.
  line.reserve(2 * key.size() + 1);
  for (const std::byte octet : key.bytes()) {
    line += kDigits[std::to_integer<unsigned>(octet >> 4)];
    line += kDigits[std::to_integer<unsigned>(octet & std::byte{15})];
  }
  line += '\n';
  return line;
}

// The gateway reads the file as root when it starts, but as its own user when it reloads its
// configuration.
bool let_gateway_read(int descriptor) {
  const passwd* user = ::geteuid() == 0 ? ::getpwnam(config::kGatewayUser) : nullptr;
  return user == nullptr ||
         (::fchown(descriptor, 0, user->pw_gid) == 0 && ::fchmod(descriptor, 0640) == 0);
}

void write_key_file(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(file.string() + what + ": " + std::strerror(errno));
  };
  // The folder of the configuration is the usual place, and does not exist on a new machine.
  const std::filesystem::path folder = file.parent_path();
  if (!folder.empty() && ::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    throw std::runtime_error("the folder " + folder.string() +
                             " cannot be made: " + std::strerror(errno));
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail(" cannot be made");
  std::string line = make_key();
  const bool is_written =
      ::write(descriptor, line.data(), line.size()) == static_cast<::ssize_t>(line.size()) &&
      let_gateway_read(descriptor) && ::fsync(descriptor) == 0;
  wipe(std::as_writable_bytes(std::span(line)));
  const bool is_closed = ::close(descriptor) == 0;
  if (is_written && is_closed) return;
  ::unlink(file.c_str());
  fail(" cannot be written");
}

}  // namespace satrelay::ctl
