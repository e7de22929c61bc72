// The users of a file that is read anew when it has changed.
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
  // `file` empty: there are no users, and nobody need log in. Throws std::runtime_error.
  explicit UserFile(std::filesystem::path file);

  bool is_open_to_all() const { return file_.empty(); }
  // Never null. Any thread.
  std::shared_ptr<const Users> current() const;
  // Looks whether the file has changed. True if the users are others now. One that is wrong, or
  // cannot be looked at, leaves them as they were; of one that was removed nobody is a user, until
  // it is back. `complain` is told of that, once.
  bool refresh(const std::function<void(const std::string&)>& complain);

 private:
  // It cannot be looked at. True as of refresh().
  bool miss(const std::function<void(const std::string&)>& complain);

  std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;
  std::filesystem::file_time_type read_at_;
  std::error_code trouble_ = {};  // of the last look
};

}  // namespace satrelay::panel
