#include "relay/satrelayctl/commands/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace satrelay::ctl {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw std::runtime_error(path.string() + ": " + what);
}

// Returns 0, or the error number.
int rename_without_replacing(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;
  // Some file systems, such as NFS, do not support the flag, but support hard links.
  if (::link(from, to) != 0) return errno;
  ::unlink(from);
  return 0;
}

constexpr const char* kThere = "exists; --force replaces it";

}  // namespace

NewFile::NewFile(std::filesystem::path path, Existing existing)
    : path_(std::move(path)), existing_(existing), temporary_(path_.string() + ".XXXXXX") {
  struct stat status {};
  // lstat() also finds a symbolic link without a target. Replace only regular files, never devices
  // or folders.
  const bool is_there = ::lstat(path_.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) fail(path_, "is a folder; move it away");
  if (is_there && existing_ == Existing::kKeep) fail(path_, kThere);
  if (is_there && !S_ISREG(status.st_mode)) fail(path_, "is not a regular file");
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, std::string("cannot be made: ") + std::strerror(errno));
}

NewFile::~NewFile() {
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::publish() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) {
    fail(path_, std::string("not all could be written: ") + std::strerror(errno));
  }
  const int error = existing_ == Existing::kKeep
                        ? rename_without_replacing(temporary_.c_str(), path_.c_str())
                    : ::rename(temporary_.c_str(), path_.c_str()) == 0 ? 0
                                                                       : errno;
  if (error == EEXIST) fail(path_, kThere);
  if (error != 0) fail(path_, std::strerror(error));
  temporary_.clear();
}

}  // namespace satrelay::ctl
