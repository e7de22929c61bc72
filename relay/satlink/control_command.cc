#include "relay/satlink/control_command.h"

#include "config/text/units.h"
#include "relay/ops/control/control_words.h"

namespace satrelay::satlink {
namespace {

using Words = ops::ControlWords<4>;

std::optional<Side> parse_side(std::string_view word) {
  if (word == "a_to_b") return Side::kAToB;
  if (word == "b_to_a") return Side::kBToA;
  if (word == "both") return Side::kBoth;
  return std::nullopt;
}

ControlParse fail(std::string_view what) { return {std::nullopt, std::string(what)}; }

ControlParse parse_set(const Words& words) {
  if (words.count() != 4) return fail("write: set a_to_b|b_to_a|both rate|loss VALUE");
  const auto side = parse_side(words[1]);
  if (!side) return fail("unknown direction; write a_to_b, b_to_a or both");
  const std::string_view value = words[3];
  if (words[2] == "rate") {
    if (value == "unlimited") return {SetRate{*side, BitRate()}, ""};
    const auto rate = config::parse_rate(value);
    const bool in_range = rate && rate->to_bits_per_second() >= 1'000 &&
                          rate->to_bits_per_second() <= 100'000'000'000;
    if (!in_range) return fail("rate: write 1kbit to 100Gbit, like 50Mbit, or unlimited");
    return {SetRate{*side, *rate}, ""};
  }
  if (words[2] == "loss") {
    const auto loss = config::parse_share(value);
    if (!loss || *loss > 1.0) return fail("loss: write a number from 0 to 1 or a percentage");
    return {SetLoss{*side, *loss}, ""};
  }
  return fail("unknown setting; write rate or loss");
}

ControlParse parse_outage(const Words& words) {
  constexpr std::string_view kUsage = "write: outage [a_to_b|b_to_a|both] on|off";
  if (words.count() != 2 && words.count() != 3) return fail(kUsage);
  const auto side = words.count() == 2 ? Side::kBoth : parse_side(words[1]);
  const std::string_view state = words[words.count() - 1];
  if (!side || (state != "on" && state != "off")) return fail(kUsage);
  return {SetOutage{*side, state == "on" ? Outage::kOn : Outage::kOff}, ""};
}

}  // namespace

const char* const kControlHelp =
    "set a_to_b|b_to_a|both rate VALUE    50Mbit, unlimited; for frames from now on\n"
    "set a_to_b|b_to_a|both loss VALUE    0.01 or 1%; replaces gilbert_elliott\n"
    "outage [a_to_b|b_to_a|both] on|off   lose all that is offered from now on\n"
    "counters                             all counters since start, one line of JSON\n"
    "help                                 this list\n"
    "quit                                 end this connection (satlink runs on)\n";

ControlParse parse_control_command(std::string_view line) {
  const Words words(line);
  if (words.count() == 0) return fail("empty line; write help for a list");
  if (words.too_many()) return fail("too many words; write help for a list");
  const std::string_view verb = words[0];
  if (verb == "set") return parse_set(words);
  if (verb == "outage") return parse_outage(words);
  if (words.count() == 1) {
    if (verb == "counters") return {ShowCounters{}, ""};
    if (verb == "help") return {ShowHelp{}, ""};
    if (verb == "quit") return {Quit{}, ""};
  }
  return fail("unknown command; write help for a list");
}

}  // namespace satrelay::satlink
