#include "relay/satperf/client.h"

#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>

#include "config/text/format.h"
#include "relay/satperf/machine.h"
#include "relay/satperf/request.h"
#include "relay/satperf/run_host.h"
#include "relay/satperf/udp_socket.h"

namespace satrelay::satperf {
namespace {

constexpr Duration kAskEvery = Duration::milliseconds(250);
constexpr Duration kLookEvery = Duration::milliseconds(100);
// Maximum time between two checks for signals.
constexpr Duration kLongestWait = Duration::milliseconds(200);

Exit interrupted(int signal) { return signal == SIGTERM ? Exit::kTerminated : Exit::kInterrupted; }

class Client {
 public:
  Client(const Options& options, Output& output, const SenderWatch& watch)
      : options_(options),
        report_(options.format, options.losses),
        output_(output),
        watch_(watch) {}

  Exit run() {
    std::string why;
    try {
      for (const SocketAddress& address : resolve(options_.server, options_.port)) {
        why = try_server(address);
        if (why.empty()) return exit_;
        if (exit_ != Exit::kNoServer) break;
      }
    } catch (const Unreachable& error) {
      why = error.what();
    }
    output_.write(options_.format == Format::kJson ? report_.notice(why) : "");
    std::cerr << "satperf: " << why << '\n';
    return exit_;
  }

 private:
  // Asks the server at `address` for a run, and takes part in the run if the server accepts.
  // Returns the reason of a failure, otherwise "".
  std::string try_server(const SocketAddress& address) {
    exit_ = Exit::kNoServer;
    if (address.family() == AF_INET6 && !address.is_v4() &&
        options_.plan.segment < kSmallestSegmentV6) {
      exit_ = Exit::kBadOptions;
      return "--segment: over IPv6, packets have at least 1280 bytes";
    }
    const std::size_t mtu = interface_mtu(address);
    if (mtu > 0 && mtu < options_.plan.segment && options_.plan.sender() == End::kClient) {
      exit_ = Exit::kBadOptions;
      return "--segment: packets of " + std::to_string(options_.plan.segment) +
             " bytes are too large for the interface towards " + address.to_string() +
             ", which has an MTU of " + std::to_string(mtu);
    }
    try {
      connect(address);
    } catch (const Unreachable& error) {  // another address may work
      return error.what();
    }
    if (std::string why = ask(address); !why.empty() || exit_ != Exit::kComplete) return why;
    return measure(address);
  }

  void connect(const SocketAddress& address) {
    socket_.reset();
    if (options_.bind.empty()) {
      sockaddr_storage any{};
      any.ss_family = static_cast<sa_family_t>(address.family());
      socket_ = std::make_unique<UdpSocket>(
          SocketAddress(reinterpret_cast<const sockaddr*>(&any), address.size()));
    } else {
      const auto own = resolve(options_.bind, 0);
      const auto fitting = std::ranges::find(own, address.family(), &SocketAddress::family);
      if (fitting == own.end()) {
        throw BadOption("--bind " + options_.bind + " is of another family than " +
                        address.to_string());
      }
      socket_ = std::make_unique<UdpSocket>(*fitting);
    }
    socket_->connect(address);
  }

  // Repeats the request until the server answers. If the server accepts, sets exit_ to kComplete
  // and returns "". If a stop signal arrives, also returns "". Otherwise returns the reason.
  std::string ask(const SocketAddress& address) {
    const std::uint64_t run = random_number() | 1U;  // never 0
    const auto request = write_request({.run = run, .plan = options_.plan});
    const Instant give_up = monotonic_now() + options_.timeout;
    Instant next_ask = monotonic_now();
    std::optional<Answer> answer;
    while (true) {
      const Instant now = monotonic_now();
      if (const auto signal = stop_signal()) {
        exit_ = interrupted(*signal);
        return "";
      }
      if (now >= give_up) {
        return "no satperf server answers at " + address.to_string() + " within " +
               config::to_text(options_.timeout);
      }
      if (now >= next_ask) {
        socket_->send_one(request, nullptr);
        next_ask = now + kAskEvery;
      }
      socket_->wait(now, earlier(next_ask, give_up), false);
      socket_->receive([&](ConstBytes datagram, const SocketAddress&) {
        const auto parsed = parse_answer(datagram);
        if (parsed && parsed->run == run) answer = parsed;
      });
      const UdpSocket::Errors errors = socket_->take_errors();
      if (errors.refused) return "no satperf server listens at " + address.to_string();
      if (errors.last != 0) {
        return "cannot reach " + address.to_string() + ": " + std::strerror(errors.last);
      }
      if (answer) return explain(answer->verdict, address);
    }
  }

