// The peers: why one is not alive, and what is wrong with one that is.
#include <algorithm>
#include <cstddef>
#include <string>

#include "relay/doctor/judgements.h"
#include "relay/text/numbers.h"

namespace satrelay::ctl::doctor {
namespace {

using machine::Findings;
using ops::Severity;

constexpr std::string_view kPageOfPeer = "troubleshooting.md#the-peer-is-not-alive";
// The greeting of a peer takes two round trips. Before this time has passed, silence is normal.
constexpr std::uint64_t kGreetingMs = 3000;
// The search for the MTU of a path loses three probes before it gives a size up.
constexpr std::uint64_t kProbesOfALimit = 3;
// A share of lost packets, in millionths, at which the rate is more suspicious than the link.
constexpr std::uint64_t kMuchLossPpm = 50'000;
// A share of fewer packets than this is chance.
constexpr std::uint64_t kPacketsThatTell = 1000;

// Counters of the whole gateway, of packets that no peer of the file has sent, or that come to an
// address or a port that the gateway does not serve. Anyone on the path can send such a packet.
constexpr const char* kFromStrangers = "dropped_stp_unknown_peer";
constexpr const char* kToNobody = "dropped_to_gateway";

std::uint64_t growth_in(const Facts& facts, const char* counter) {
  return growth_of(facts.gateway->counters, facts.gateway->earlier_counters, counter);
}

std::ptrdiff_t count_down(const Facts& facts) {
  return std::ranges::count_if(facts.gateway->peers,
                               [](const Json& peer) { return !has_word(peer, "state", "alive"); });
}

class PeerJudge {
 public:
  PeerJudge(const Facts& facts, const Json& peer, Findings& findings)
      : facts_(facts),
        peer_(peer),
        counters_(member(peer, "counters")),
        earlier_(member(earlier_of(facts, peer), "counters")),
        subject_("peer " + text(peer, "name")),
        findings_(findings) {}

  void judge(bool is_only_one_down) {
    const std::string state = text(peer_, "state");
    if (state == "alive") return judge_living();
    // The exchanged ports are the cause, and have a finding of their own.
    if (looks_exchanged(facts_)) return;
    // A state shows the latest change. The counters that grow show the present cause.
    if (judge_greetings(earlier_)) return;
    judge_state(state);
    // A stranger may send such packets as well. So they accuse no peer unless only one is down.
    if (is_only_one_down) judge_strangers();
  }

 private:
  void judge_state(const std::string& state) {
    if (state == "refused") judge_greetings({});
    if (state == "wrong_key") return judge_key();
    if (state == "closed") return judge_closed();
    if (state == "suspect") return judge_silence();
    if (state == "connecting") judge_unheard();
  }
  static const Json& earlier_of(const Facts& facts, const Json& peer) {
    static const Json nothing;
    const Json& all = facts.gateway->earlier_peers;
    const auto found = std::ranges::find_if(
        all, [&](const Json& each) { return has_word(each, "name", text(peer, "name")); });
    return found == all.end() ? nothing : *found;
  }
  bool grows(const char* counter) const { return growth_of(counters_, earlier_, counter) > 0; }
  void add(std::string_view check, Severity severity, std::string seen, std::string cause,
           std::string cure, std::string_view page = kPageOfPeer) {
    findings_.push_back({.check = check,
                         .severity = severity,
                         .subject = subject_,
                         .seen = std::move(seen),
                         .cause = std::move(cause),
                         .cure = std::move(cure),
                         .page = page});
  }
  // An event of the gateway reports the latest finding as well.
  void note_event(std::string_view event) { findings_.back().told_by.begin = event; }
  std::string times(const char* counter) const {
    return std::to_string(count_of(counters_, counter)) + ' ' + counter;
  }
  std::string address() const { return text(peer_, "address"); }
  std::string port_of_stp() const {
    return facts_.file.config ? std::to_string(facts_.file.config->stp.port) : "stp.port";
  }
  void judge_living();
  void judge_key();
  bool judge_greetings(const Json& before);
  void judge_strangers();
  void judge_closed();
  void judge_silence();
  void judge_unheard();
  void judge_unresolved();
  void judge_unanswered();

