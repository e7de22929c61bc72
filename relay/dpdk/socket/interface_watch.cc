#include "relay/dpdk/socket/interface_watch.h"

#include <utility>

namespace satrelay::dpdk {

InterfaceWatch::Next InterfaceWatch::look(const InterfaceView& view, Instant now) {
  if (state_ == State::kUnfit) return Next::kNothing;
  if (view.is_there) {
    look_at_present(view);
    return Next::kNothing;
  }
  if (!is_gone()) {
    state_ = State::kGone;
    changes_.push_back({PortChangeKind::kGone, name_});
    unfit_since_ = Instant::never();
  }
  if (!view.has_successor) {
    unfit_since_ = Instant::never();
    return Next::kNothing;
  }
  if (view.objections.empty()) return Next::kBind;
  std::string objections;
  for (const std::string& each : view.objections) {
    objections += (objections.empty() ? "" : ", ") + each;
  }
  object(objections, now);
  return Next::kNothing;
}

void InterfaceWatch::bound() {
  // The next call of look() finds out whether the interface is up.
  name_ = configured_;
  state_ = State::kDown;
  changes_.push_back({PortChangeKind::kReturned, name_});
}

void InterfaceWatch::could_not_bind(const std::string& why, Instant now) { object(why, now); }

void InterfaceWatch::object(const std::string& objections, Instant now) {
  if (unfit_since_.is_never()) unfit_since_ = now;
  if (now - unfit_since_ < kPatience) return;
  state_ = State::kUnfit;
  changes_.push_back({PortChangeKind::kUnfit, configured_ + " " + objections});
}

void InterfaceWatch::look_at_present(const InterfaceView& view) {
  if (!view.name.empty() && view.name != name_) {
    changes_.push_back({PortChangeKind::kRenamed, name_ + " is now " + view.name});
    name_ = view.name;
  }
  const State state = view.is_running ? State::kUp : State::kDown;
  // Do not report an interface that is up from the start.
  const bool is_news = state_ ? *state_ != state : state == State::kDown;
  state_ = state;
  if (!is_news) return;
  if (state == State::kUp) {
    changes_.push_back({PortChangeKind::kUp, name_});
  } else {
    changes_.push_back({PortChangeKind::kDown,
                        name_ + (view.is_enabled ? " has no carrier" : " is switched off")});
  }
}

}  // namespace satrelay::dpdk
