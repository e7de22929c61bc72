#include "pep/stp/fec/fec.h"

#include <algorithm>

#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

void Fec::clear() {
  policy.clear();
  runs.clear();
  sender.clear();
  prompt.clear();
  waiting.clear();
  waiting.release_memory();
  receiver.clear();
  if (prompt_receiver) prompt_receiver->clear();
  peer_repaired = 0;
  repairable_flights = {};
  repairable_prompt.reset();
}

FecReceiver& Fec::receiver_of(FecCode code) {
  if (code == FecCode::kFlight) return receiver;
  if (!prompt_receiver) {
    prompt_receiver = std::make_unique<FecReceiver>(codec, budget, kKeptOfPrompt, max_datagram);
  }
  return *prompt_receiver;
}

void Fec::expire(Instant now) {
  receiver.expire(now);
  if (prompt_receiver) prompt_receiver->expire(now);
  if (!receiver.holds_memory()) waiting.release_memory();
}

Instant Fec::next_expiry() const {
  const Instant at = earlier(receiver.next_timeout(), receiver.idle_at());
  if (!prompt_receiver) return at;
  return earlier(at, earlier(prompt_receiver->next_timeout(), prompt_receiver->idle_at()));
}

FecReceiver::Counters Fec::received() const {
  FecReceiver::Counters all = receiver.counters();
  if (prompt_receiver) {
    const FecReceiver::Counters& more = prompt_receiver->counters();
    all.used += more.used;
    all.wasted += more.wasted;
    all.overload += more.overload;
    all.malformed += more.malformed;
  }
  return all;
}

std::uint64_t Fec::used_in_session() const {
  return receiver.used_in_session() +
         (prompt_receiver ? prompt_receiver->used_in_session() : std::uint64_t{0});
}

std::span<const Range> Fec::repairable(Instant then) {
  const std::span<const Range> flights = repairable_flights = sender.history().repairable(then);
  repairable_prompt = prompt.repairable(then);
  if (!repairable_prompt) return flights;
  // A range of one code may contain packet numbers of the other code. So ranges that overlap are
  // joined.
  Range whole = *repairable_prompt;
  all_repairable.clear();
  bool is_in = false;
  for (const Range& range : flights) {
    if (range.end < whole.begin) {
      all_repairable.push_back(range);
    } else if (range.begin > whole.end) {
      if (!is_in) all_repairable.push_back(whole);
      is_in = true;
      all_repairable.push_back(range);
    } else {
      whole = {std::min(whole.begin, range.begin), std::max(whole.end, range.end)};
    }
  }
  if (!is_in) all_repairable.push_back(whole);
  return all_repairable;
}

bool Fec::is_repairable(FecCode code, std::uint64_t number) const {
  const auto has = [number](const Range& range) {
    return range.begin <= number && number < range.end;
  };
  if (code == FecCode::kPrompt) return repairable_prompt && has(*repairable_prompt);
  const auto range = std::ranges::upper_bound(repairable_flights, number, {}, &Range::end);
  return range != repairable_flights.end() && has(*range);
}

FecSender::Purpose Fec::purpose_of(std::span<const SentItem> items, bool ends) {
  FecSender::Purpose purpose;
  purpose.ends = ends;
  bool has_data = false;
  for (const SentItem& item : items) {
    if (item.kind() == ItemKind::kOpen) purpose.opens = true;
    if (ends && has_data) continue;
    has_data = item.kind() == ItemKind::kData || item.kind() == ItemKind::kDataAndFin;
    purpose.stream = item.stream;
    purpose.generation = item.generation();
    purpose.has_stream = true;
  }
  return purpose;
}

std::optional<CodedPacket> coded_packet(ConstBytes frames) {
  if (frames.size() <= kCodedFrameSize ||
      load_u8(frames.data()) != static_cast<std::uint8_t>(FrameType::kCoded)) {
    return std::nullopt;
  }
  ByteReader in(frames.subspan(1));
  ByteReader body(in.bytes(in.u16()));
  const CodedFrame coded = parse_coded(body);
  if (!in.ok() || !body.ok()) return std::nullopt;
  return CodedPacket{coded, frames.subspan(kCodedFrameSize)};
}

}  // namespace satrelay::stp
