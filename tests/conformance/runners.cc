#include "tests/conformance/runners.h"

#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "tests/conformance/endpoint_host.h"
#include "tests/conformance/kernel_host.h"

namespace satrelay::conformance {
namespace {

constexpr std::size_t kAtOnce = 8;
// A script is the same every time, but on a busy machine the player or the kernel may be late. A
// real fault appears at every attempt.
constexpr int kAttempts = 4;

constexpr const char* kPassed = "passed";
constexpr const char* kFailed = "failed";

void write_all(int fd, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t size = write(fd, text.data() + at, text.size() - at);
    if (size <= 0) return;
    at += static_cast<std::size_t>(size);
  }
}

// Runs in the child. Writes the verdict in the first line, then the message, then the ladder.
[[noreturn]] void play_in_child(const Script& script, int fd) {
  std::string answer;
  try {
    sched_param priority{};
    priority.sched_priority = 1;
    // If it is allowed, since other programs would make the child late.
    sched_setscheduler(0, SCHED_RR, &priority);
    enter_own_namespace();
    KernelHost host(script);
    const Outcome outcome = Player(script, host, For::kKernel).play();
    answer = outcome.passed ? kPassed : kFailed;
    answer += "\n" + outcome.message + "\n";
    for (const std::string& line : outcome.ladder) answer += line + "\n";
  } catch (const std::exception& error) {
    answer = std::string(kFailed) + "\n" + script.file + ": " + error.what() + "\n";
  }
  write_all(fd, answer);
  _exit(0);
}

struct Child {
  std::size_t row;
  pid_t pid;
  int fd;
  int attempt;
  std::string answer;
};

Child start(const std::vector<Row>& rows, std::size_t row, int attempt) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) {
    close(ends[0]);
    play_in_child(*rows[row].script, ends[1]);
  }
  close(ends[1]);
  return {row, pid, ends[0], attempt, {}};
}

// Waits until a child has written something or ended; true if it has ended.
bool read_some(Child& child) {
  char buffer[4096];
  const ssize_t size = read(child.fd, buffer, sizeof buffer);
  if (size > 0) {
    child.answer.append(buffer, static_cast<std::size_t>(size));
    return false;
  }
  close(child.fd);
  waitpid(child.pid, nullptr, 0);
  return true;
}

Result result_of(const std::string& answer) {
  std::istringstream lines(answer);
  std::string verdict;
  Result result;
  std::getline(lines, verdict);
  std::getline(lines, result.message);
  for (std::string line; std::getline(lines, line);) result.ladder.push_back(line);
  result.verdict = verdict == kPassed ? Verdict::kPassed : Verdict::kFailed;
  if (verdict.empty()) result.message = "the script's process ended without an answer";
  return result;
}

std::string missing_privilege() {
  if (geteuid() != 0) return "network namespaces and TUN devices need root";
  if (access("/dev/net/tun", R_OK | W_OK) != 0) return "there is no /dev/net/tun";
  return {};
}

class Fleet {
 public:
  explicit Fleet(std::vector<Row>& rows) : rows_(rows) {}

  void run() {
    std::size_t next = 0;
    while (next < rows_.size() || !children_.empty()) {
      for (; next < rows_.size() && children_.size() < kAtOnce; ++next) {
        if (rows_[next].kernel.verdict == Verdict::kNotPlayed) {
          children_.push_back(start(rows_, next, 1));
        }
      }
      if (!children_.empty()) wait();
    }
  }

 private:
  void wait() {
    std::vector<pollfd> entries;
    for (const Child& child : children_) entries.push_back({child.fd, POLLIN, 0});
    poll(entries.data(), entries.size(), -1);
    for (std::size_t i = entries.size(); i-- > 0;) {
      if (entries[i].revents == 0 || !read_some(children_[i])) continue;
      const Child child = std::move(children_[i]);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      const bool passed = child.answer.rfind(kPassed, 0) == 0;
      if (!passed && child.attempt < kAttempts) {
        children_.push_back(start(rows_, child.row, child.attempt + 1));
      } else {
        rows_[child.row].kernel = result_of(child.answer);
        rows_[child.row].kernel.attempts = child.attempt;
      }
    }
  }

  std::vector<Row>& rows_;
  std::vector<Child> children_;
};

}  // namespace

void run_on_endpoint(std::vector<Row>& rows) {
  for (Row& row : rows) {
    EndpointHost host(row.script->settings);
    Outcome outcome = Player(*row.script, host, For::kEndpoint).play();
    Result& result = row.endpoint;
    result.message = std::move(outcome.message);
    result.ladder = std::move(outcome.ladder);
    result.verdict = outcome.passed ? Verdict::kPassed : Verdict::kFailed;
    if (row.script->pending.empty()) continue;
    if (outcome.passed) {
      result.verdict = Verdict::kFailed;
      result.message = row.script->file + ": passes although it is pending: take the mark away";
    } else {
      result.verdict = Verdict::kPending;
    }
  }
}

std::string run_on_kernel(std::vector<Row>& rows) {
  std::string missing = missing_privilege();
  if (!missing.empty()) return missing;
  for (Row& row : rows) {
    if (row.script->kernel_skip.empty()) continue;
    row.kernel.verdict = Verdict::kSkipped;
    row.kernel.message = "not for the kernel: " + row.script->kernel_skip;
  }
  Fleet(rows).run();
  return {};
}

}  // namespace satrelay::conformance
