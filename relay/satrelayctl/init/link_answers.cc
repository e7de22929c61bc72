#include "relay/satrelayctl/init/link_answers.h"

#include <optional>
#include <string_view>

#include "config/readers/read_common.h"
#include "config/readers/read_links.h"
#include "config/text/format.h"
#include "config/text/units.h"
#include "relay/satrelayctl/init/overheads.h"

namespace satrelay::ctl::init {
namespace {

using config::Value;

constexpr std::string_view kNoRate = "none";

std::optional<BitRate> read_link_rate(const Value& value, const Answers& answers) {
  const bool is_none = value.text(config::kRateHint) == kNoRate;
  if (is_none && answers.finds_capacity) return std::nullopt;
  if (is_none) value.fail("is needed with capacity: known; " + std::string(config::kRateHint));
  return value.rate(config::kLinkRate);
}

std::string usual_rate(const Answers& answers, BitRate MeasuredLink::*direction) {
  if (answers.measured) return config::to_text((*answers.measured).*direction);
  return answers.finds_capacity ? std::string(kNoRate) : "";
}

}  // namespace

void read_overhead(const Value& value, Answers& answers, const Setting&) {
  std::string words;
  for (const Overhead& each : kOverheads) words += std::string(each.name) + ", ";
  const std::string hint =
      "write " + words + "or the bytes that the modem adds to each IP packet, 0 to 1000";
  answers.overhead_name = value.text(hint);
  if (const Overhead* const found = find_overhead(answers.overhead_name)) {
    answers.overhead = found->bytes;
    return;
  }
  if (answers.overhead_name.find_first_not_of("0123456789") != std::string::npos) {
    value.refuse("is not an overhead", hint);
  }
  answers.overhead = config::overhead().read(value);
}

std::string usual_capacity(const Answers& answers, const Setting&) {
  return answers.measured && !answers.measured->varies ? "known" : "find";
}

void read_capacity(const Value& value, Answers& answers, const Setting&) {
  answers.finds_capacity = value.word<bool>({{"known", false}, {"find", true}});
}

std::string usual_send_rate(const Answers& answers, const Setting&) {
  return usual_rate(answers, &MeasuredLink::send);
}

void read_send_rate(const Value& value, Answers& answers, const Setting&) {
  answers.send_rate = read_link_rate(value, answers);
}

std::string usual_receive_rate(const Answers& answers, const Setting&) {
  return usual_rate(answers, &MeasuredLink::receive);
}

void read_receive_rate(const Value& value, Answers& answers, const Setting&) {
  answers.receive_rate = read_link_rate(value, answers);
}

}  // namespace satrelay::ctl::init
