#include "relay/gateway/addresses/lan/lan_neighbours.h"

#include <algorithm>

#include "config/model/peers.h"
#include "relay/gateway/addresses/lan/neighbour_question.h"
#include "relay/gateway/frames/neighbours/announced_owner.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kInterval = Duration::seconds(1);
// How long an owner may take to answer an ARP request or a neighbour solicitation.
constexpr Duration kPatienceWithOwner = Duration::milliseconds(500);

bool is_packet(const Frame& frame) {
  return frame.kind != FrameKind::kMalformed && frame.kind != FrameKind::kNotIp &&
         frame.kind != FrameKind::kArp;
}

}  // namespace

LanNeighbours::LanNeighbours(const config::Gateway& config, const Policy& policy, HashKey key,
                             const MacAddress& own_mac, AwaitedAnswers& awaited, Counters& counters)
    : policy_(policy),
      key_(key),
      any_(config::has_peers_behind_routers(config)),
      owners_(key),
      destinations_(key),
      own_mac_(own_mac),
      awaited_(awaited),
      counters_(counters) {
  for (const config::Peer& peer : config.peers) {
    routed_.push_back(config::is_behind_router(config, peer));
  }
  if (any_) entries_.resize(kEntries);
  questions_.reserve(2 * kQuestions);
}

std::size_t LanNeighbours::place(const IpAddress& host) const {
  FlowKey flow;
  flow.local = host;
  return hash_flow(key_, flow) % kEntries;
}

std::optional<wire::EthernetHeader> LanNeighbours::find(const IpAddress& host, Instant now) const {
  if (!any_) return std::nullopt;
  const Entry& entry = entries_[place(host)];
  const bool known = is_valid(entry, now) && entry.source != Source::kWan && entry.host == host;
  return known ? std::optional(entry.towards) : std::nullopt;
}

bool LanNeighbours::is_far(const IpAddress& host) const {
  const auto peer = policy_.peer_for(host);
  return peer && routed_[*peer];
}

LanNeighbours::Heard LanNeighbours::put(const IpAddress& host,
                                        const wire::EthernetHeader& towards) {
  entries_[place(host)] = {.host = host, .towards = towards, .source = Source::kLan};
  std::erase_if(questions_,
                [&](const Question& question) { return question.host == host && !question.own; });
  return {host, towards};
}

// An ARP reply shows the host's MAC, but not to which MAC of the router the host sends. So an entry
// that the LAN has shown for this VLAN keeps its router MAC. Any other entry gets `router_`, the
// MAC to which this gateway itself sends.
std::optional<LanNeighbours::Heard> LanNeighbours::put_mac(const IpAddress& host,
                                                           const MacAddress& mac,
                                                           const wire::EthernetHeader& seen) {
  if (mac.is_multicast() || mac == MacAddress() || mac == router_) return std::nullopt;
  wire::EthernetHeader towards = seen;
  const Entry& known = entries_[place(host)];
  const bool same =
      known.source == Source::kLan && known.host == host && known.towards.tags == seen.tags;
  towards.source = same ? known.towards.source : router_;
  towards.destination = mac;
  return put(host, towards);
}

std::optional<LanNeighbours::Heard> LanNeighbours::learn_from_lan(const Frame& frame, Instant now) {
  if (const auto told = announced_owner(frame)) {
    const auto claim = told->replaces == AnnouncedOwner::Override::kSet
                           ? LanOwners::Claim::kReplaces
                           : LanOwners::Claim::kReplacesNone;
    hear_owner(told->host, told->mac, claim, frame.ethernet, now);
    return any_ ? put_mac(told->host, told->mac, frame.ethernet) : std::nullopt;
  }
  if (!any_ || !is_packet(frame)) return std::nullopt;
  const wire::EthernetHeader& seen = frame.ethernet;
  if (seen.source.is_multicast() || seen.destination.is_multicast() ||
      !is_far(frame.ip.destination)) {
    return std::nullopt;
  }
  return put(frame.ip.source, seen.reversed());
}

void LanNeighbours::note_from_wan(const Frame& frame, Instant now) {
  if (!any_ || !is_packet(frame) || frame.ethernet.destination.is_multicast()) return;
  Entry& entry = entries_[place(frame.ip.destination)];
  if (is_valid(entry, now) || !is_far(frame.ip.source) || is_far(frame.ip.destination)) return;
  entry = {.host = frame.ip.destination,
           .towards = frame.ethernet,
           .source = Source::kWan,
           .until = now + kNoted};
}

// --- questions ---------------------------------------------------------------------------------

void LanNeighbours::ask(const IpAddress& host, Instant now) {
  const auto is_asked = [&](const Question& question) {
    return question.host == host && !question.own;
  };
  if (std::ranges::any_of(questions_, is_asked)) return;
  if (questions_.size() - own_questions_ == kQuestions) {
    const auto is_of_router = [](const Question& question) { return !question.own; };
    questions_.erase(std::ranges::find_if(questions_, is_of_router));
  }
  questions_.push_back(
      {.host = host, .began = now, .next = now + kInterval, .left = kTries - 1, .due = true});
}

void LanNeighbours::hear_owner(const IpAddress& host, const MacAddress& mac, LanOwners::Claim claim,
                               const wire::EthernetHeader& seen, Instant now) {
  if (mac == own_mac_ || mac == router_) return;
  const LanAddress address{host, vlans_of(seen)};
  const bool may_be_asked_for = own_questions_ > 0 && owners_.owner(address) == nullptr;
  switch (owners_.hear(address, {mac, seen.tags, seen.tag_count}, claim, now)) {
    case LanOwners::News::kNone:
      if (may_be_asked_for && owners_.owner(address) != nullptr) forget(address);
      break;
    case LanOwners::News::kAskOwner:
      ask_owner(address, now);
      break;
    case LanOwners::News::kAnswered:
      counters_.add(Counter::kLanMovesDisputed);
      forget(address);
      break;
  }
}

