// Keeps the users that a file lists, and reads the file again when it has changed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

#include "relay/satpanel/users/users.h"

namespace satrelay::panel {

class UserFile {
 public:
  // If `file` is empty, there are no users, and no login is needed. Throws std::runtime_error.
  explicit UserFile(std::filesystem::path file);

  bool is_open_to_all() const { return file_.empty(); }
  // Returns the current users; never null. May be called in any thread.
  std::shared_ptr<const Users> current() const;
  // Checks whether the file has changed. Returns true if the users have changed. If the file is
  // wrong or unreadable, keeps the present users. If the file was removed, there are no users until
  // it is back. Calls `complain` once for each problem.
  bool refresh(const std::function<void(const std::string&)>& complain);

 private:
  // Handles a file that is missing or cannot be inspected. Returns the result for refresh().
  bool miss(const std::function<void(const std::string&)>& complain);

  std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;
  std::filesystem::file_time_type read_at_;
  std::error_code trouble_ = {};  // error of the last check
};

}  // namespace satrelay::panel
