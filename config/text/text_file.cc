#include "config/text/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "config/text/descriptor.h"
#include "config/text/error.h"
#include "config/text/format.h"

namespace satrelay::config {
namespace {

constexpr std::size_t kPiece = 64 << 10;

[[noreturn]] void refuse_file(const std::filesystem::path& file, const std::string& message) {
  throw ConfigError(file.string() + ": " + message);
}

[[noreturn]] void fail_to_read(const std::filesystem::path& file, int error) {
  throw FileError(file.string() + ": cannot be read: " + std::strerror(error),
                  FileError::cause_of(error));
}

// Checks the opened file and not its path, so that no other file can take its place before it is
// read.
void check_kind(const std::filesystem::path& file, const Descriptor& descriptor, std::size_t most) {
  struct stat status {};
  if (::fstat(descriptor.number(), &status) != 0) fail_to_read(file, errno);
  if (S_ISDIR(status.st_mode)) refuse_file(file, "cannot be read: it is a directory");
  if (!S_ISREG(status.st_mode)) refuse_file(file, "is not a regular file");
  if (static_cast<std::uintmax_t>(status.st_size) > most) {
    refuse_file(file, "is larger than " + to_text(ByteCount(most)));
  }
}

}  // namespace

std::string read_text_file(const std::filesystem::path& file, std::size_t most) {
  const Descriptor descriptor = open_to_read(file);
  if (descriptor.number() < 0) fail_to_read(file, errno);
  check_kind(file, descriptor, most);
  std::string text;
  // A file may grow while it is read, and files of /proc do not report their length.
  while (text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kPiece, most + 1 - before));
    const ::ssize_t got = ::read(descriptor.number(), text.data() + before, text.size() - before);
    if (got < 0 && errno != EINTR) fail_to_read(file, errno);
    text.resize(before + static_cast<std::size_t>(std::max<::ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  refuse_file(file, "is larger than " + to_text(ByteCount(most)));
}

}  // namespace satrelay::config
