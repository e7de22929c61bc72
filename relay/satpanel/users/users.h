// Who may log in, from a file of its own: a list of `name`, `role` and `password`, the latter as
// Argon2 writes its hashes; and tokens for programs, of which the file has the SHA-256.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace satrelay::panel {

// Each may what those before it may.
enum class Role : std::uint8_t {
  kViewer,         // looks
  kOperator,       // throws switches, sets rates, captures
  kAdministrator,  // stops the gateway, has it read its configuration
};

std::string_view to_string(Role role);
std::optional<Role> parse_role(std::string_view word);

struct User {
  std::string name;  // 1 to 32 of letters, digits, '.', '_' and '-'
  Role role = Role::kViewer;
  std::string password_hash;  // "$argon2id$..."; "": no password
  std::string token_hash;     // 64 hexadecimal digits; "": no token
};

bool is_user_name(std::string_view name);

class Users {
 public:
  Users() = default;
  // Throws std::runtime_error that names the file, the line and what is wrong.
  static Users load(const std::filesystem::path& file);
  // Replaces the file as a whole. A new one may be read by its owner, and, if root writes it, by
  // the group satpanel. Throws std::runtime_error.
  void save(const std::filesystem::path& file) const;

  bool empty() const { return users_.empty(); }
  const std::vector<User>& all() const { return users_; }
  const User* find(std::string_view name) const;
  // Adds the user, or takes the place of the one of that name.
  void put(User user);
  bool remove(std::string_view name);

  // Takes the same time whether or not there is such a user. 20 MB and some 30 ms; one at a time.
  const User* check_password(std::string_view name, const std::string& password) const;
  const User* check_token(std::string_view token) const;

 private:
  std::vector<User> users_;
};

// Throws std::runtime_error if the machine gives no randomness.
std::string hash_password(const std::string& password);
std::string hash_token(std::string_view token);
// 256 bits in hexadecimal.
std::string random_token();

}  // namespace satrelay::panel
