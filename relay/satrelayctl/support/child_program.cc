#include "relay/satrelayctl/support/child_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "relay/satrelayctl/commands/interruption.h"

namespace satrelay::ctl {
namespace {

using Clock = std::chrono::steady_clock;

// Keeps a program's standard error in memory, since nothing reads it while the program runs.
class Diagnostics {
 public:
  Diagnostics() : descriptor_(::memfd_create("complaints", MFD_CLOEXEC)) {}
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;
  ~Diagnostics() { ::close(descriptor_); }
  int descriptor() const { return descriptor_; }
  std::string first_line() const {
    std::array<char, 400> begin;
    const ssize_t size = ::pread(descriptor_, begin.data(), begin.size(), 0);
    const std::string text(begin.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return text.substr(0, text.find('\n'));
  }

 private:
  int descriptor_;
};

// Starts the program. Returns 0 or the error number.
int start(const std::vector<std::string>& arguments, int output, int diagnostics, ::pid_t& child) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  char language[] = "LC_ALL=C";
  char* environment[] = {path, language, nullptr};
  ::posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, diagnostics, STDERR_FILENO);
  const int error =
      ::posix_spawn(&child, arguments.front().c_str(), &files, nullptr, argv.data(), environment);
  ::posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

std::string run_program(const std::vector<std::string>& arguments, int output,
                        std::chrono::milliseconds most) {
  const Diagnostics diagnostics;
  const std::string& name = arguments.front();
  ::pid_t child = 0;
  if (const int error = start(arguments, output, diagnostics.descriptor(), child); error != 0) {
    return name + ": " + std::strerror(error);
  }
  const auto deadline = Clock::now() + most;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (waits(std::chrono::milliseconds(10)) && Clock::now() < deadline) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return name + (is_interrupted() ? ": interrupted" : ": took too long");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  const std::string complaint = diagnostics.first_line();
  return name + ": " +
         (!complaint.empty()  ? complaint
          : WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status))
                              : "ended by signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace satrelay::ctl
