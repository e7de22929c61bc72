#include "relay/satperf/find.h"

#include <cstdint>
#include <iostream>

#include "config/text/format.h"
#include "relay/satperf/client.h"
#include "relay/satperf/found_link.h"
#include "relay/satperf/report.h"

namespace satrelay::satperf {
namespace {

// The controller may need this time, in nanoseconds, to search for the rate. A rate that it finds
// earlier in the run is used only if it finds no rate later.
constexpr std::uint64_t kSettled = 5'000'000'000;

}  // namespace

Exit find_link(const Options& options, Output& output) {
  const Report report(options.format, options.losses);
  FoundLink link;
  link.ceiling = options.plan.rate;
  link.overhead = options.plan.overhead;
  struct Way {
    Direction direction;
    const char* text;
    FoundRate& rate;
  };
  for (const Way& way :
       {Way{Direction::kForward, "1 of 2, up: this end sends", link.sent},
        Way{Direction::kReverse, "2 of 2, down: the server sends", link.received}}) {
    Options one = options;
    FoundRate& rate = way.rate;
    one.plan.direction = way.direction;
    output.write(
        report.notice(std::string(way.text) + " for " + config::to_text(one.plan.duration)));
    BitRate early;
    CarriedRate carried(kSettled, one.plan.duration, link.overhead);
    const Exit exit = run_client(one, output, [&](const Snapshot& sender) {
      const BitRate found = BitRate::bits_per_second(sender.capacity_bps);
      if (sender.time_ns < kSettled) {
        early = found;
      } else {
        rate.add(found);
      }
      carried.look(sender);
      rate.set_carried(carried.rate());
      if (sender.rtt_us > 0) link.rtt_us = sender.rtt_us;
    });
    if (exit != Exit::kComplete) return exit;
    if (!rate.is_found()) rate.add(early);
    if (!rate.is_found()) {
      const std::string why = "the capacity of the path was not found: too little has arrived";
      output.write(options.format == Format::kJson ? report.notice(why) : "");
      std::cerr << "satperf: " << why << '\n';
      return Exit::kFailed;
    }
  }
  output.write(describe(link, options.format));
  return Exit::kComplete;
}

}  // namespace satrelay::satperf
