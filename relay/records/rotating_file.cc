#include "relay/records/rotating_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace satrelay::records {
namespace {

[[noreturn]] void fail(int error, const std::filesystem::path& path) {
  throw std::system_error(error, std::generic_category(), path.string());
}

}  // namespace

RotatingFile::RotatingFile(std::filesystem::path path, Limits limits)
    : path_(std::move(path)), limits_(limits) {}

RotatingFile::~RotatingFile() { close(); }

void RotatingFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void RotatingFile::open() {
  // O_NONBLOCK: opening a pipe without a reader must not block.
  file_ =
      ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
  if (file_ < 0) fail(errno, path_);
  struct stat status {};
  int error = ::fstat(file_, &status) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(status.st_mode)) error = EINVAL;
  // Lock the file, so that no other gateway writes to it. After a failed write, a gateway truncates
  // the file to its earlier size, which would remove the lines of another gateway.
  if (error == 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0) error = errno;
  if (error != 0) {
    close();
    fail(error, path_);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  end_last_line();
}

void RotatingFile::end_last_line() {
  char last = '\n';
  if (size_ == 0 || ::pread(file_, &last, 1, static_cast<::off_t>(size_ - 1)) != 1) return;
  if (last != '\n' && ::write(file_, "\n", 1) == 1) ++size_;
}

bool RotatingFile::is_still_there() {
  struct stat ours {};
  struct stat named {};
  if (::fstat(file_, &ours) != 0 || ::stat(path_.c_str(), &named) != 0) return false;
  // Read the size again: another program may have emptied the file, as logrotate's copytruncate
  // does.
  size_ = static_cast<std::uint64_t>(ours.st_size);
  return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

std::filesystem::path RotatingFile::numbered(unsigned number) const {
  return path_.string() + "." + std::to_string(number);
}

void RotatingFile::rotate() {
  close();
  // Remove files with higher numbers, which an earlier configuration may have kept.
  for (unsigned i = limits_.keep + 1; std::filesystem::remove(numbered(i)); ++i) {
  }
  // Find the first free number, and move only the files with lower numbers, and FILE. An earlier
  // attempt may have moved the numbered files but not FILE. Then 1 is free, and only FILE moves.
  unsigned last = 1;
  while (last < limits_.keep && std::filesystem::exists(numbered(last))) ++last;
  for (unsigned i = std::min(last, limits_.keep); i > 0; --i) {
    const auto from = i == 1 ? path_ : numbered(i - 1);
    std::error_code error;
    std::filesystem::rename(from, numbered(i), error);
    if (error && error != std::errc::no_such_file_or_directory) fail(error.value(), from);
  }
  if (limits_.keep == 0) std::filesystem::remove(path_);
  ++rotations_;
}

void RotatingFile::write(std::string_view lines) {
  if (file_ >= 0 && !is_still_there()) close();
  if (file_ < 0) open();
  if (size_ > 0 && size_ + lines.size() > limits_.size.value()) {
    rotate();
    open();
  }
  std::string_view rest = lines;
  while (!rest.empty()) {
    const ::ssize_t done = ::write(file_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const int error = done < 0 ? errno : EIO;
      // The write may have stopped in the middle of a line. Truncate the file to its earlier size.
      if (::ftruncate(file_, static_cast<::off_t>(size_)) != 0) close();
      fail(error, path_);
    }
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  size_ += lines.size();
}

}  // namespace satrelay::records