void LanNeighbours::forget(const LanAddress& address) {
  own_questions_ -= std::erase_if(questions_, [&](const Question& question) {
    return question.own && LanAddress{question.host, vlans_of(*question.own)} == address;
  });
}

void LanNeighbours::ask(const LanAddress& address, const wire::EthernetHeader& own,
                        std::uint8_t tries, Instant now) {
  questions_.push_back({.host = address.host,
                        .began = now,
                        .next = now + kInterval,
                        .left = static_cast<std::uint8_t>(tries - 1),
                        .due = true,
                        .own = own});
  ++own_questions_;
}

bool LanNeighbours::may_ask(Instant now) {
  constexpr Duration kEach = Duration::seconds(1) / kAskedPerSecond;
  const Instant next = later(asked_until_, now) + kEach;
  if (own_questions_ >= kQuestions || next > now + kEach * std::int64_t{kQuestions}) return false;
  asked_until_ = next;
  return true;
}

std::size_t LanNeighbours::questions_to_all() const {
  return static_cast<std::size_t>(std::ranges::count_if(questions_, [](const Question& question) {
    return question.own && question.own->destination.is_multicast();
  }));
}

void LanNeighbours::ask_owner(const LanAddress& address, Instant now) {
  if (!may_ask(now)) {
    counters_.add(Counter::kLanMovesUnasked);
    owners_.unasked(address, now);
    return;
  }
  const NamedMac& owner = *owners_.owner(address);
  ask(address,
      {.destination = owner.mac,
       .source = own_mac_,
       .tags = owner.tags,
       .tag_count = owner.tag_count},
      kTriesOfOwner, now);
}

void LanNeighbours::ask_for_owner(const LanAddress& address, const wire::EthernetHeader& tried,
                                  Instant now) {
  if (owners_.owner(address) != nullptr) return;
  const auto is_asked = [&](const Question& question) {
    return question.own && LanAddress{question.host, vlans_of(*question.own)} == address;
  };
  if (own_questions_ > 0 && std::ranges::any_of(questions_, is_asked)) return;
  if (questions_to_all() >= kQuestionsToAll || !may_ask(now)) {
    counters_.add(Counter::kLanMovesUnasked);
    return;
  }
  wire::EthernetHeader to_all = tried;
  to_all.source = own_mac_;
  to_all.destination = all_who_may_have(address.host);
  ask(address, to_all, 1, now);
}

bool LanNeighbours::is_silent_since(const IpAddress& host, Instant then) const {
  return std::ranges::any_of(silences_, [&](const Silence& silence) {
    return silence.host == host && silence.asked_from >= then;
  });
}

// A request was not answered in time. If it was sent to the owner alone, the owner has moved. If it
// could not be sent, the silence shows nothing.
void LanNeighbours::end_question(const Question& own, Instant now) {
  const LanAddress address{own.host, vlans_of(*own.own)};
  --own_questions_;
  if (own.due) {
    counters_.add(Counter::kLanMovesUnasked);
    owners_.unasked(address, now);
  } else if (!own.own->destination.is_multicast()) {
    counters_.add(Counter::kLanMoves);
    owners_.unanswered(address, now);
    has_moved_ = true;
  }
}

void LanNeighbours::handle_timeout(Instant now) {
  std::erase_if(questions_, [&](Question& question) {
    if (question.next > now) return false;
    if (question.own && (question.due || question.left == 0)) {
      end_question(question, now);
      return true;
    }
    if (question.left == 0) {
      // If the last request was not sent, this machine was stalled, and the silence says nothing
      // about the host.
      if (!question.due) silences_[next_silence_++ % kQuestions] = {question.host, question.began};
      return true;
    }
    --question.left;
    question.due = true;
    question.falls_back = question.left == 0 && !question.own;
    question.next = now + kInterval;
    return false;
  });
}

std::optional<LanNeighbours::Heard> LanNeighbours::take_unanswered(Instant now) {
  const auto question = std::ranges::find(questions_, true, &Question::falls_back);
  if (question == questions_.end()) return std::nullopt;
  question->falls_back = false;
  Entry& entry = entries_[place(question->host)];
  if (!is_valid(entry, now) || entry.host != question->host) return std::nullopt;
  if (entry.source == Source::kWan) {
    entry.source = Source::kUnanswered;
    entry.until = now + kNoted;
  }
  return Heard{entry.host, entry.towards};
}

Instant LanNeighbours::next_timeout() const {
  Instant next = Instant::never();
  for (const Question& question : questions_) {
    next = earlier(next, question.falls_back ? Instant() : question.next);
  }
  return next;
}

std::size_t LanNeighbours::poll_frame(MutableBytes out, Instant now) {
  const auto question = std::ranges::find(questions_, true, &Question::due);
  if (question == questions_.end()) return 0;
  question->due = false;
  wire::EthernetHeader ethernet;
  if (question->own) {
    ethernet = *question->own;
    const bool is_to_all = ethernet.destination.is_multicast();
    if (!is_to_all) awaited_.await(question->host, ethernet.destination, now);
    question->next = now + (is_to_all ? kInterval : kPatienceWithOwner);
  } else {
    ethernet.source = router_;
    ethernet.destination = all_who_may_have(question->host);
  }
  return write_neighbour_question(question->host, ethernet, out);
}

}  // namespace satrelay::gateway
