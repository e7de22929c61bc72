#include "config/readers/read_rate_control.h"

#include <string>

#include "config/text/format.h"

namespace satrelay::config {
namespace {

constexpr Bounds<BitRate> kTarget{BitRate::bits_per_second(1'000),
                                  BitRate::bits_per_second(100'000'000'000)};
constexpr Bounds<Duration> kControlPeriod{Duration::milliseconds(20), Duration::seconds(10)};
constexpr Bounds<std::uint64_t> kWindow{4, 1'000'000};
constexpr Bounds<std::uint64_t> kPackets{1, 1'000'000};
constexpr Bounds<ByteCount> kBuffer{ByteCount(4096), ByteCount(16ULL << 30)};

// Shows a number of packets. `zero` is the text for 0.
auto packets_of(std::uint32_t RateControl::*member, const char* zero = "0") {
  return [member, zero](const RateControl& control) {
    const std::uint32_t packets = control.*member;
    return packets == 0 ? std::string(zero) : std::to_string(packets);
  };
}

std::string controller_of(const RateControl& control) {
  return to_string(control.controller == Controller::kFind ? Controller::kFixedRate
                                                           : control.controller);
}

}  // namespace

const Keys<RateControl>& control_keys() {
  constexpr const char* kFromRates = "from rate and round trip";
  // read_rate_control() reads all of these keys, because the allowed keys depend on the controller.
  static const Keys<RateControl> keys({
      key_of_section<RateControl>(
          {.name = "capacity",
           .help = "Whether the gateway finds the rate of the link by itself.",
           .allowed = "or find"},
          [](const RateControl& control) {
            return std::string(control.controller == Controller::kFind ? "find" : "known");
          }),
      key_of_section<RateControl>({.name = "controller",
                                   .help = "The controller that chooses the sending rate.",
                                   .allowed = "hpfp, tps or stp"},
                                  controller_of),
      key_of_section<RateControl>(
          {.name = "target",
           .help = "hpfp: the throughput to lead to.",
           .allowed = "1kbit to send_rate, for hpfp"},
          [](const RateControl& control) {
            return control.target.is_zero() ? "send_rate" : to_text(control.target);
          },
          "rate"),
      key_of_section<RateControl>(
          {.name = "period",
           .help = "hpfp: its control period.",
           .allowed = "20ms to 10s, for hpfp"},
          [](const RateControl& control) { return to_text(control.period); }, "time"),
      key_of_section<RateControl>({.name = "window",
                                   .help = "tps: the receive window.",
                                   .allowed = "4 to 1000000 packets, for tps"},
                                  packets_of(&RateControl::window, kFromRates), "packets"),
      key_of_section<RateControl>({.name = "initial_window",
                                   .help = "stp: the first window.",
                                   .allowed = "1 to 1000000 packets, for stp"},
                                  packets_of(&RateControl::initial_window), "packets"),
      key_of_section<RateControl>({.name = "threshold",
                                   .help = "stp: where slow start ends.",
                                   .allowed = "1 to 1000000 packets, for stp"},
                                  packets_of(&RateControl::threshold, "none"), "packets"),
      key_of_section<RateControl>({.name = "growth",
                                   .help = "stp: packets an ACK, below the threshold.",
                                   .allowed = "1 to 1000000, for stp"},
                                  packets_of(&RateControl::growth), "packets"),
      key_of_section<RateControl>({.name = "avoidance_growth",
                                   .help = "stp: packets a round trip, above the threshold.",
                                   .allowed = "1 to 1000000, for stp"},
                                  packets_of(&RateControl::avoidance_growth), "packets"),
      key_of_section<RateControl>(
          {.name = "buffer",
           .help = "stp: the buffer at either end; half of it is the window.",
           .allowed = "4KiB to 16GiB, for stp"},
          [](const RateControl& control) {
            return control.buffer == ByteCount(0) ? "from rate and round trip"
                                                  : to_text(control.buffer);
          },
          "size"),
  });
  return keys;
}

bool finds_capacity(const Fields& link) {
  const Value* const capacity = link.find("capacity");
  return capacity != nullptr && capacity->word<bool>({{"known", false}, {"find", true}});
}

namespace {

// Reads the parameters of a controller that is known or, if it is not, the values of all
// parameters.
class Parameters {
 public:
  Parameters(const Fields& link, RateControl& control) : link_(link), control_(control) {}

  template <typename Read>
  void read(const char* key, Controller of, Read&& read) const {
    link_.read(key, [&](const Value& value) {
      if (control_.controller != of && link_.are_sound({"controller", "capacity"})) {
        value.fail(std::string("is a parameter of controller ") + to_string(of) +
                   ", but this link's is " + to_string(control_.controller) + "; remove it");
      }
      read(value);
    });
  }
  void read_packets(const char* key, Controller of, Bounds<std::uint64_t> bounds,
                    std::uint32_t& out) const {
    read(key, of,
         [&](const Value& value) { out = static_cast<std::uint32_t>(value.integer(bounds)); });
  }

 private:
  const Fields& link_;
  const RateControl& control_;
};

BitRate read_target(const Value& value, MostRate most) {
  const BitRate target = value.rate(kTarget);
  if (target > most.rate) {
    value.fail(to_text(target) + " exceeds " + most.name + " " + to_text(most.rate) +
               "; write at most that");
  }
  return target;
}

}  // namespace

RateControl read_rate_control(const Fields& link, MostRate most) {
  RateControl control;
  bool finds = false;
  link.read("capacity", [&](const Value&) { finds = finds_capacity(link); });
  if (finds) {
    for (const Key<RateControl>& row : control_keys()) {
      const Value* const other = link.find(row.text.name);
      if (other == nullptr || row.text.name == "capacity") continue;
      other->tell(
          "contradicts capacity: find, which chooses the rate by itself; remove one of them");
    }
    control.controller = Controller::kFind;
    return control;
  }
  link.read("controller", [&](const Value& controller) {
    control.controller = controller.word<Controller>({{"fixed_rate", Controller::kFixedRate},
                                                      {"hpfp", Controller::kHpfp},
                                                      {"tps", Controller::kTps},
                                                      {"stp", Controller::kStp}});
  });
  const Parameters parameters(link, control);
  parameters.read("target", Controller::kHpfp,
                  [&](const Value& value) { control.target = read_target(value, most); });
  parameters.read("period", Controller::kHpfp,
                  [&](const Value& value) { control.period = value.duration(kControlPeriod); });
  parameters.read_packets("window", Controller::kTps, kWindow, control.window);
  parameters.read_packets("initial_window", Controller::kStp, kPackets, control.initial_window);
  parameters.read_packets("threshold", Controller::kStp, kPackets, control.threshold);
  parameters.read_packets("growth", Controller::kStp, kPackets, control.growth);
  parameters.read_packets("avoidance_growth", Controller::kStp, kPackets, control.avoidance_growth);
  parameters.read("buffer", Controller::kStp,
                  [&](const Value& value) { control.buffer = value.size(kBuffer); });
  return control;
}

}  // namespace satrelay::config
