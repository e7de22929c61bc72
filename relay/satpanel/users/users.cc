#include "relay/satpanel/users/users.h"

#include <argon2.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace satrelay::panel {
namespace {

// The parameters that OWASP recommends for storing passwords with Argon2id.
constexpr std::uint32_t kPasses = 2;
constexpr std::uint32_t kMemory = 19 * 1024;  // KiB
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kMostUsers = 1000;

constexpr std::array<std::pair<std::string_view, Role>, 3> kRoles{
    {{"viewer", Role::kViewer},
     {"operator", Role::kOperator},
     {"administrator", Role::kAdministrator}}};

void fill_random(unsigned char* bytes, std::size_t size) {
  if (RAND_bytes(bytes, static_cast<int>(size)) != 1) {
    throw std::runtime_error("the machine gives no random numbers");
  }
}

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

[[noreturn]] void fail(const std::filesystem::path& file, const YAML::Node& at,
                       const std::string& what) {
  throw std::runtime_error(fmt::format("{}:{}: {}", file.string(), at.Mark().line + 1, what));
}

User read_user(const std::filesystem::path& file, const YAML::Node& node) {
  if (!node.IsMap()) fail(file, node, "a user is name, role, and password or token");
  User user;
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    if (!entry.second.IsScalar()) fail(file, entry.second, key + ": write one value");
    const auto value = entry.second.as<std::string>();
    if (key == "name") {
      if (!is_user_name(value)) {
        fail(file, entry.second, "name: 1 to 32 letters, digits, '.', '_' or '-'");
      }
      user.name = value;
    } else if (key == "role") {
      const auto role = parse_role(value);
      if (!role) fail(file, entry.second, "role: write viewer, operator or administrator");
      user.role = *role;
    } else if (key == "password") {
      if (!value.starts_with("$argon2")) {
        fail(file, entry.second, "password: write its hash, with `satpanel user add`");
      }
      user.password_hash = value;
    } else if (key == "token") {
      if (value.size() != 64 || value.find_first_not_of("0123456789abcdef") != std::string::npos) {
        fail(file, entry.second, "token: write its SHA-256, with `satpanel token add`");
      }
      user.token_hash = value;
    } else {
      fail(file, entry.first, "unknown key " + key + "; write name, role, password or token");
    }
  }
  if (user.name.empty()) fail(file, node, "a user without a name");
  return user;
}

bool give_to_panel(int descriptor) {
  const group* panel = ::getgrnam("satpanel");
  if (::geteuid() != 0 || panel == nullptr) return true;
  return ::fchown(descriptor, static_cast<uid_t>(-1), panel->gr_gid) == 0 &&
         ::fchmod(descriptor, 0640) == 0;
}

}  // namespace

std::string_view to_string(Role role) { return kRoles[static_cast<std::size_t>(role)].first; }

std::optional<Role> parse_role(std::string_view word) {
  for (const auto& [name, role] : kRoles) {
    if (name == word) return role;
  }
  return std::nullopt;
}

bool is_user_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

Users Users::load(const std::filesystem::path& file) {
  YAML::Node root;
  try {
    root = YAML::LoadFile(file.string());
  } catch (const YAML::BadFile&) {
    throw std::runtime_error(file.string() + ": cannot be read");
  } catch (const YAML::Exception& error) {
    throw std::runtime_error(
        fmt::format("{}:{}: {}", file.string(), error.mark.line + 1, error.msg));
  }
  if (!root["users"].IsSequence()) fail(file, root, "write a list `users:`");
  if (root["users"].size() > kMostUsers) fail(file, root, "there may be 1000 users");
  Users users;
  for (const YAML::Node& node : root["users"]) {
    User user = read_user(file, node);
    if (users.find(user.name) != nullptr)
      fail(file, node, "there is a user " + user.name + " already");
    users.users_.push_back(std::move(user));
  }
  return users;
}

