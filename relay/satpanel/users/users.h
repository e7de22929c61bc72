// The users that may log in, from a separate file. For each user, the file has `name`, `role` and
// `password`, which is a hash in the format of Argon2. Programs have tokens instead of passwords,
// and the file has the SHA-256 hash of each token.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace satrelay::panel {

// Each role includes the rights of the roles before it.
enum class Role : std::uint8_t {
  kViewer,         // may only see the state of the gateway
  kOperator,       // may also set switches and rates, and capture frames
  kAdministrator,  // may also stop the gateway, and reload its configuration
};

std::string_view to_string(Role role);
std::optional<Role> parse_role(std::string_view word);

struct User {
  std::string name;  // 1 to 32 letters, digits, '.', '_' and '-'
  Role role = Role::kViewer;
  std::string password_hash;  // "$argon2id$...", or "" if there is no password
  std::string token_hash;     // 64 hexadecimal digits, or "" if there is no token
};

bool is_user_name(std::string_view name);

class Users {
 public:
  Users() = default;
  // Throws std::runtime_error with the file, the line and the reason.
  static Users load(const std::filesystem::path& file);
  // Writes the whole file. A new file is readable by its owner and, if root writes it, by the group
  // satpanel. Throws std::runtime_error.
  void save(const std::filesystem::path& file) const;

  bool empty() const { return users_.empty(); }
  const std::vector<User>& all() const { return users_; }
  const User* find(std::string_view name) const;
  // Adds the user, or replaces the user with the same name.
  void put(User user);
  bool remove(std::string_view name);

  // Returns nullptr if the name or the password is wrong. Both cases take the same time. A call
  // needs 20 MB of memory and about 30 ms, and simultaneous calls run one after the other.
  const User* check_password(std::string_view name, const std::string& password) const;
  const User* check_token(std::string_view token) const;

 private:
  std::vector<User> users_;
};

// Throws std::runtime_error if the machine provides no random numbers.
std::string hash_password(const std::string& password);
std::string hash_token(std::string_view token);
// Returns 256 random bits in hexadecimal.
std::string random_token();

}  // namespace satrelay::panel
