// pep/tcp's endpoint as a host, in virtual time. It does what the owner of an endpoint must do, and
// no more.
#pragma once

#include <deque>
#include <memory>

#include "pep/base/arena.h"
#include "pep/tcp/endpoint.h"
#include "tests/conformance/host.h"
#include "tests/conformance/script.h"

namespace satrelay::conformance {

class EndpointHost final : public Host {
 public:
  explicit EndpointHost(const Settings& settings);

  Tolerance tolerance() const override;
  Instant now() override { return now_; }
  std::optional<Departure> wait_for_segment(Instant deadline) override;
  void deliver(std::vector<std::byte> segment, Ecn ecn) override;
  void deliver_too_big(std::uint32_t sequence, std::uint16_t mtu) override;
  void deliver_unreachable(std::uint32_t sequence, std::uint8_t code) override;
  void listen() override { listening_ = true; }
  void connect(const std::vector<Option>& offer, EcnOffered ecn) override;
  std::size_t write(ConstBytes bytes) override;
  std::size_t write_urgent(ConstBytes bytes) override;
  bool at_mark() override;
  std::size_t readable() override;
  std::vector<std::byte> read(std::size_t most) override;
  bool at_end() override;
  void shutdown() override;
  void abort() override;
  void forget_connection() override {}
  std::string state() override;
  std::string error() override;

 private:
  void begin_connection();
  void poll();

  tcp::Config config_;
  std::vector<std::byte> memory_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<tcp::Endpoint> endpoint_;
  std::uint64_t urgent_ = 0;   // Peer's stream offset up to which data is urgent.
  std::uint64_t written_ = 0;  // Bytes written to the endpoint.
  bool listening_ = false;
  Instant now_ = Instant::from_nanoseconds(5'000'000'000);
  std::deque<Departure> departures_;
};

}  // namespace satrelay::conformance
