// This machine's kernel as a host, in real time. Its sockets are on one side, a TUN device on the
// other. The process must be in a network namespace of its own (enter_own_namespace()).
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/host.h"
#include "tests/conformance/script.h"
#include "tests/conformance/tun.h"

namespace satrelay::conformance {

class KernelHost final : public Host {
 public:
  // Throws std::exception if the machine does not allow it.
  explicit KernelHost(const Script& script);
  ~KernelHost() override;

  Tolerance tolerance() const override;
  Instant now() override { return monotonic_now(); }
  std::optional<Departure> wait_for_segment(Instant deadline) override;
  void deliver(std::vector<std::byte> segment, Ecn ecn) override;
  void deliver_too_big(std::uint32_t sequence, std::uint16_t mtu) override;
  void deliver_unreachable(std::uint32_t sequence, std::uint8_t code) override;
  void listen() override;
  void connect(const std::vector<Option>& offer, EcnOffered ecn) override;
  std::size_t write(ConstBytes bytes) override;
  std::size_t write_urgent(ConstBytes bytes) override;
  bool at_mark() override;
  std::size_t readable() override;
  std::vector<std::byte> read(std::size_t most) override;
  bool at_end() override;
  void shutdown() override;
  void abort() override;
  void forget_connection() override { close(); }
  std::string state() override;
  std::string error() override;

 private:
  void deliver_icmp(std::uint8_t code, std::uint32_t sequence, std::uint16_t mtu);
  int make_socket() const;
  void close();
  int connection();  // The accepted connection, or -1.
  void note_error(int number);

  Settings settings_;
  Tun tun_;
  int listener_ = -1;
  int connection_ = -1;
  std::string error_ = "none";
};

}  // namespace satrelay::conformance
