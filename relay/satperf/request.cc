#include "relay/satperf/request.h"

#include <algorithm>

namespace satrelay::satperf {
namespace {

constexpr std::uint64_t kAsks = 0x7361747065726600U | '?';     // "satperf?"
constexpr std::uint64_t kAnswers = 0x7361747065726600U | '!';  // "satperf!"
constexpr auto kLastDirection = static_cast<std::uint8_t>(Direction::kReverse);
constexpr auto kLastFeedback = static_cast<std::uint8_t>(stp::FeedbackMode::kMNack);
constexpr auto kLastController = static_cast<std::uint8_t>(config::Controller::kFind);
constexpr Duration kLongestRun = Duration::seconds(7 * 24 * 3600);
constexpr BitRate kFastest = BitRate::bits_per_second(100'000'000'000);
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

bool possible(const Plan& plan) {
  const auto rate_possible = [](BitRate rate) { return !rate.is_zero() && rate <= kFastest; };
  return rate_possible(plan.rate) && rate_possible(plan.return_rate) &&
         rate_possible(plan.feedback_budget) && plan.overhead <= 1000 &&
         plan.segment >= kSmallestSegment && plan.bytes <= kMostBytes &&
         plan.duration >= Duration::zero() && plan.duration <= kLongestRun &&
         (plan.bytes > 0) != (plan.duration > Duration::zero()) && plan.streams >= 1 &&
         plan.streams <= kMostStreams && plan.interval >= Duration::milliseconds(10) &&
         plan.interval <= kLongestRun;
}

}  // namespace

std::array<std::byte, kRequestSize> write_request(const Request& request) {
  std::array<std::byte, kRequestSize> bytes{};
  ByteWriter out(bytes);
  const Plan& plan = request.plan;
  out.u64(kAsks);
  out.u8(kRequestVersion);
  out.u64(request.run);
  out.u8(static_cast<std::uint8_t>(plan.direction));
  out.u8(static_cast<std::uint8_t>(plan.feedback));
  out.u8(static_cast<std::uint8_t>(plan.controller));
  out.u64(plan.rate.to_bits_per_second());
  out.u64(plan.return_rate.to_bits_per_second());
  out.u64(plan.feedback_budget.to_bits_per_second());
  out.u64(plan.bytes);
  out.u32(plan.overhead);
  out.u16(plan.segment);
  out.u64(static_cast<std::uint64_t>(plan.duration.to_nanoseconds()));
  out.u32(plan.streams);
  out.u32(plan.crc_interval);
  out.u64(static_cast<std::uint64_t>(plan.interval.to_nanoseconds()));
  return bytes;
}

RequestParse parse_request(ConstBytes datagram) {
  RequestParse parse;
  ByteReader in(datagram);
  if (in.u64() != kAsks) return parse;
  const std::uint8_t version = in.u8();
  parse.request.run = in.u64();
  if (!in.ok()) return parse;
  if (version != kRequestVersion) {
    parse.kind = RequestParse::Kind::kVersion;
    return parse;
  }
  const std::uint8_t direction = in.u8();
  const std::uint8_t feedback = in.u8();
  const std::uint8_t controller = in.u8();
  Plan plan;
  plan.direction = direction == 0 ? Direction::kForward : Direction::kReverse;
  plan.feedback = stp::FeedbackMode{feedback};
  plan.controller = config::Controller{controller};
  plan.rate = BitRate::bits_per_second(in.u64());
  plan.return_rate = BitRate::bits_per_second(in.u64());
  plan.feedback_budget = BitRate::bits_per_second(in.u64());
  plan.bytes = in.u64();
  plan.overhead = in.u32();
  plan.segment = in.u16();
  plan.duration = Duration::nanoseconds(static_cast<std::int64_t>(in.u64()));
  plan.streams = in.u32();
  plan.crc_interval = in.u32();
  plan.interval = Duration::nanoseconds(static_cast<std::int64_t>(in.u64()));
  if (!in.ok() || in.remaining() != 0 || direction > kLastDirection || feedback > kLastFeedback ||
      controller > kLastController || !possible(plan)) {
    parse.kind = RequestParse::Kind::kImpossible;
    return parse;
  }
  parse.kind = RequestParse::Kind::kGood;
  parse.request.plan = plan;
  return parse;
}

std::array<std::byte, kAnswerSize> write_answer(const Answer& answer) {
  std::array<std::byte, kAnswerSize> bytes{};
  ByteWriter out(bytes);
  out.u64(kAnswers);
  out.u8(kRequestVersion);
  out.u64(answer.run);
  out.u8(static_cast<std::uint8_t>(answer.verdict));
  return bytes;
}

std::optional<Answer> parse_answer(ConstBytes datagram) {
  ByteReader in(datagram);
  if (in.u64() != kAnswers) return std::nullopt;
  const std::uint8_t version = in.u8();
  Answer answer;
  answer.run = in.u64();
  const std::uint8_t verdict = in.u8();
  if (!in.ok()) return std::nullopt;
  const bool known = version == kRequestVersion && verdict <= kLastVerdict;
  answer.verdict = known ? Verdict{verdict} : Verdict::kVersion;
  return answer;
}

}  // namespace satrelay::satperf
