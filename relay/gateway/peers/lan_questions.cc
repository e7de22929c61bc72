#include "relay/gateway/peers/lan_questions.h"

#include <algorithm>

#include "relay/gateway/frames/address_fields.h"

namespace satrelay::gateway {

std::optional<AskedAddress> parse_lan_question(ConstBytes message) {
  ByteReader in(message);
  in.u8();
  const std::uint8_t version = in.u8();
  if (version != kIpVersion4 && version != kIpVersion6) return std::nullopt;
  AskedAddress asked;
  asked.host = read_address(in, version == kIpVersion4);
  for (std::uint16_t& vlan : asked.vlans) vlan = in.u16();
  return in.ok() ? std::optional(asked) : std::nullopt;
}

std::size_t write_lan_question(const AskedAddress& asked, MutableBytes out) {
  ByteWriter writer(out);
  writer.u8(LanQuestions::kMessage);
  writer.u8(asked.host.is_v4() ? kIpVersion4 : kIpVersion6);
  write_address(writer, asked.host);
  for (const std::uint16_t vlan : asked.vlans) writer.u16(vlan);
  return writer.written();
}

bool LanQuestions::ask(const AskedAddress& address, Instant now) {
  if (session_.peer_state() != stp::PeerState::kAlive || !are_understood()) return false;
  const auto is_asked = [&](const Question& each) { return each.address == address; };
  if (std::ranges::any_of(unanswered_, is_asked)) return true;
  drop_unanswered(now);
  if (unanswered_.size() == kMostUnanswered) return false;
  if (!has_pace(asked_until_, kMostUnanswered, now)) return false;
  std::array<std::byte, kMaxSize> bytes{};
  const std::size_t size = write_lan_question(address, bytes);
  const auto stream = messages_.open(ConstBytes(bytes).first(size), now);
  if (!stream) return false;
  unanswered_.push_back({*stream, address, now});
  return true;
}

void LanQuestions::drop_unanswered(Instant now) {
  std::erase_if(unanswered_, [&](const Question& question) {
    if (now < question.when + kPatience) return false;
    messages_.withdraw(question.stream, now);
    return true;
  });
}

// Allows one question per kBetween on average, and up to `most` at once.
bool LanQuestions::has_pace(Instant& until, int most, Instant now) {
  const Instant next = later(until, now) + kBetween;
  if (next > now + kBetween * most) return false;
  until = next;
  return true;
}

bool LanQuestions::handle_reset(stp::StreamId stream, stp::ResetReason reason) {
  const auto question = std::ranges::find(unanswered_, stream, &Question::stream);
  if (question == unanswered_.end()) return false;
  if (reason == stp::ResetReason::kInUse) found_ = question->address;
  unanswered_.erase(question);
  return true;
}

void LanQuestions::handle_opened(stp::StreamId stream, Instant now) {
  const bool agreed = are_understood();
  const auto asked =
      agreed ? parse_lan_question(session_.streams().metadata(stream)) : std::nullopt;
  if (asked && has_pace(heard_until_, kMostAtOnce, now)) {
    heard_ = {.stream = stream, .address = *asked, .when = now};
    return;
  }
  const auto unfit = agreed ? stp::ResetReason::kProtocolError : stp::ResetReason::kPolicy;
  session_.streams().reset(stream, asked ? stp::ResetReason::kNoResources : unfit, now);
}

void LanQuestions::answer(const Question& question, Answer answer, Instant now) {
  const auto reason = answer == Answer::kHere ? stp::ResetReason::kInUse : stp::ResetReason::kNone;
  session_.streams().reset(question.stream, reason, now);
}

}  // namespace satrelay::gateway
