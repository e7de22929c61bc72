#include "relay/satrelayd/startup/supervisor.h"

#include <stdexcept>
#include <string>

#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {
namespace {

using supervision::Channel;
using supervision::Message;
using supervision::Word;

// The supervisor removes a bridge or sets up an interface meanwhile.
constexpr Duration kAnswerPatience = Duration::seconds(5);
// StopSignal does not wake receive() if the signal comes just before it.
constexpr Duration kLook = Duration::milliseconds(50);

}  // namespace

Supervisor::Supervisor() : channel_(supervision::inherited_channel()) {}

bool Supervisor::wait_for_ports() {
  if (!channel_) return true;
  if (dpdk::StopSignal::requested()) return false;
  const Instant give_up = dpdk::now() + kAnswerPatience;
  if (!channel_->send({.word = Word::kReady, .text = {}})) {
    throw std::runtime_error("the supervisor does not listen");
  }
  Message message;
  while (!dpdk::StopSignal::requested()) {
    const Channel::Outcome outcome = channel_->receive(message, kLook);
    if (outcome == Channel::Outcome::kMessage && message.word == Word::kForward) {
      has_ports_ = true;
      return true;
    }
    if (outcome == Channel::Outcome::kClosed) throw std::runtime_error("the supervisor has ended");
    if (dpdk::now() >= give_up) throw std::runtime_error("the supervisor does not answer");
  }
  return false;
}

void Supervisor::tell_round() {
  const bool is_told = channel_->send({.word = Word::kRound, .text = {}});
  if (!is_told && !has_lost_it_) {
    ops::log_error(
        "satrelay-supervise does not listen: nothing joins the ports when this gateway ends");
  }
  has_lost_it_ = !is_told;
}

void Supervisor::switch_lan(bool on) {
  if (!has_ports_) return;
  const Word word = on ? Word::kLanUp : Word::kLanDown;
  if (!channel_->send({.word = word, .text = {}})) {
    ops::log_error(std::string("satrelay-supervise does not listen: port lan stays switched ") +
                   (on ? "off" : "on"));
  }
}

void Supervisor::tell_done() {
  if (!has_ports_.exchange(false)) return;
  // A supervisor that has ended joins no ports.
  [[maybe_unused]] const bool is_told = channel_->send({.word = Word::kDone, .text = {}});
}

void Supervisor::prepare(const std::string& port) {
  if (!has_ports_) return;
  const std::string refusal = ask_to_prepare(port);
  if (!refusal.empty()) {
    ops::log_warning("port " + port +
                     ": satrelay-supervise does not set up the interface: " + refusal);
  }
}

std::string Supervisor::ask_to_prepare(const std::string& port) {
  if (!channel_->send({.word = Word::kPrepare, .text = port})) return "the supervisor has ended";
  const Instant give_up = dpdk::now() + kAnswerPatience;
  Message message;
  while (dpdk::now() < give_up) {
    const Channel::Outcome outcome = channel_->receive(message, kLook);
    if (outcome == Channel::Outcome::kClosed) return "the supervisor has ended";
    if (outcome != Channel::Outcome::kMessage) continue;
    if (message.word == Word::kPrepared) return {};
    if (message.word == Word::kRefused) return message.text;
  }
  return "the supervisor does not answer";
}

}  // namespace satrelay::satrelayd
