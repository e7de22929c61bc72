#include "relay/satperf/server.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <optional>

#include "relay/satperf/machine.h"
#include "relay/satperf/request.h"
#include "relay/satperf/run_host.h"
#include "relay/satperf/udp_socket.h"

namespace satrelay::satperf {
namespace {

// Maximum time between two checks for signals.
constexpr Duration kLongestPause = Duration::milliseconds(200);
// If the client has been silent for this long, the server may serve another client instead.
constexpr Duration kMakeRoomAfter = Duration::seconds(3);
constexpr std::byte kFirstOfRequest{'s'};

class Server {
 public:
  Server(const Options& options, Output& output)
      : options_(options),
        report_(options.format, options.losses),
        output_(output),
        socket_(own_address(options)) {}

  Exit run() {
    output_.write(report_.notice("waiting for a client at " + own_address(options_).to_string()));
    while (true) {
      Instant now = monotonic_now();
      bool more = false;
      do {
        more = socket_.receive([&](ConstBytes datagram, const SocketAddress& from) {
          handle_datagram(datagram, from, now);
        });
        now = monotonic_now();
        if (host_) host_->turn(now);
      } while (more);
      const UdpSocket::Errors errors = socket_.take_errors();
      if (host_) host_->note_errors(errors);
      if (const auto signal = stop_signal()) {
        if (host_) {
          // All payload may have arrived while the client's CLOSE is still in flight.
          const bool complete = host_->run().state() == Run::State::kComplete;
          finish(complete ? Outcome::kComplete : Outcome::kInterrupted, "", now);
        }
        return *signal == SIGTERM ? Exit::kTerminated : Exit::kInterrupted;
      }
      if (host_) look_for_end(now);
      if (last_exit_ && options_.once) return *last_exit_;
      const Instant due = host_ ? host_->next_timeout() : Instant::never();
      socket_.wait(now, earlier(due, now + kLongestPause), host_ && host_->waits_for_room());
    }
  }

 private:
  static SocketAddress own_address(const Options& options) {
    return resolve(options.bind, options.port).front();
  }

  void handle_datagram(ConstBytes datagram, const SocketAddress& from, Instant now) {
    const bool known = host_ && from == host_->peer();
    if (known && datagram.front() != kFirstOfRequest) {
      host_->handle_datagram(datagram, now);
      return;
    }
    const RequestParse parse = parse_request(datagram);
    const std::uint64_t run = parse.request.run;
    switch (parse.kind) {
      case RequestParse::Kind::kForeign:
        if (known) host_->handle_datagram(datagram, now);
        return;
      case RequestParse::Kind::kVersion:
        return answer(run, Verdict::kVersion, from);
      case RequestParse::Kind::kImpossible:
        return answer(run, Verdict::kImpossible, from);
      case RequestParse::Kind::kGood:
        break;
    }
    if (run == run_) {
      // A repetition of an earlier request. If the run is over, the repeated request must not start
      // it again.
      if (known) answer(run, Verdict::kAccepted, from);
      return;
    }
    // A refused client exits, so a late copy of its request must not start a run.
    if (std::ranges::find(refused_, run) != refused_.end()) {
      return answer(run, Verdict::kBusy, from);
    }
    if (host_ && !known && host_->silence(now) < kMakeRoomAfter) {
      refused_[next_refused_++ % refused_.size()] = run;
      return answer(run, Verdict::kBusy, from);
    }
    if (host_) finish(Outcome::kFailed, "the client is gone, and another one asks", now);
    begin(parse.request, from, now);
  }

  void begin(const Request& request, const SocketAddress& from, Instant now) {
    const std::size_t mtu = interface_mtu(from);
    if (request.plan.sender() == End::kServer && mtu > 0 && mtu < request.plan.segment) {
      return answer(request.run, Verdict::kTooLarge, from);
    }
    if (!from.is_v4() && request.plan.segment < kSmallestSegmentV6) {
      return answer(request.run, Verdict::kImpossible, from);
    }
    RunConfig config;
    config.plan = request.plan;
    config.end = End::kServer;
    config.boot_epoch = wall_clock_nanoseconds();
    config.datagram_overhead = from.ip_and_udp_headers();
    run_ = request.run;
    answer(run_, Verdict::kAccepted, from);
    host_ = std::make_unique<RunHost>(config, options_.buffer, socket_, RunHost::Sockets::kShared,
                                      from, report_, output_, now);
  }

  void answer(std::uint64_t run, Verdict verdict, const SocketAddress& to) {
    socket_.send_one(write_answer({.run = run, .verdict = verdict}), &to);
  }

  void look_for_end(Instant now) {
    const Run& run = host_->run();
    const bool silent = host_->silence(now) >= options_.timeout;
    if (run.state() == Run::State::kEnded) {
      const bool complete = run.why().empty();
      finish(complete ? Outcome::kComplete : Outcome::kFailed, run.why(), now);
    } else if (silent && run.state() == Run::State::kComplete) {
      finish(Outcome::kComplete, "", now);
    } else if (silent) {
      finish(Outcome::kFailed, "the client has gone silent", now);
    }
  }

  void finish(Outcome outcome, const std::string& why, Instant now) {
    last_exit_ = host_->finish(outcome, why, now) ? Exit::kComplete : Exit::kFailed;
    host_.reset();
  }

  const Options& options_;
  Report report_;
  Output& output_;
  UdpSocket socket_;
  std::uint64_t run_ = 0;  // number of the run that was started last
  // Numbers of the last runs that were refused because the server was busy.
  std::array<std::uint64_t, 64> refused_{};
  std::size_t next_refused_ = 0;
  std::unique_ptr<RunHost> host_;
  std::optional<Exit> last_exit_;
};

}  // namespace

Exit run_server(const Options& options, Output& output) { return Server(options, output).run(); }

}  // namespace satrelay::satperf
