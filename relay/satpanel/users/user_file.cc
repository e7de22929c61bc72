#include "relay/satpanel/users/user_file.h"

#include <stdexcept>
#include <utility>

namespace satrelay::panel {

UserFile::UserFile(std::filesystem::path file)
    : file_(std::move(file)), users_(std::make_shared<Users>()) {
  if (file_.empty()) return;
  std::error_code error;
  read_at_ = std::filesystem::last_write_time(file_, error);
  users_ = std::make_shared<Users>(Users::load(file_));
}

std::shared_ptr<const Users> UserFile::current() const {
  const std::lock_guard lock(mutex_);
  return users_;
}

bool UserFile::refresh(const std::function<void(const std::string&)>& complain) {
  if (file_.empty()) return false;
  std::error_code error;
  const auto changed_at = std::filesystem::last_write_time(file_, error);
  const std::error_code before = std::exchange(trouble_, error);
  if (error) return error != before && miss(complain);
  if (!before && changed_at == read_at_) return false;
  read_at_ = changed_at;
  try {
    auto users = std::make_shared<const Users>(Users::load(file_));
    const std::lock_guard lock(mutex_);
    users_ = std::move(users);
    return true;
  } catch (const std::runtime_error& wrong) {
    complain(std::string(wrong.what()) + "; the users did not change");
    return false;
  }
}

bool UserFile::miss(const std::function<void(const std::string&)>& complain) {
  if (trouble_ != std::errc::no_such_file_or_directory) {
    complain(file_.string() + ": " + trouble_.message() + "; the users did not change");
    return false;
  }
  complain(file_.string() + " is gone; there are no users until it is back");
  auto nobody = std::make_shared<const Users>();
  const std::lock_guard lock(mutex_);
  users_ = std::move(nobody);
  return true;
}

}  // namespace satrelay::panel
