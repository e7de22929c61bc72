#include "relay/satrelayctl/init/ports/port_advice.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "relay/text/table.h"

namespace satrelay::ctl::init {
namespace {

using Candidates = std::vector<const Interface*>;

// Returns the only candidate for which `is_it` holds, or nullptr.
template <typename Predicate>
const Interface* only(const Candidates& candidates, const Predicate& is_it) {
  const Interface* found = nullptr;
  for (const Interface* each : candidates) {
    if (!is_it(*each)) continue;
    if (found != nullptr) return nullptr;
    found = each;
  }
  return found;
}

std::string hosts(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " host" : " hosts");
}

// The interface with most hosts on its segment is the LAN: a modem has one router behind it, or
// none.
const Interface* busiest_segment(const Candidates& candidates) {
  if (candidates.empty()) return nullptr;
  const auto near = [](const Interface* each) { return each->traffic->near; };
  const Interface* const most = *std::ranges::max_element(candidates, {}, near);
  return only(candidates, [&](const Interface& each) {
    return each.traffic->near > 0 && each.traffic->near == most->traffic->near;
  });
}

std::string link_of(const Interface& interface) {
  return interface.state == "lowerlayerdown" ? "no carrier" : interface.state;
}

std::string driver_of(const Interface& interface) {
  if (interface.driver == "-") return "-";
  return interface.driver + (interface.device == "-" ? "" : " " + interface.device);
}

std::string use_of(const Interface& interface) {
  std::string text = interface.use();
  const auto append = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (interface.master != "-") append("in " + interface.master);
  for (const std::string& address : interface.addresses) append(address);
  return text.empty() ? "-" : text;
}

}  // namespace

PortAdvice advise_ports(const Machine& machine) {
  Candidates candidates;
  for (const Interface& each : machine.interfaces) {
    if (!each.is_used() && each.traffic) candidates.push_back(&each);
  }
  if (candidates.size() < 2) return {};
  const Interface* wan =
      only(candidates, [](const Interface& each) { return each.traffic->stp > 0; });
  if (wan != nullptr) std::erase(candidates, wan);
  const Interface* lan =
      candidates.size() == 1 && wan != nullptr ? candidates.front() : busiest_segment(candidates);
  PortAdvice advice;
  if (wan != nullptr) {
    advice.wan = wan->name;
    advice.reason = wan->name + " looks like the WAN: packets of another gateway arrive there.";
  }
  if (lan == nullptr) return advice;
  advice.lan = lan->name;
  if (wan == nullptr) {
    advice.reason =
        lan->name + " looks like the LAN: " + hosts(lan->traffic->near) + " on its segment.";
    std::erase(candidates, lan);
    if (candidates.size() == 1) advice.wan = candidates.front()->name;
  }
  return advice;
}

std::string port_table(const Machine& machine, std::size_t width) {
  const std::vector<text::Column> traffic = {
      {"interface"},
      {"link"},
      {"frames", text::Align::kRight},
      {"near", text::Align::kRight},
      {"far", text::Align::kRight},
      {"TCP", text::Align::kRight},
      {"STP", text::Align::kRight},
      {"used by", text::Align::kLeft, text::Overflow::kFold}};
  const std::vector<text::Column> hardware = {
      {"interface"},
      {"Mbit/s", text::Align::kRight},
      {"MTU", text::Align::kRight},
      {"MAC"},
      {"driver", text::Align::kLeft, text::Overflow::kFold}};
  std::vector<text::Row> seen;
  std::vector<text::Row> made_of;
  for (const Interface& each : machine.interfaces) {
    const auto count = [&](auto member) {
      return each.traffic ? std::to_string((*each.traffic).*member) : std::string("-");
    };
    seen.push_back({each.name, link_of(each), count(&Traffic::frames), count(&Traffic::near),
                    count(&Traffic::far), count(&Traffic::tcp), count(&Traffic::stp),
                    use_of(each)});
    made_of.push_back({each.name, each.speed, std::to_string(each.mtu), each.mac, driver_of(each)});
  }
  for (const Card& card : machine.cards) {
    made_of.push_back({card.address, "-", "-", "-", card.driver});
  }
  return text::fit_table(traffic, seen, width).text + "\n" +
         text::fit_table(hardware, made_of, width).text;
}

}  // namespace satrelay::ctl::init
