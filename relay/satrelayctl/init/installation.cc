#include "relay/satrelayctl/init/installation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>
#include <system_error>

#include "config/text/descriptor.h"
#include "relay/satrelayctl/commands/keygen.h"

namespace satrelay::ctl::init {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_error_number(const fs::path& path, const std::string& what) {
  throw std::runtime_error(path.string() + " " + what + ": " + std::strerror(errno));
}

void write_all(const fs::path& path, int descriptor, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ::ssize_t size = ::write(descriptor, text.data() + written, text.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail_with_error_number(path, "cannot be written");
    written += static_cast<std::size_t>(size);
  }
}

// Gives the file that is there a second name, which no other file has.
fs::path keep_backup(const fs::path& path) {
  for (int number = 1;; ++number) {
    fs::path backup = path;
    backup += ".backup-" + std::to_string(number);
    if (::link(path.c_str(), backup.c_str()) == 0) return backup;
    if (errno == ENOENT) return {};
    if (errno != EEXIST) fail_with_error_number(backup, "cannot be made");
  }
}

// The names of files last after a power failure only if their folder is written, too.
void sync_folder(const fs::path& folder) {
  const config::Descriptor opened = config::open_to_read(folder);
  if (opened.number() >= 0) ::fsync(opened.number());
}

}  // namespace

Installation::~Installation() {
  if (!is_done_) undo();
}

void Installation::make_folder(const fs::path& folder) {
  if (folder.has_relative_path() && !fs::exists(folder)) make_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0755) == 0) {
    folders_.push_back(folder);
  } else if (errno != EEXIST) {
    fail_with_error_number(folder, "cannot be made");
  }
}

std::string Installation::add(const fs::path& path, const std::string& text, Reader reader) {
  make_folder(path.parent_path());
  auto content = std::make_unique<NewFile>(path, existing_);
  const int descriptor = content->descriptor();
  write_all(path, descriptor, text);
  const bool is_readable =
      reader == Reader::kGateway ? let_gateway_read(descriptor) : ::fchmod(descriptor, 0644) == 0;
  if (!is_readable) fail_with_error_number(path, "cannot get its owner and mode");
  if (::fsync(descriptor) != 0) fail_with_error_number(path, "cannot be written");
  files_.push_back({path, std::move(content)});
  return "/proc/self/fd/" + std::to_string(descriptor);
}

void Installation::publish() {
  try {
    for (File& file : files_) {
      if (existing_ == Existing::kReplace) file.backup = keep_backup(file.path);
      file.content->publish();
      file.is_published = true;
    }
  } catch (...) {
    undo();
    throw;
  }
  is_done_ = true;
  std::set<fs::path> folders;
  for (const File& file : files_) folders.insert(file.path.parent_path());
  for (const fs::path& folder : folders_) folders.insert(folder.parent_path());
  for (const fs::path& folder : folders) sync_folder(folder);
}

std::vector<fs::path> Installation::backups() const {
  std::vector<fs::path> backups;
  for (const File& file : files_) {
    if (!file.backup.empty()) backups.push_back(file.backup);
  }
  return backups;
}

void Installation::undo() noexcept {
  std::error_code ignored;
  for (const File& file : files_) {
    if (!file.is_published) {
      if (!file.backup.empty()) fs::remove(file.backup, ignored);
    } else if (file.backup.empty()) {
      fs::remove(file.path, ignored);
    } else {
      fs::rename(file.backup, file.path, ignored);
    }
  }
  // The destructors of the new files remove their temporary files, so that the folders are empty.
  files_.clear();
  std::ranges::reverse(folders_);
  for (const fs::path& folder : folders_) ::rmdir(folder.c_str());
  folders_.clear();
}

}  // namespace satrelay::ctl::init
