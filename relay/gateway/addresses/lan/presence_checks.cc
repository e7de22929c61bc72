#include "relay/gateway/addresses/lan/presence_checks.h"

#include <algorithm>

#include "relay/gateway/addresses/lan/lan_address_hash.h"
#include "relay/gateway/addresses/lan/neighbour_question.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

PresenceChecks::PresenceChecks(Proof proof, HashKey key, const MacAddress& own_mac,
                               AwaitedAnswers& awaited, const FilteringDatabase& stations)
    : proof_(proof),
      key_(key),
      own_mac_(own_mac),
      awaited_(awaited),
      stations_(stations),
      checks_(kEntries) {
  questions_.reserve(kMostAsked);
  settled_.reserve(kMostAsked);
}

std::size_t PresenceChecks::place(const LanAddress& address, const MacAddress& mac,
                                  FarGatewayId peer) const {
  return hash_lan_address(key_, address, mac, peer.number()) % kEntries;
}

bool PresenceChecks::is_of(const Check& check, const LanAddress& address, const MacAddress& mac,
                           FarGatewayId peer) {
  return check.is_used && check.address == address && check.named.mac == mac && check.peer == peer;
}

bool PresenceChecks::is_known(const LanAddress& address, const MacAddress& mac, FarGatewayId peer,
                              Instant now) const {
  const Check& check = checks_[place(address, mac, peer)];
  return is_of(check, address, mac, peer) && (check.is_asked || now < check.asked + check.interval);
}

bool PresenceChecks::may_ask(Instant now) {
  constexpr Duration kEach = Duration::seconds(1) / kAskedPerSecond;
  const Instant next = later(asked_until_, now) + kEach;
  const bool is_full = questions_.size() + settled_.size() >= kMostAsked;
  if (is_full || next > now + kEach * std::int64_t{kMostAsked}) return false;
  asked_until_ = next;
  return true;
}

bool PresenceChecks::ask(const LanAddress& address, const NamedMac& named, FarGatewayId peer,
                         Instant now) {
  if (is_known(address, named.mac, peer, now)) return true;
  const std::size_t at = place(address, named.mac, peer);
  Check& check = checks_[at];
  const bool is_its = is_of(check, address, named.mac, peer);
  const bool is_held = check.is_used && (check.is_asked || now < check.changed + kKept);
  if ((is_held && !is_its) || !may_ask(now)) return false;
  if (!is_its) {
    check = {.address = address, .named = named, .peer = peer, .is_used = true};
  } else if (now < check.asked + check.interval * 2) {
    check.interval = std::min(check.interval * 2, kLongestInterval);
  } else {
    check.interval = kInterval;
  }
  check.is_asked = true;
  check.asked = now;
  questions_.push_back({.place = static_cast<std::uint16_t>(at),
                        .left = kTries - 1,
                        .due = true,
                        .next = now + kPatience});
  return true;
}

// With kAnything, a frame from the host that another worker has received also counts.
PresenceChecks::State PresenceChecks::silence_of(const Question& question) const {
  const Check& check = checks_[question.place];
  const bool was_heard =
      proof_ == Proof::kAnything &&
      stations_.was_heard_since(Side::kLan, {check.named.mac, check.named.vlans()}, check.asked);
  return was_heard ? State::kHere : State::kSilent;
}

// If a host could not be asked, its earlier result stays.
void PresenceChecks::settle(const Question& question, State state, Instant now) {
  Check& check = checks_[question.place];
  check.is_asked = false;
  if (state != State::kNone) {
    check.state = state;
    check.began = check.asked;
    check.changed = now;
  }
  settled_.push_back({question.place, state});
}

void PresenceChecks::hear_told(const AnnouncedOwner& told, const wire::EthernetHeader& seen,
                               Instant now) {
  if (questions_.empty()) return;
  const LanAddress address{told.host, vlans_of(seen)};
  // The answer to a solicitation with an unspecified source is sent to all nodes (RFC 4861 section
  // 7.2.4).
  const bool is_to_gateway = seen.destination == own_mac_ || !told.host.is_v4();
  std::erase_if(questions_, [&](const Question& question) {
    const Check& check = checks_[question.place];
    const bool is_proof = proof_ == Proof::kAnything ||
                          (question.has_left && is_to_gateway && told.mac == check.named.mac);
    if (check.address != address || !is_proof) return false;
    settle(question, State::kHere, now);
    return true;
  });
}

void PresenceChecks::hear_sender(const wire::EthernetHeader& seen, Instant now) {
  if (proof_ != Proof::kAnything) return;
  std::erase_if(questions_, [&](const Question& question) {
    const Check& check = checks_[question.place];
    const bool is_its = seen.source == check.named.mac &&
                        LanAddress{check.address.host, vlans_of(seen)} == check.address;
    if (is_its) settle(question, State::kHere, now);
    return is_its;
  });
}

std::optional<PresenceChecks::Settled> PresenceChecks::take_settled() {
  if (settled_.empty()) return std::nullopt;
  const Result result = settled_.back();
  settled_.pop_back();
  return Settled{checks_[result.place], result.state};
}

const PresenceChecks::Check* PresenceChecks::find(const LanAddress& address, const MacAddress& mac,
                                                  FarGatewayId peer, Instant now) const {
  const Check& check = checks_[place(address, mac, peer)];
  const bool is_fresh = check.state != State::kNone && now < check.changed + kKept;
  return is_fresh && is_of(check, address, mac, peer) ? &check : nullptr;
}

wire::EthernetHeader PresenceChecks::towards(const Check& check) const {
  return {.destination = check.named.mac,
          .source = own_mac_,
          .tags = check.named.tags,
          .tag_count = check.named.tag_count};
}

void PresenceChecks::handle_timeout(Instant now) {
  std::erase_if(questions_, [&](Question& question) {
    if (question.next > now) return false;
    // If the request was not sent, the silence shows nothing about the host.
    if (question.due || question.left == 0) {
      settle(question, question.due ? State::kNone : silence_of(question), now);
      return true;
    }
    --question.left;
    question.due = true;
    question.next = now + kPatience;
    return false;
  });
}

Instant PresenceChecks::next_timeout() const {
  if (!settled_.empty()) return {};
  Instant next = Instant::never();
  for (const Question& question : questions_) next = earlier(next, question.next);
  return next;
}

std::size_t PresenceChecks::poll_frame(MutableBytes out, Instant now) {
  const auto question = std::ranges::find(questions_, true, &Question::due);
  if (question == questions_.end()) return 0;
  question->due = false;
  question->has_left = true;
  question->next = now + kPatience;
  const Check& check = checks_[question->place];
  awaited_.await(check.address.host, check.named.mac, now);
  wire::EthernetHeader to_all = towards(check);
  to_all.destination = all_who_may_have(check.address.host);
  return write_neighbour_question(check.address.host, to_all, out);
}

}  // namespace satrelay::gateway
