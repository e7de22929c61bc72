// A configuration that a gateway has taken over at its start or by a reload, and its files as they
// were then. The gateway judges this one, and never parses the file by itself: a file that is just
// being written would then harm a gateway that runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config/model/schema.h"

namespace satrelay::ctl::doctor {

// Two stamps of a file differ if somebody has written or replaced it in between.
struct FileStamp {
  bool exists = false;
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t changed_s = 0, changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
// nullopt if this user may not look at the file.
std::optional<FileStamp> stamp_of(const std::string& path);

struct TakenOver {
  config::Gateway config;                  // without keys and classes
  std::map<std::string, FileStamp> files;  // the file itself and the secrets
};
// `file_stamp`: of the file, from before it was read, so that a change during the reading shows.
// `config` may have lost its keys and classes already.
std::shared_ptr<const TakenOver> taken_over(config::Gateway config, const std::string& file,
                                            const std::optional<FileStamp>& file_stamp);

}  // namespace satrelay::ctl::doctor
