#include "relay/supervise/supervision.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

#include "relay/ops/log/log.h"

namespace satrelay::supervise {
namespace {

using namespace std::chrono_literals;
using supervision::Channel;
using supervision::Message;
using supervision::Word;

// To touch the memory of a large gateway takes minutes.
constexpr auto kStartPatience = 10min;
// After SIGTERM a gateway takes 2 s to tell its peers, and then frees its memory.
constexpr auto kStopPatience = 20s;
// The kernel ends a killed process in this time, unless a driver hangs.
constexpr auto kKillPatience = 2s;
constexpr auto kPrepareInterval = 1s;
constexpr auto kJoinInterval = 1s;
// If this process itself has not run for so long, the gateway's word may wait in the channel.
constexpr auto kOversleep = 1s;
// A gateway that has run for so long is started again without a long pause.
constexpr auto kLongRun = 60s;
constexpr auto kFirstPause = 1s;
constexpr auto kLongestPause = 30s;

std::chrono::nanoseconds to_chrono(Duration duration) {
  return std::chrono::nanoseconds(duration.to_nanoseconds());
}

std::string seconds_text(std::chrono::steady_clock::duration pause) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(pause).count()) + " s";
}

}  // namespace

Supervision::Supervision(std::vector<std::string> command, std::function<std::string()> may_start,
                         Wire& wire, ServiceManager manager)
    : command_(std::move(command)),
      may_start_(std::move(may_start)),
      wire_(wire),
      manager_(std::move(manager)) {
  // A parent may have left other dispositions. Without a reader of its log this program goes on.
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Supervision::~Supervision() { ::close(signals_); }

void Supervision::wait(Clock::time_point until) {
  const auto now = Clock::now();
  if (const auto interval = manager_.feeding_interval()) {
    if (now >= next_feed_) {
      manager_.feed();
      next_feed_ = now + to_chrono(*interval);
    }
    until = std::min(until, next_feed_);
  }
  // An interface may have come back, or another program may have removed the bridge.
  const bool gateway_has_ports =
      gateway_ && (state_ == State::kForwarding || state_ == State::kKilled);
  if (wire_.can_be_joined() && !gateway_has_ports) {
    if (now >= next_join_) {
      wire_.join();
      next_join_ = now + kJoinInterval;
    }
    until = std::min(until, next_join_);
  }
  std::array<pollfd, 2> wanted{
      {{.fd = signals_, .events = POLLIN, .revents = 0},
       {.fd = gateway_ && channel_is_open_ ? gateway_->channel().descriptor() : -1,
        .events = POLLIN,
        .revents = 0}}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
  ::poll(wanted.data(), wanted.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
  if (Clock::now() > until + kOversleep) deadline_ = std::max(deadline_, Clock::now() + kOversleep);
}

void Supervision::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    switch (info.ssi_signo) {
      case SIGTERM:
      case SIGINT:
        if (!is_stopping_) manager_.stopping();
        is_stopping_ = true;
        if (!gateway_ || state_ == State::kKilled) break;
        gateway_->signal(SIGTERM);
        deadline_ = Clock::now() + kStopPatience;
        break;
      case SIGHUP:
        if (gateway_) gateway_->signal(SIGHUP);
        break;
      default:
        break;  // SIGCHLD: run_once() asks for the status
    }
  }
}

void Supervision::join() {
  manager_.tell(wire_.join() ? "the ports are joined" : "the ports are not joined");
}

void Supervision::kill(const std::string& why) {
  ops::log_error("the gateway " + why + "; it is killed");
  gateway_->signal(SIGKILL);
  state_ = State::kKilled;
  deadline_ = Clock::now() + kKillPatience;
}

void Supervision::on_ready() {
  try {
    wire_.part();
  } catch (const std::exception& error) {
    kill(std::string("cannot have its ports: ") + error.what());
    return;
  }
  state_ = State::kForwarding;
  deadline_ = Clock::now() + to_chrono(supervision::kLongestSilence);
  if (!gateway_->channel().send({.word = Word::kForward, .text = {}})) {
    kill("does not listen");
    return;
  }
  has_forwarded_ = true;
  manager_.ready();
  manager_.tell("the gateway forwards");
}

void Supervision::on_prepare(const std::string& port) {
  const auto now = Clock::now();
  Clock::time_point& next = next_prepare_[port == "lan" ? 0 : 1];
  std::string refusal = "asked too often";
  if (now >= next) {
    refusal = wire_.prepare(port);
    next = now + kPrepareInterval;
  }
  const Word word = refusal.empty() ? Word::kPrepared : Word::kRefused;
  // If the gateway does not take the answer, it asks again.
  [[maybe_unused]] const bool is_sent =
      gateway_->channel().send({.word = word, .text = std::move(refusal)});
}

void Supervision::on_message(const Message& message) {
  const bool forwards = state_ == State::kForwarding;
  switch (message.word) {
    case Word::kReady:
      if (state_ == State::kStarting && !is_stopping_) on_ready();
      break;
    case Word::kRound:
      if (forwards && !is_stopping_) {
        deadline_ = Clock::now() + to_chrono(supervision::kLongestSilence);
      }
      break;
    case Word::kPrepare:
      if (forwards) on_prepare(message.text);
      break;
    case Word::kDone:
      if (!forwards) break;
      state_ = State::kEnding;
      if (!is_stopping_) deadline_ = Clock::now() + kStopPatience;
      join();
      break;
    case Word::kLanUp:
    case Word::kLanDown:
      if (forwards) wire_.switch_lan(message.word == Word::kLanUp);
      break;
    case Word::kForward:
    case Word::kPrepared:
    case Word::kRefused:
      break;  // only the supervisor says these
  }
}

void Supervision::take_messages() {
  // A gateway that floods the channel does not keep the supervisor from its signals.
  constexpr int kMostAtOnce = 16;
  Message message;
  for (int i = 0; i < kMostAtOnce && channel_is_open_; ++i) {
    switch (gateway_->channel().receive(message, Duration::zero())) {
      case Channel::Outcome::kMessage:
        on_message(message);
        break;
      case Channel::Outcome::kNothingYet:
        return;
      case Channel::Outcome::kClosed:
        channel_is_open_ = false;
        // The kernel closes the descriptors of a process before it reports its end.
        if (state_ == State::kForwarding) {
          gateway_->signal(SIGKILL);
          state_ = State::kEnding;
          deadline_ = Clock::now() + kKillPatience;
          join();
        }
    }
  }
}

void Supervision::look_at_deadline(Clock::time_point now) {
  if (now < deadline_) return;
  switch (state_) {
    case State::kStarting:
      return kill(is_stopping_ ? "does not end"
                               : "is not ready after " + seconds_text(kStartPatience));
    case State::kForwarding:
      return kill(is_stopping_ ? "does not end" : "hangs");
    case State::kEnding:
      return kill("does not end");
    case State::kKilled:
      // The kernel cannot end it. Its threads do not run, so that they forward nothing.
      ops::log_error("the gateway cannot be killed");
      join();
      deadline_ = Clock::time_point::max();
  }
}

bool Supervision::start() {
  try {
    gateway_.emplace(command_);
    channel_is_open_ = true;
    return true;
  } catch (const std::system_error& error) {
    ops::log_error(std::string("cannot start the gateway: ") + error.what());
    return false;
  }
}

int Supervision::run_once() {
  state_ = State::kStarting;
  deadline_ = Clock::now() + kStartPatience;
  if (!start()) return EXIT_FAILURE;
  while (true) {
    wait(deadline_);
    // If this process was held up, messages have waited. They show that the gateway does not hang,
    // and put off the deadline. After SIGTERM they no longer do.
    take_messages();
    take_signals();
    if (const auto status = gateway_->status()) {
      gateway_.reset();
      // A gateway that has no handlers yet ends by the signal itself.
      return is_stopping_ && *status == 128 + SIGTERM ? kStopped : *status;
    }
    look_at_deadline(Clock::now());
  }
}

bool Supervision::must_end(int status) const {
  if (is_stopping_ || status == kStopped || status == kBadConfiguration ||
      status == kAlreadyRunning) {
    return true;
  }
  // The service manager tells the operator that the start has failed, and tries again.
  return manager_.is_there() && !has_forwarded_;
}

void Supervision::rest(int status, Clock::duration pause) {
  const std::string text = "the gateway has ended with status " + std::to_string(status) +
                           "; it is started again in " + seconds_text(pause);
  ops::log_warning(text);
  manager_.tell(text);
  const auto until = Clock::now() + pause;
  while (!is_stopping_ && Clock::now() < until) {
    wait(until);
    take_signals();
  }
}

int Supervision::run() {
  Clock::duration pause = kFirstPause;
  while (true) {
    // The bridge forwards while the gateway starts.
    join();
    if (const std::string objection = may_start_(); !objection.empty()) {
      ops::log_error(objection);
      return EXIT_FAILURE;
    }
    const auto began = Clock::now();
    const int status = is_stopping_ ? kStopped : run_once();
    wire_.join();
    if (status == kCannotExecute) return EXIT_FAILURE;
    if (must_end(status)) return status;
    if (status == kStartAgain || Clock::now() - began >= kLongRun) pause = kFirstPause;
    rest(status, pause);
    if (is_stopping_) return kStopped;
    pause = std::min<Clock::duration>(pause * 2, kLongestPause);
  }
}

}  // namespace satrelay::supervise
