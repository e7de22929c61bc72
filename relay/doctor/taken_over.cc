#include "relay/doctor/taken_over.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "relay/doctor/read_facts.h"

namespace satrelay::ctl::doctor {

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? std::make_optional<FileStamp>() : std::nullopt;
  }
  return FileStamp{.exists = true,
                   .device = facts.st_dev,
                   .inode = facts.st_ino,
                   .bytes = static_cast<std::uint64_t>(facts.st_size),
                   .changed_s = facts.st_mtim.tv_sec,
                   .changed_ns = facts.st_mtim.tv_nsec};
}

std::shared_ptr<const TakenOver> taken_over(config::Gateway config, const std::string& file,
                                            const std::optional<FileStamp>& file_stamp) {
  forget_secrets(config);
  config.classes.clear();
  std::map<std::string, FileStamp> files;
  for (const ReadFile& each : read_files_of(file, &config)) {
    const auto stamp = each.path == file ? file_stamp : stamp_of(each.path);
    if (stamp) files.emplace(each.path, *stamp);
  }
  return std::make_shared<const TakenOver>(
      TakenOver{.config = std::move(config), .files = std::move(files)});
}

}  // namespace satrelay::ctl::doctor
