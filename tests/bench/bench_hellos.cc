// The cost for a gateway of a flood in the names of absent peers, in percent of a core. For
// comparison the same number of frames with wrong checksums is measured. Also counts the frames
// that the gateway sends.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/world/hello_crowd.h"

namespace satrelay::bench {
namespace {

using Bytes = HelloCrowd::Bytes;

struct Options {
  std::uint16_t peers = 300;
  std::uint8_t lanes = 8;
  std::size_t rate = 100'000;
  std::int64_t seconds = 5;
  std::size_t rounds = 3;
  bool quick = false;
};

// Makes different frames of one kind, in the names of all sessions in turn.
using Make = std::function<Bytes(HelloCrowd& crowd, std::size_t session, std::size_t i)>;

struct Kind {
  std::string name;
  HelloCrowd::Spec spec;
  bool in_order = false;  // In the order in which they are made, or in any order.
  std::size_t each = 32;  // Frames of each session.
  Make make;
};

std::vector<Bytes> frames_of(HelloCrowd& crowd, const Kind& kind) {
  std::vector<std::vector<Bytes>> by_session(crowd.sessions());
  for (std::size_t s = 0; s < crowd.sessions(); ++s) {
    for (std::size_t i = 0; i < kind.each; ++i) {
      by_session[s].push_back(crowd.frame_of(crowd.session(s), kind.make(crowd, s, i)));
    }
  }
  std::vector<Bytes> frames;
  for (std::size_t i = 0; i < kind.each; ++i) {
    for (std::vector<Bytes>& session : by_session) frames.push_back(std::move(session[i]));
  }
  if (!kind.in_order) {
    Random random(9);
    for (std::size_t i = frames.size(); i > 1; --i)
      std::swap(frames[i - 1], frames[random.below(i)]);
  }
  return frames;
}

// A recording of `boots` boots, with some HELLOs of each.
Make recording(std::size_t boots, std::size_t of_each) {
  return [boots, of_each, made = std::vector<Bytes>()](HelloCrowd& crowd, std::size_t session,
                                                       std::size_t i) mutable {
    if (i == 0) {
      made.clear();
      for (std::uint64_t boot = 0; boot < boots; ++boot) {
        for (Bytes& hello : crowd.recorded(crowd.session(session), 1'000 + boot, of_each)) {
          made.push_back(std::move(hello));
        }
      }
    }
    return made[i % made.size()];
  };
}

Bytes hello(HelloCrowd& crowd, std::size_t session) {
  return crowd.recorded(crowd.session(session), 1'000, 1).front();
}

std::vector<Kind> kinds(const Options& options) {
  const HelloCrowd::Spec keys{.peers = options.peers, .lanes = options.lanes};
  HelloCrowd::Spec none = keys, two = keys;
  none.encrypts = false;
  two.two_secrets = true;
  const Make wrong = [](HelloCrowd& crowd, std::size_t session, std::size_t) {
    return HelloCrowd::with_wrong_checksum(crowd.forged(hello(crowd, session)));
  };
  const Make wrong_in_the_clear = [](HelloCrowd& crowd, std::size_t session, std::size_t i) {
    return HelloCrowd::with_wrong_checksum(
        crowd.recorded(crowd.session(session), 1'000 + i, 1).front());
  };
  const Make forged = [](HelloCrowd& crowd, std::size_t session, std::size_t) {
    return crowd.forged(hello(crowd, session));
  };
  return {
      {"wrong checksum", keys, false, 32, wrong},
      {"offers with a wrong MAC", keys, false, 32, forged},
      {"the same, two secrets", two, false, 32, forged},
      {"acceptances with a wrong MAC", keys, false, 32,
       [](HelloCrowd& crowd, std::size_t session, std::size_t) {
         return crowd.forged_acceptance(hello(crowd, session), true);
       }},
      {"offers without a MAC", keys, false, 32,
       [](HelloCrowd& crowd, std::size_t session, std::size_t) {
         return HelloCrowd::without_mac(crowd.forged(hello(crowd, session)));
       }},
      {"acceptances without a MAC", keys, false, 32,
       [](HelloCrowd& crowd, std::size_t session, std::size_t) {
         return crowd.forged_acceptance(hello(crowd, session), false);
       }},
      {"one recorded HELLO", keys, false, 1, recording(1, 1)},
      {"recorded, 4 boots, any order", keys, false, 64, recording(4, 16)},
      {"recorded, 20 boots, any order", keys, false, 60, recording(20, 3)},
      {"recorded, 1 boot, each once", keys, true, 280, recording(1, 280)},
      {"packets of no session", keys, false, 32,
       [](HelloCrowd& crowd, std::size_t session, std::size_t) {
         return crowd.stranger(crowd.session(session), 300);
       }},
      {"security: none, wrong checksum", none, false, 32, wrong_in_the_clear},
      {"security: none, ever new boots", none, false, 32,
       [](HelloCrowd& crowd, std::size_t session, std::size_t i) {
         return crowd.recorded(crowd.session(session), 1'000 + i, 1).front();
       }},
      {"security: none, no session", none, false, 32,
       [](HelloCrowd& crowd, std::size_t session, std::size_t) {
         return crowd.stranger(crowd.session(session), 300);
       }},
  };
}

struct Flooded {
  std::unique_ptr<HelloCrowd> crowd;
  std::vector<Bytes> frames;
};

// Runs the flood until the gateway has done all that it may do at once.
Flooded begin(const Kind& kind, const Options& options) {
  Flooded flooded{std::make_unique<HelloCrowd>(kind.spec), {}};
  flooded.frames = frames_of(*flooded.crowd, kind);
  flooded.crowd->rest(Duration::seconds(options.seconds));
  flooded.crowd->flood(flooded.frames, options.rate,
                       options.quick ? Duration::milliseconds(100) : Duration::seconds(3));
  return flooded;
}

int run(int argc, char** argv) {
  CLI::App app("What a flood in the names of absent peers costs a gateway", "bench_hellos");
  Options options;
  std::string only;
  app.add_flag("--quick", options.quick, "few peers, a moment: figures that mean little");
  app.add_option("--rate", options.rate, "frames a second");
  app.add_option("--seconds", options.seconds, "of virtual time, a round");
  app.add_option("--rounds", options.rounds, "of which the fastest counts");
  app.add_option("--only", only, "kinds with this in their names");
  CLI11_PARSE(app, argc, argv);
  if (options.quick) {
    options = {.peers = 5, .lanes = 2, .rate = 10'000, .seconds = 1, .rounds = 1, .quick = true};
  }
  std::printf(
      "%u absent peers of %u lanes, %zu frames a second: percent of a core, fastest of %zu rounds\n"
      "of %lld s; more than with a wrong checksum; HELLOs sent a second.\n\n",
      unsigned{options.peers}, unsigned{options.lanes}, options.rate, options.rounds,
      static_cast<long long>(options.seconds));
  const Duration time = Duration::seconds(options.seconds);
  // With keys, and without.
  std::vector<Flooded> bases;
  const auto percent = [&](Flooded& flooded) {
    flooded.crowd->forget();
    flooded.crowd->flood(flooded.frames, options.rate, time);
    return 100 * flooded.crowd->seconds() / static_cast<double>(options.seconds);
  };
  for (const Kind& kind : kinds(options)) {
    const bool is_base = kind.name.ends_with("wrong checksum");
    if (!is_base && kind.name.find(only) == std::string::npos) continue;
    Flooded flooded = begin(kind, options);
    // In turn, so that a busy minute of the machine affects both.
    double base = 1e9, most = 1e9, sent = 0;
    for (std::size_t round = 0; round < options.rounds; ++round) {
      if (!is_base) base = std::min(base, percent(bases[kind.spec.encrypts ? 0 : 1]));
      most = std::min(most, percent(flooded));
      sent = std::max(sent, static_cast<double>(flooded.crowd->frames_out()) /
                                static_cast<double>(options.seconds));
    }
    std::printf("%-34s %6.2f %+6.2f %7.0f\n", kind.name.c_str(), most, is_base ? 0 : most - base,
                sent);
    std::fflush(stdout);
    if (is_base) bases.push_back(std::move(flooded));
  }
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) { return satrelay::bench::run(argc, argv); }
