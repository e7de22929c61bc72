#include "relay/satpanel/users/user_command.h"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace satrelay::panel {
namespace {

constexpr std::size_t kShortest = 8;  // characters of a password
constexpr std::size_t kLongest = 1024;

// Turns the terminal's echo off for as long as this object exists.
class SilentTerminal {
 public:
  SilentTerminal() : is_terminal_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  ~SilentTerminal() {
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  bool is_terminal() const { return is_terminal_; }

 private:
  termios before_{};
  bool is_terminal_;
};

std::string read_line(const char* prompt, bool is_terminal) {
  if (is_terminal) std::cerr << prompt;
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error("no password was given");
  if (is_terminal) std::cerr << '\n';
  return line;
}

std::string ask_password() {
  const SilentTerminal terminal;
  std::string password = read_line("Password: ", terminal.is_terminal());
  if (password.size() < kShortest || password.size() > kLongest) {
    throw std::runtime_error(
        fmt::format("a password has {} to {} characters", kShortest, kLongest));
  }
  if (terminal.is_terminal() && read_line("Once more: ", true) != password) {
    throw std::runtime_error("the two passwords differ");
  }
  return password;
}

Users load_if_any(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::exists(file, error) ? Users::load(file) : Users();
}

}  // namespace

int run_user_command(const UserOptions& options) {
  Users users = load_if_any(options.users);
  switch (options.action) {
    case UserOptions::Action::kAddUser:
      users.put({options.name, options.role, hash_password(ask_password()), ""});
      break;
    case UserOptions::Action::kAddToken: {
      const std::string token = random_token();
      users.put({options.name, options.role, "", hash_token(token)});
      users.save(options.users);
      std::cout << token << std::endl;
      return std::cout ? 0 : 1;
    }
    case UserOptions::Action::kRemove:
      if (!users.remove(options.name)) throw std::runtime_error("there is no user " + options.name);
      break;
    case UserOptions::Action::kList:
      for (const User& user : users.all()) {
        std::cout << fmt::format("{:<32}  {:<13}  {}\n", user.name, to_string(user.role),
                                 user.token_hash.empty() ? "password" : "token");
      }
      return std::cout.flush() ? 0 : 1;
  }
  users.save(options.users);
  return 0;
}

}  // namespace satrelay::panel