void Users::save(const std::filesystem::path& file) const {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "users" << YAML::Value << YAML::BeginSeq;
  for (const User& user : users_) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << user.name << YAML::Key << "role"
        << YAML::Value << std::string(to_string(user.role));
    if (!user.password_hash.empty()) {
      out << YAML::Key << "password" << YAML::Value << YAML::SingleQuoted << user.password_hash;
    }
    if (!user.token_hash.empty()) out << YAML::Key << "token" << YAML::Value << user.token_hash;
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap << YAML::Newline;
  // Write a second file, then rename it: a reader gets either the whole old file or the whole new
  // one.
  const std::string beside = file.string() + ".new";
  ::unlink(beside.c_str());
  const int descriptor =
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const auto size = static_cast<ssize_t>(out.size());
  struct stat old {};
  const bool was_there = ::stat(file.c_str(), &old) == 0;
  const bool is_written = descriptor >= 0 && ::write(descriptor, out.c_str(), out.size()) == size &&
                          // The panel must be able to read a file that root has written. An old
                          // file keeps its owner and mode. A new file may be read by the group of
                          // the panel's user.
                          (!was_there || ::fchown(descriptor, old.st_uid, old.st_gid) == 0) &&
                          (!was_there || ::fchmod(descriptor, old.st_mode & 0777) == 0) &&
                          (was_there || give_to_panel(descriptor)) && ::fsync(descriptor) == 0;
  int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (is_written && ::rename(beside.c_str(), file.c_str()) == 0) return;
  if (is_written) error = errno;
  if (descriptor >= 0) ::unlink(beside.c_str());
  throw std::runtime_error(file.string() + ": cannot be written: " + std::strerror(error));
}

const User* Users::find(std::string_view name) const {
  const auto found = std::ranges::find(users_, name, &User::name);
  return found == users_.end() ? nullptr : &*found;
}

void Users::put(User user) {
  const auto found = std::ranges::find(users_, user.name, &User::name);
  if (found == users_.end()) {
    users_.push_back(std::move(user));
  } else {
    *found = std::move(user);
  }
}

bool Users::remove(std::string_view name) {
  return std::erase_if(users_, [&](const User& user) { return user.name == name; }) > 0;
}

const User* Users::check_password(std::string_view name, const std::string& password) const {
  // The hash of a random password. If the name does not exist, the password is checked against this
  // hash, so that the check takes as long as for a name that exists.
  static const std::string nobody = hash_password(random_token());
  static std::mutex one_at_a_time;
  const User* user = find(name);
  const bool can_log_in = user != nullptr && !user->password_hash.empty();
  const std::string& hash = can_log_in ? user->password_hash : nobody;
  const std::lock_guard lock(one_at_a_time);
  const bool is_right =
      argon2id_verify(hash.c_str(), password.data(), password.size()) == ARGON2_OK;
  return can_log_in && is_right ? user : nullptr;
}

const User* Users::check_token(std::string_view token) const {
  const std::string hash = hash_token(token);
  const User* found = nullptr;
  for (const User& user : users_) {
    if (user.token_hash.size() == hash.size() &&
        CRYPTO_memcmp(user.token_hash.data(), hash.data(), hash.size()) == 0) {
      found = &user;
    }
  }
  return found;
}

std::string hash_password(const std::string& password) {
  std::array<unsigned char, kSaltBytes> salt{};
  fill_random(salt.data(), salt.size());
  std::array<char, 256> encoded{};
  const int error =
      argon2id_hash_encoded(kPasses, kMemory, 1, password.data(), password.size(), salt.data(),
                            salt.size(), kHashBytes, encoded.data(), encoded.size());
  if (error != ARGON2_OK) throw std::runtime_error(argon2_error_message(error));
  return encoded.data();
}

std::string hash_token(std::string_view token) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(token.data(), token.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 cannot be calculated");
  }
  return hexadecimal(digest.data(), size);
}

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  fill_random(bytes.data(), bytes.size());
  return hexadecimal(bytes.data(), bytes.size());
}

}  // namespace satrelay::panel
