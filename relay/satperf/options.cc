#include "relay/satperf/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <ostream>

#include "config/text/format.h"
#include "config/text/units.h"
#include "relay/version/version.h"

namespace satrelay::satperf {
namespace {

constexpr std::string_view kExamples = R"(Examples:
  satperf server
  satperf client 192.0.2.2 --rate 50Mbit
  satperf client 192.0.2.2 --find
  satperf client far.example --rate 10Gbit --segment 9000 --bytes 180GB --buffer 4GiB --cpu 5
  satperf client 2001:db8::2 --rate 2Mbit --overhead ip --reverse --seconds 60 --json

Exit status: 0 complete, 1 failed, 2 bad options, 3 no server, 130 Ctrl-C, 143 SIGTERM.)";

[[noreturn]] void complain(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}
[[noreturn]] void complain_range(const std::string& option, const std::string& text,
                                 const std::string& range) {
  complain(option, config::in_quotes(text) + " is out of range; from " + range);
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t whole(const std::string& option, const std::string& text, std::uint64_t least,
                    std::uint64_t most) {
  const auto value = parse_whole(text);
  if (!value) complain(option, config::in_quotes(text) + " is not a whole number");
  if (*value < least || *value > most) {
    complain_range(option, text, std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

BitRate rate(const std::string& option, const std::string& text) {
  const auto value = config::parse_rate(text);
  if (!value) {
    complain(option, config::in_quotes(text) + " is not a rate; " + std::string(config::kRateHint));
  }
  if (value->to_bits_per_second() < 1'000 || value->to_bits_per_second() > 100'000'000'000) {
    complain_range(option, text, "1kbit to 100Gbit");
  }
  return *value;
}

ByteCount size(const std::string& option, const std::string& text, ByteCount least,
               ByteCount most) {
  const auto value = config::parse_size(text);
  if (!value) {
    complain(option, config::in_quotes(text) + " is not a size; " + std::string(config::kSizeHint));
  }
  if (*value < least || *value > most) {
    complain_range(option, text, config::to_text(least) + " to " + config::to_text(most));
  }
  return *value;
}

Duration duration(const std::string& option, const std::string& text, Duration least,
                  Duration most) {
  const auto value = config::parse_duration(text);
  if (!value) {
    complain(option,
             config::in_quotes(text) + " is not a time; " + std::string(config::kDurationHint));
  }
  if (*value < least || *value > most) {
    complain_range(option, text, config::to_text(least) + " to " + config::to_text(most));
  }
  return *value;
}

std::uint32_t overhead(const std::string& text) {
  if (text == "ip") return 0;
  if (text == "ethernet") return 38;
  const auto value = parse_whole(text);
  if (!value || *value > 1000) {
    complain("--overhead",
             config::in_quotes(text) + " is not an overhead; write ip, ethernet or 0 to 1000");
  }
  return static_cast<std::uint32_t>(*value);
}

stp::FeedbackMode feedback(const std::string& text) {
  if (text == "adaptive") return stp::FeedbackMode::kAdaptive;
  if (text == "hpfp") return stp::FeedbackMode::kHpfp;
  if (text == "m-nack") return stp::FeedbackMode::kMNack;
  complain("--feedback",
           config::in_quotes(text) + " is not a mode of reports; write adaptive, hpfp or m-nack");
}

config::Controller controller(const std::string& text) {
  using config::Controller;
  for (const Controller one : {Controller::kFixedRate, Controller::kHpfp, Controller::kTps,
                               Controller::kStp, Controller::kFind}) {
    if (text == config::to_string(one)) return one;
  }
  complain("--controller", config::in_quotes(text) +
                               " is not a controller; write fixed_rate, hpfp, tps, stp or find");
}

using Text = const std::string&;
// The defaults for --find: the highest rate that it tries, and the time that it takes for each
// direction. The default for --buffer follows from this rate.
constexpr BitRate kFindUpTo = BitRate::bits_per_second(1'000'000'000);
constexpr Duration kFindTime = Duration::seconds(25);
constexpr Duration kLongest = Duration::seconds(7 * 24 * 3600);

void add_common(CLI::App& app, Options& options) {
  app.add_option("--bind", options.bind, "Use this address of this machine")->type_name("ADDRESS");
  app.add_option_function<std::string>(
         "--port",
         [&](Text text) {
           options.port = static_cast<std::uint16_t>(whole("--port", text, 1, 65535));
         },
         "UDP port of the server; default 7879")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--buffer",
         [&](Text text) {
           options.buffer = size("--buffer", text, ByteCount(1 << 20), ByteCount(1ULL << 40));
         },
         "Memory for payload; default two seconds at the rate, at least 64MiB")
      ->type_name("SIZE");
  app.add_option_function<std::string>(
         "--timeout",
         [&](Text text) {
           options.timeout = duration("--timeout", text, Duration::milliseconds(100), kLongest);
         },
         "Longest silence of the other end; default 10s")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "--cpu",
         [&](Text text) { options.cpu = static_cast<unsigned>(whole("--cpu", text, 0, 1023)); },
         "Run on this CPU only")
      ->type_name("N");
  app.add_option("--output", options.output, "Write the report to FILE as well")->type_name("FILE");
  app.add_flag_callback(
      "--json", [&] { options.format = Format::kJson; }, "Report as JSON, one object a line");
  app.add_flag_callback(
      "--loss-report", [&] { options.losses = LossReport::kOn; },
      "Also report the losses of both ends, at the end");
}

void add_amount(CLI::App& app, Plan& plan) {
  CLI::Option* const bytes = app.add_option_function<std::string>(
      "--bytes",
      [&](Text text) {
        plan.bytes = size("--bytes", text, ByteCount(1), ByteCount(1ULL << 60)).value();
      },
      "Amount of payload to send, over all streams");
  app.add_option_function<std::string>(
         "--seconds",
         [&](Text text) {
           const std::string with_unit = parse_whole(text) ? text + "s" : text;
           plan.duration = duration("--seconds", with_unit, Duration::milliseconds(100), kLongest);
         },
         "Time to send: 10, 500ms, 2min; default 10")
      ->type_name("TIME")
      ->excludes(bytes->type_name("SIZE"));
}

void add_path(CLI::App& app, Plan& plan, std::optional<BitRate>& budget,
              std::optional<BitRate>& return_rate) {
  app.add_option_function<std::string>(
         "--rate", [&](Text text) { plan.rate = rate("--rate", text); },
         "Capacity of the path from sender to receiver; the sender paces to it from the first "
         "packet on. Required without --find")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--return-rate", [&](Text text) { return_rate = rate("--return-rate", text); },
         "Capacity of the path from receiver to sender; default as --rate")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--controller", [&](Text text) { plan.controller = controller(text); },
         "Controller of the sender's rate, up to --rate (docs/stp.md section 12); default "
         "fixed_rate")
      ->type_name("fixed_rate|hpfp|tps|stp|find");
  app.add_option_function<std::string>(
         "--feedback", [&](Text text) { plan.feedback = feedback(text); },
         "When the receiver reports (docs/stp.md section 7); default adaptive")
      ->type_name("adaptive|hpfp|m-nack");
  app.add_option_function<std::string>(
         "--feedback-budget", [&](Text text) { budget = rate("--feedback-budget", text); },
         "Highest rate of the receiver's reports; default 50kbit or 0.05% of --rate")
      ->type_name("RATE");
  app.add_option_function<std::string>(
         "--overhead", [&](Text text) { plan.overhead = overhead(text); },
         "Bytes that the link adds to each IP packet: ip (0), ethernet (38), or a number; default "
         "ethernet")
      ->type_name("ip|ethernet|N");
  app.add_option_function<std::string>(
         "--segment",
         [&](Text text) {
           plan.segment =
               static_cast<std::uint16_t>(whole("--segment", text, kSmallestSegment, 65535));
         },
         "Largest IP packet (the MTU), in bytes; default 1500")
      ->type_name("BYTES");
}

void add_client(CLI::App& app, Options& options, std::optional<BitRate>& budget,
                std::optional<BitRate>& return_rate) {
  Plan& plan = options.plan;
  app.add_option("ADDRESS", options.server, "Name or address of the server")
      ->type_name("")
      ->required();
  add_path(app, plan, budget, return_rate);
  add_amount(app, plan);
  app.add_flag("--find", options.find,
               "Find the capacity of the path, up and down, in a minute, and print the links: "
               "section of gateway.yaml; --rate is the highest rate that is tried, 1Gbit by "
               "default; --seconds is for each direction, 25 by default")
      ->excludes("--controller", "--return-rate", "--bytes");
  app.add_flag_callback(
         "--reverse", [&] { plan.direction = Direction::kReverse; }, "The server sends")
      ->excludes("--find");
  app.add_option_function<std::string>(
         "--streams",
         [&](Text text) {
           plan.streams = static_cast<std::uint32_t>(whole("--streams", text, 1, kMostStreams));
         },
         "Streams that share the rate; default 1")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--interval",
         [&](Text text) {
           plan.interval = duration("--interval", text, Duration::milliseconds(10), kLongest);
         },
         "Time between two reports, at both ends; default 1s")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "--crc-interval",
         [&](Text text) {
           plan.crc_interval =
               static_cast<std::uint32_t>(whole("--crc-interval", text, 0, 0xffffffff));
         },
         "The receiver checks the content of every Nth block of 64 KiB; default 1, 0 for none")
      ->type_name("N");
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv, std::ostream& out,
                            std::ostream& err) {
  Options options;
  std::optional<BitRate> budget;
  std::optional<BitRate> return_rate;
  CLI::App app("Measures a path with STP over UDP: throughput, round-trip time, loss.", "satperf");
  app.footer(std::string(kExamples));
  app.set_version_flag("--version", "satperf " + version_and_commit());
  app.require_subcommand(1);
  CLI::App* const server = app.add_subcommand("server", "Wait for clients, one after another");
  add_common(*server, options);
  server->add_flag("--once", options.once, "End after the first run, with its exit status");
  CLI::App* const client = app.add_subcommand("client", "Measure the path to a server");
  add_client(*client, options, budget, return_rate);
  add_common(*client, options);
  for (CLI::App* const each : {server, client}) each->footer(std::string(kExamples));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error, out, err);
      return {};
    }
    err << "satperf: " << error.what() << "\nsatperf --help says more\n";
    return {.options = std::nullopt, .exit = Exit::kBadOptions};
  }
  options.end = server->parsed() ? End::kServer : End::kClient;
  Plan& plan = options.plan;
  const bool has_rate = client->parsed() && client->count("--rate") > 0;
  if (client->parsed() && !has_rate && !options.find) {
    err << "satperf: --rate is required, or --find\nsatperf --help says more\n";
    return {.options = std::nullopt, .exit = Exit::kBadOptions};
  }
  if (options.find) {
    plan.controller = config::Controller::kFind;
    if (!has_rate) plan.rate = kFindUpTo;
    if (plan.duration == Duration::zero()) plan.duration = kFindTime;
  }
  if (plan.bytes == 0 && plan.duration == Duration::zero()) plan.duration = Duration::seconds(10);
  plan.return_rate = return_rate.value_or(plan.rate);
  plan.feedback_budget =
      budget.value_or(std::max(BitRate::bits_per_second(50'000), plan.rate.scaled(5, 10'000)));
  return {.options = options, .exit = Exit::kComplete};
}

}  // namespace satrelay::satperf
