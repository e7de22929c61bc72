#include "relay/machine/interface_faults.h"

#include <string>

namespace satrelay::machine {
namespace {

using ops::Severity;

// Adds findings about one port.
class InterfaceJudge {
 public:
  InterfaceJudge(std::string_view name, const config::Port& port, const InterfaceFacts& facts,
                 Use use)
      : name_(name), interface_(port.interface), mtu_(port.mtu), facts_(facts), use_(use) {}

  Findings judge() && {
    if (!facts_.exists) {
      judge_absence();
      return std::move(findings_);
    }
    judge_master();
    judge_link();
    judge_mtu();
    if (use_ == Use::kRunning) judge_offloads();
    return std::move(findings_);
  }

 private:
  void add(std::string_view check, Severity severity, std::string seen, std::string cause,
           std::string cure, std::string_view page) {
    findings_.push_back({.check = check,
                         .severity = severity,
                         .subject = "port " + name_,
                         .seen = std::move(seen),
                         .cause = std::move(cause),
                         .cure = std::move(cure),
                         .page = page});
  }
  // An event of the gateway reports the latest finding as well.
  void note_event(std::string_view event) { findings_.back().told_by.begin = event; }
  void judge_absence();
  void judge_master();
  void judge_link();
  void judge_mtu();
  void judge_offloads();

  std::string name_;
  std::string interface_;
  unsigned mtu_;
  const InterfaceFacts& facts_;
  Use use_;
  Findings findings_;
};

void InterfaceJudge::judge_absence() {
  add("port_missing", Severity::kError,
      "there is no interface " + interface_ + " on this machine, in this network namespace",
      "the name is wrong, the device is not there, or its driver is missing",
      "correct ports." + name_ + ".interface; ip -br link lists the interfaces", kPageOfNoStart);
  note_event("port_gone");
}

void InterfaceJudge::judge_master() {
  if (!facts_.foreign_master.empty()) {
    add("port_in_bridge", Severity::kError, interface_ + " belongs to the " + facts_.foreign_master,
        "two programs would forward its frames, so hosts would get each frame twice, or in a loop",
        "ip link set " + interface_ + " nomaster", kPageOfPassing);
  }
  if (use_ == Use::kRunning && facts_.is_in_wire_bridge) {
    add("port_still_joined", Severity::kError,
        "satrelay-supervise still joins " + interface_ + " with the other port",
        "the gateway was started without its supervisor, so that both forward each frame",
        "satrelay-supervise part -c FILE, and start the gateway by satrelay-supervise run",
        kPageOfPassing);
  }
}

void InterfaceJudge::judge_link() {
  if (use_ == Use::kRunning && !facts_.is_enabled) {
    add("port_down", Severity::kError, interface_ + " is switched off",
        "another program or an operator has switched it off since the start of the gateway",
        "ip link set " + interface_ + " up", kPageOfPassing);
    note_event("port_down");
  }
  if (facts_.is_enabled && !facts_.is_running) {
    add("port_no_carrier", Severity::kError, interface_ + " has no carrier",
        "the cable is out, or the device at its other end is off",
        "check the cable and the device; ethtool " + interface_ + " shows the link",
        kPageOfPassing);
    note_event("port_down");
  }
  if (facts_.is_half_duplex) {
    add("port_half_duplex", Severity::kWarning, interface_ + " runs in half duplex",
        "one end has a fixed speed and the other negotiates; collisions lose frames",
        "set both ends alike, or: ethtool -s " + interface_ + " autoneg on", kPageOfSpeed);
  }
}

void InterfaceJudge::judge_mtu() {
  if (facts_.mtu == 0 || facts_.mtu >= mtu_) return;
  const std::string mtu = std::to_string(facts_.mtu);
  const std::string wanted = std::to_string(mtu_);
  const std::string seen =
      interface_ + " has an MTU of " + mtu + ", and ports." + name_ + ".mtu is " + wanted;
  if (use_ == Use::kRunning) {
    add("port_mtu_low", Severity::kError, seen,
        "another program has lowered it since the start; longer frames are lost",
        "ip link set " + interface_ + " mtu " + wanted, kPageOfSpeed);
    return;
  }
  add("port_mtu_low", Severity::kWarning, seen,
      "the gateway raises it at its start; frames are lost if the segment carries no more than " +
          mtu,
      "if the segment carries " + mtu + " only, write ports." + name_ + ".mtu: " + mtu,
      kPageOfSpeed);
}

void InterfaceJudge::judge_offloads() {
  if (facts_.merge_offloads.empty()) return;
  std::string names;
  std::string words;
  for (const std::string& offload : facts_.merge_offloads) {
    names += (names.empty() ? "" : ", ") + offload;
    words += ' ' + offload + " off";
  }
  add("port_merges", Severity::kWarning, interface_ + " merges received frames (" + names + ")",
      "a merged frame is longer than the MTU, and the gateway can cut only some kinds",
      "ethtool -K " + interface_ + words, "guide.md#offloads-of-kernel-interfaces");
}

}  // namespace

Findings judge_interface(std::string_view name, const config::Port& port,
                         const InterfaceFacts& facts, Use use) {
  return InterfaceJudge(name, port, facts, use).judge();
}

}  // namespace satrelay::machine
