// The users of a file that is read anew when it has changed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "relay/satpanel/users.h"

namespace satrelay::panel {

class UserFile {
 public:
  // `file` empty: there are no users, and nobody need log in. Throws std::runtime_error.
  explicit UserFile(std::filesystem::path file);

  bool is_open_to_all() const { return file_.empty(); }
  // Never null. Any thread.
  std::shared_ptr<const Users> current() const;
  // Looks whether the file has changed. True if it has, and is read; one that is wrong leaves the
  // users as they were, and `complain` is told why, once.
  bool refresh(const std::function<void(const std::string&)>& complain);

 private:
  std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;
  std::filesystem::file_time_type read_at_;
};

}  // namespace satrelay::panel