  const Facts& facts_;
  const Json& peer_;
  const Json& counters_;
  const Json& earlier_;
  std::string subject_;
  Findings& findings_;
};

void PeerJudge::judge_living() {
  if (has_word(peer_, "security", "none")) {
    add("security_none", Severity::kInfo, "packets to and from " + address() + " are not encrypted",
        "the file says security: none, so anyone on the path can read and forge",
        "satrelayctl keygen FILE, and security: {psk_file: FILE} at both ends", "security.md");
  }
  if (const std::string flows = text(peer_, "new_flows");
      flows == "bypass" || flows == "draining") {
    add("peer_bypass", Severity::kWarning, "takes no new flows: " + flows,
        "the operator of the far gateway has given that command, so new connections are bridged",
        "there: satrelayctl bypass off, or start the drained gateway again",
        "guide.md#bypass-and-drain");
  }
  const auto path_mtu = number(peer_, "path_mtu_bytes");
  if (facts_.file.config && path_mtu && *path_mtu < facts_.file.config->stp.mtu &&
      count_of(counters_, "mtu_probes_lost") >= kProbesOfALimit) {
    add("path_mtu_low", Severity::kWarning,
        "the path carries packets of " + std::to_string(*path_mtu) + " bytes, and stp.mtu is " +
            std::to_string(facts_.file.config->stp.mtu) + " (" + times("mtu_probes_lost") + ")",
        "a device or the peer's WAN port on the path has a smaller MTU",
        "give the ports of both ends and the modems one MTU, or write stp.mtu: " +
            std::to_string(*path_mtu),
        machine::kPageOfSpeed);
  }
  const auto loss = number(peer_, "loss_ppm");
  if (loss && *loss >= kMuchLossPpm && count_of(counters_, "packets_out") >= kPacketsThatTell) {
    add("much_loss", Severity::kWarning,
        shown(peer_, "loss_ppm", text::share) +
            " of the packets "
            "are lost",
        "send_rate exceeds the rate of the modem and its queue overflows, or the link is bad",
        "satrelayctl capacity LINK send RATE lowers the rate at once; correct send_rate, or write "
        "capacity: find",
        machine::kPageOfSpeed);
  }
  if (count_of(peer_, "flows_refused") > 0) {
    add("flows_refused", Severity::kWarning,
        shown(peer_, "flows_refused", text::plain) + " flows found no room since the start",
        "limits.flows or limits.memory is too small for the connections of this peer",
        "raise limits.flows and limits.memory", machine::kPageOfMachine);
    note_event("table_full");
  }
}

void PeerJudge::judge_key() {
  add("peer_wrong_key", Severity::kError,
      "greetings of " + address() + " fit no key of this gateway (" + times("not_authentic") + ")",
      "the two gateways have different secrets",
      "sha256sum the psk_file of both ends, take the right file to the other end, and satrelayctl "
      "reload there");
  note_event("peer_wrong_key");
}

// Greetings have arrived since `before`, and cannot be accepted. Returns false if there are none.
bool PeerJudge::judge_greetings(const Json& before) {
  const std::size_t known = findings_.size();
  const auto has_grown = [&](const char* counter) {
    return growth_of(counters_, before, counter) > 0;
  };
  if (has_grown("version_mismatch")) {
    add("peer_other_version", Severity::kError,
        "speaks another version of STP (" + times("version_mismatch") + ")",
        "the two gateways are of releases that have no version of STP in common",
        "upgrade both gateways to one release; satrelayd --version shows it");
    note_event("peer_other_version");
  }
  if (has_grown("security_mismatch")) {
    add("peer_unlike_security", Severity::kError,
        "only one of the two ends encrypts (" + times("security_mismatch") + "); this end has " +
            text(peer_, "security"),
        "one file says security: none, and the other names a psk_file",
        "write security alike at both ends, and restart the gateway that changes");
    note_event("peer_unlike_security");
  }
  if (has_grown("lanes_mismatch")) {
    add("peer_unlike_workers", Severity::kError,
        "counts the workers differently (" + times("lanes_mismatch") + ")",
        "peers[].workers here is not worker.count there, or the reverse",
        "write worker.count of the other gateway into peers[].workers at each end, and restart");
    note_event("peer_unlike_workers");
  }
  if (findings_.size() == known && has_grown("not_authentic")) judge_key();
  return findings_.size() > known;
}

// Packets arrive that may be the peer's, from or to another address or port than the file says.
void PeerJudge::judge_strangers() {
  if (grows("packets_in")) return;
  if (const std::uint64_t strangers = growth_in(facts_, kFromStrangers); strangers > 0) {
    add("peer_other_address", Severity::kWarning,
        "does not answer from " + address() + ", and STP comes from an unknown address (" +
            std::to_string(strangers) + ' ' + kFromStrangers + ')',
        "the far gateway has another address than the file says, or a NAT changes it; or a "
        "stranger sends",
        "satrelayctl capture --port wan --filter 'udp port " + port_of_stp() +
            "' shows its address; write it into peers[].address");
    return;
  }
  const std::uint64_t others = growth_in(facts_, kToNobody);
  if (others == 0) return;
  const auto& config = facts_.file.config;
  add("peer_misdirected", Severity::kWarning,
      "does not answer, and packets come to a port or an address that this gateway does not serve "
      "(" +
          std::to_string(others) + ' ' + kToNobody + ')',
      "the peer has another stp.port, or another address for this gateway in its file; or a "
      "stranger sends",
      "compare with the far file: stp.port is " + port_of_stp() + " here, and gateway.address " +
          (config ? config->gateway.own.to_string() : "as in the file of this gateway") +
          " is peers[].address there");
}

void PeerJudge::judge_closed() {
  add("peer_closed", Severity::kError, "has stopped in order",
      "the operator of the far gateway has stopped it", "start the far gateway again");
  note_event("peer_closed");
}

void PeerJudge::judge_silence() {
  const bool is_clock = count_of(counters_, "stale_epoch") > 0;
  add("peer_silent", Severity::kError,
      "was alive, and is silent now" + (is_clock ? " (" + times("stale_epoch") + ")" : ""),
      is_clock ? "the peer was restarted while its clock was set back, or the link is down"
               : "the link or the far gateway is down",
      is_clock ? "set the clock of the far machine by NTP; this gateway greets it within seconds"
               : "check the modems, and satrelayctl status at the far gateway");
  note_event("peer_silent");
}

void PeerJudge::judge_unheard() {
  if (count_of(facts_.gateway->status, "uptime_ms") < kGreetingMs) {
    add("peer_greeting", Severity::kInfo, "has not answered yet",
        "the gateway has been started less than 3 s ago", "ask again in a few seconds");
    return;
  }
  if (has_word(peer_, "next_hop", "unresolved")) return judge_unresolved();
  judge_unanswered();
}

void PeerJudge::judge_unresolved() {
  const auto& config = facts_.file.config;
  std::string keys = "gateway.address, gateway.next_hop and gateway.vlan";
  if (config) {
    keys = "gateway.address " + config->gateway.own.to_string();
    keys += config->gateway.next_hop ? ", next_hop " + config->gateway.next_hop->to_string()
                                     : ", no next_hop";
    keys += config->gateway.vlan ? ", vlan " + std::to_string(*config->gateway.vlan) : ", no vlan";
  }
  add("peer_no_next_hop", Severity::kError,
      "no station answers ARP or neighbour discovery for " + address() + ", or for the next hop",
      "the address or the subnet is wrong, only one end has a VLAN, the modem does not pass "
      "frames, "
      "or the WAN cable is in the wrong port",
      "compare at both ends: " + keys +
          "; satrelayctl capture --port wan --filter arp shows who "
          "asks and answers");
  note_event("peer_unheard");
}

void PeerJudge::judge_unanswered() {
  if (grows("packets_in")) {
    add("peer_one_way", Severity::kError,
        "sends packets (" + times("packets_in") + "), and does not answer the greetings",
        "packets of this gateway do not reach it: one direction of the link, a firewall, or the "
        "address of this gateway in the far file",
        "compare gateway.address here with peers[].address there; satrelayctl capture --port wan "
        "at both ends");
    return;
  }
  add("peer_no_packets", Severity::kError,
      "the next hop is resolved, and no packet has come from " + address(),
      "the far gateway does not run, or its file has another address for this one; or a firewall "
      "drops UDP, or a router has no way back",
      "satrelayctl status at the far gateway; let UDP port " + port_of_stp() +
          " pass in both directions; the same stp.port at both ends");
  note_event("peer_unheard");
}

// Several peers are down, and nothing shows which of them sends the stray packets.
void judge_strays(const Facts& facts, std::ptrdiff_t down, Findings& findings) {
  const std::uint64_t strangers = growth_in(facts, kFromStrangers);
  const std::uint64_t others = growth_in(facts, kToNobody);
  if (down < 2 || strangers + others == 0 || looks_exchanged(facts)) return;
  findings.push_back(
      {.check = "stray_packets",
       .severity = Severity::kWarning,
       .subject = "gateway",
       .seen = std::to_string(down) + " peers do not answer, and packets fit no peer (" +
               std::to_string(strangers) + ' ' + kFromStrangers + ", " + std::to_string(others) +
               ' ' + kToNobody + ')',
       .cause =
           "a far gateway has another address or stp.port than the files say, or a NAT changes "
           "it; or a stranger sends",
       .cure = "satrelayctl capture --port wan --filter udp shows the addresses; compare them with "
               "peers[].address at both ends",
       .page = kPageOfPeer});
}

}  // namespace

Findings judge_peers(const Facts& facts) {
  Findings findings;
  if (!facts.gateway) return findings;
  const std::ptrdiff_t down = count_down(facts);
  for (const Json& peer : facts.gateway->peers) PeerJudge(facts, peer, findings).judge(down == 1);
  judge_strays(facts, down, findings);
  return findings;
}

}  // namespace satrelay::ctl::doctor