  std::string explain(Verdict verdict, const SocketAddress& address) {
    const std::string server = "the server at " + address.to_string();
    switch (verdict) {
      case Verdict::kAccepted:
        exit_ = Exit::kComplete;
        return "";
      case Verdict::kBusy:
        return server + " is busy with another client";
      case Verdict::kVersion:
        return server + " runs another version of satperf";
      case Verdict::kImpossible:
        return server + " does not support what was asked for";
      case Verdict::kTooLarge:
        return server + " has an interface that cannot carry packets of " +
               std::to_string(options_.plan.segment) + " bytes; see --segment";
    }
    return server + " refuses";
  }

  void look_at_sender(const Run& run, Instant now) {
    if (!watch_ || run.began().is_never() || now < next_look_) return;
    next_look_ = now + kLookEvery;
    if (options_.plan.sender() == End::kClient) {
      watch_(run.snapshot(now));
    } else if (run.remote()) {
      watch_(*run.remote());
    }
  }

  std::string measure(const SocketAddress& address) {
    RunConfig config;
    config.plan = options_.plan;
    config.end = End::kClient;
    config.boot_epoch = wall_clock_nanoseconds();
    config.datagram_overhead = address.ip_and_udp_headers();
    RunHost host(config, options_.buffer, *socket_, RunHost::Sockets::kConnected, address, report_,
                 output_, monotonic_now());
    while (true) {
      Instant now = monotonic_now();
      bool more = false;
      do {
        more = socket_->receive([&](ConstBytes datagram, const SocketAddress&) {
          if (!parse_answer(datagram)) host.handle_datagram(datagram, now);
        });
        now = monotonic_now();
        host.turn(now);
      } while (more);
      look_at_sender(host.run(), now);
      const UdpSocket::Errors errors = socket_->take_errors();
      host.note_errors(errors);
      if (const auto signal = stop_signal()) {
        host.finish(Outcome::kInterrupted, "", now);
        exit_ = interrupted(*signal);
        return "";
      }
      if (host.run().state() == Run::State::kComplete) {
        exit_ = host.finish(Outcome::kComplete, "", now) ? Exit::kComplete : Exit::kFailed;
        return "";
      }
      std::string why;
      if (host.run().state() == Run::State::kEnded) {
        why = host.run().why();
      } else if (errors.refused) {
        why = "the server is gone: no program listens at " + address.to_string();
      } else if (host.silence(now) >= options_.timeout) {
        why = "nothing heard from " + address.to_string() + " for " +
              config::to_text(options_.timeout);
      }
      if (!why.empty()) {
        const bool began = !host.run().began().is_never();
        host.finish(Outcome::kFailed, why, now);
        exit_ = began ? Exit::kFailed : Exit::kNoServer;
        return why;
      }
      socket_->wait(now, earlier(host.next_timeout(), now + kLongestWait), host.waits_for_room());
    }
  }

  const Options& options_;
  Report report_;
  Output& output_;
  const SenderWatch& watch_;
  Instant next_look_;
  std::unique_ptr<UdpSocket> socket_;
  Exit exit_ = Exit::kNoServer;
};

}  // namespace

Exit run_client(const Options& options, Output& output, const SenderWatch& watch) {
  return Client(options, output, watch).run();
}

}  // namespace satrelay::satperf
