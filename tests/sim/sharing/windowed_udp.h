// A download over UDP. Its sender has a congestion window, as QUIC has (RFC 9002). It begins with
// slow start, and the receiver's acknowledgments clock it. When a packet sent more than three later
// is acknowledged, it takes the earlier packet for lost. It sends the piece again and reduces its
// window to 0.7, once a round trip. It does not pace, so packets leave in a burst when the window
// opens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

class WindowedUdp {
 public:
  struct Plan {
    Side from = Side::kA;
    std::size_t host = 0;  // On either side.
    std::uint64_t packets = 0;
    Instant start;
    std::size_t most_window = 10'000;  // Packets that the receiver allows.
  };

  WindowedUdp(Network& network, const Plan& plan) : network_(network), plan_(plan) {
    SimHost& source = network.host(plan.from, plan.host);
    SimHost& sink = network.host(opposite(plan.from), plan.host);
    data_ = datagram(source.spec().addresses, sink.spec().addresses, kIpBytes);
    report_ = datagram(sink.spec().addresses, source.spec().addresses, kReportBytes);
    source.on_other_frame([this](ConstBytes frame) { acknowledge(frame); });
    sink.on_other_frame([this, &sink](ConstBytes frame) { answer(sink, frame); });
    network.loop().at(plan.start, [this] {
      heard_ = plan_.start;
      send();
      watch();
    });
  }
  bool done() const { return delivered_ == plan_.packets; }
  Duration time() const { return finished_ - plan_.start; }
  std::uint64_t sent() const { return next_number_; }
  std::uint64_t delivered() const { return delivered_; }

 private:
  static constexpr std::size_t kIpBytes = 1'280, kReportBytes = 60;
  static constexpr std::size_t kUdpAt = wire::kEthernetHeaderSize + wire::kIpv4HeaderSize;
  static constexpr std::size_t kNumberAt = kUdpAt + wire::kUdpHeaderSize;
  static constexpr std::uint64_t kOvertaken = 3;
  static constexpr Duration kQuiet = Duration::seconds(2);

  static std::vector<std::byte> datagram(const OwnAddresses& from, const OwnAddresses& to,
                                         std::size_t ip_bytes) {
    std::vector<std::byte> frame(wire::kEthernetHeaderSize + ip_bytes);
    wire::EthernetHeader ethernet;
    ethernet.destination = to.mac;
    ethernet.source = from.mac;
    ethernet.type = wire::EtherType::kIpv4;
    wire::write_ethernet(ethernet, frame);
    wire::IpHeader ip;
    ip.source = from.v4;
    ip.destination = to.v4;
    ip.protocol = wire::kProtocolUdp;
    ip.payload_size = static_cast<std::uint16_t>(ip_bytes - wire::kIpv4HeaderSize);
    wire::write_ip(ip, MutableBytes(frame).subspan(wire::kEthernetHeaderSize));
    wire::write_udp({443, 443, ip.payload_size, 0}, MutableBytes(frame).subspan(kUdpAt));
    return frame;
  }
  static bool is_ours(ConstBytes frame, std::size_t ip_bytes) {
    return frame.size() == wire::kEthernetHeaderSize + ip_bytes && load_u16(&frame[kUdpAt]) == 443;
  }

  void send() {
    const auto most = std::min(static_cast<std::size_t>(window_), plan_.most_window);
    while (in_flight_.size() < most && (!lost_.empty() || next_piece_ < plan_.packets)) {
      const std::uint64_t piece = lost_.empty() ? next_piece_++ : lost_.front();
      if (!lost_.empty()) lost_.pop_front();
      in_flight_.emplace(next_number_, piece);
      store_u64(&data_[kNumberAt], next_number_++);
      store_u64(&data_[kNumberAt + 8], piece);
      network_.host(plan_.from, plan_.host).send_raw(data_);
    }
  }
  void answer(SimHost& sink, ConstBytes frame) {
    if (!is_ours(frame, kIpBytes)) return;
    const std::uint64_t piece = load_u64(&frame[kNumberAt + 8]);
    if (received_.size() <= piece) received_.resize(piece + 1);
    if (!received_[piece]) {
      received_[piece] = true;
      if (++delivered_ == plan_.packets) finished_ = network_.loop().now();
    }
    store_u64(&report_[kNumberAt], load_u64(&frame[kNumberAt]));
    sink.send_raw(report_);
  }
  void acknowledge(ConstBytes frame) {
    if (!is_ours(frame, kReportBytes)) return;
    const std::uint64_t number = load_u64(&frame[kNumberAt]);
    heard_ = network_.loop().now();
    if (in_flight_.erase(number) > 0) {
      window_ += window_ < threshold_ ? 1 : 1 / window_;
    }
    while (!in_flight_.empty() && in_flight_.begin()->first + kOvertaken < number) {
      lose(in_flight_.begin());
    }
    send();
  }
  void lose(std::map<std::uint64_t, std::uint64_t>::iterator packet) {
    if (packet->first >= recovered_at_) {
      recovered_at_ = next_number_;
      threshold_ = window_ = std::max(window_ * 0.7, 2.0);
    }
    lost_.push_back(packet->second);
    in_flight_.erase(packet);
  }
  // No packets follow the last ones of a window, so acknowledgments cannot show their loss.
  void watch() {
    if (done()) return;
    if (network_.loop().now() - heard_ > kQuiet) {
      while (!in_flight_.empty()) lose(in_flight_.begin());
      send();
    }
    network_.loop().at(network_.loop().now() + kQuiet, [this] { watch(); });
  }

  Network& network_;
  Plan plan_;
  std::vector<std::byte> data_, report_;
  std::map<std::uint64_t, std::uint64_t> in_flight_;  // Number of a packet: the piece in it.
  std::deque<std::uint64_t> lost_;                    // Pieces.
  std::vector<bool> received_;
  std::uint64_t next_number_ = 0, next_piece_ = 0, delivered_ = 0, recovered_at_ = 0;
  double window_ = 10, threshold_ = 1e9;
  Instant heard_, finished_;
};

}  // namespace satrelay::sim
