#include "relay/supervise/gateway_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace satrelay::supervise {
namespace {

[[noreturn]] void execute(std::vector<std::string> arguments, int channel) {
  ::setpgid(0, 0);
  ::signal(SIGPIPE, SIG_DFL);
  // SIGTERM, SIGINT and SIGHUP stay blocked until the gateway has handlers for them.
  sigset_t others;
  sigemptyset(&others);
  sigaddset(&others, SIGCHLD);
  ::sigprocmask(SIG_UNBLOCK, &others, nullptr);
  ::fcntl(channel, F_SETFD, 0);
  ::setenv(supervision::kVariable, std::to_string(channel).c_str(), 1);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const std::string text = "satrelay-supervise: cannot run " + arguments[0] + ": " +
                           std::strerror(errno) + "; SATRELAYD names the gateway's program\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(kCannotExecute);
}

}  // namespace

std::string gateway_program() {
  if (const char* named = std::getenv("SATRELAYD"); named != nullptr && *named != '\0') {
    return named;
  }
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = own.parent_path() / "satrelayd";
  return !error && ::access(beside.c_str(), X_OK) == 0 ? beside.string() : "satrelayd";
}

GatewayProcess::GatewayProcess(const std::vector<std::string>& arguments)
    : GatewayProcess(arguments, supervision::make_channel()) {}

GatewayProcess::GatewayProcess(const std::vector<std::string>& arguments,
                               supervision::ChannelPair channel)
    : channel_(std::move(channel.supervisor)), pid_(::fork()) {
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) execute(arguments, channel.gateway.descriptor());
}

GatewayProcess::~GatewayProcess() {
  if (pid_ < 0 || status()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void GatewayProcess::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

std::optional<int> GatewayProcess::status() {
  if (status_) return status_;
  int how = 0;
  const pid_t ended = ::waitpid(pid_, &how, WNOHANG);
  if (ended == pid_) status_ = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
  if (ended < 0) status_ = EXIT_FAILURE;  // there is no such child any longer
  return status_;
}

}  // namespace satrelay::supervise
