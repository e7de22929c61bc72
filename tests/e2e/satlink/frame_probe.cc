// Measures a path of Ethernet frames from outside. One process sends numbered frames with
// timestamps on one interface. Another process receives them on a second interface, and reports
// what arrived, how late and how fast. Both ends must share a clock (network namespaces of one
// machine). The program knows nothing of satrelay.
//
//   frame_probe send INTERFACE --size BYTES --rate BITS_PER_SECOND --seconds S
//   frame_probe receive INTERFACE --idle S      stops when nothing has come for S seconds
//
// `rate` and the received rate count frame bytes + 24 (FCS, preamble, gap), as `overhead: ethernet`
// does. The receiver prints one line of JSON.
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::uint16_t kEtherType = 0x88b5;  // IEEE 802: local experimental
constexpr std::size_t kOverhead = 24;
constexpr std::size_t kBatch = 64;
constexpr std::size_t kLargestFrame = 9100;

struct Payload {
  std::uint64_t number;
  // CLOCK_REALTIME in nanoseconds, the clock of the kernel's timestamps.
  std::int64_t sent_at;
};

std::int64_t clock_now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int open_interface(const std::string& name, std::uint16_t protocol) {
  const int socket = ::socket(AF_PACKET, SOCK_RAW, 0);
  if (socket < 0) throw std::runtime_error(std::string("socket: ") + std::strerror(errno));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
  if (address.sll_ifindex == 0 ||
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("interface " + name + ": " + std::strerror(errno));
  }
  return socket;
}

void sleep_until(std::int64_t when) {
  const timespec t{.tv_sec = when / 1'000'000'000, .tv_nsec = when % 1'000'000'000};
  ::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, nullptr);
}

void fill_headers(std::vector<std::byte>& frame) {
  constexpr std::array<std::uint8_t, 14> kHeader{
      2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, kEtherType >> 8, kEtherType & 0xff};
  std::memcpy(frame.data(), kHeader.data(), kHeader.size());
  for (std::size_t i = kHeader.size(); i < frame.size(); ++i) {
    frame[i] = static_cast<std::byte>(i * 7);
  }
}

int run_sender(const std::string& interface, std::size_t size, double rate, double seconds) {
  const int socket = open_interface(interface, 0);
  const int on = 1;
  ::setsockopt(socket, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
  std::vector<std::vector<std::byte>> frames(kBatch, std::vector<std::byte>(size));
  std::vector<iovec> pieces(kBatch);
  std::vector<mmsghdr> messages(kBatch);
  for (std::size_t i = 0; i < kBatch; ++i) {
    fill_headers(frames[i]);
    pieces[i] = {.iov_base = frames[i].data(), .iov_len = size};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const double interval = static_cast<double>(size + kOverhead) * 8e9 / rate;
  const auto total = static_cast<std::uint64_t>(seconds * 1e9 / interval);
  const std::int64_t start = clock_now();
  std::uint64_t sent = 0;
  std::uint64_t failed = 0;
  while (sent < total) {
    const std::int64_t now = clock_now();
    const auto owed = static_cast<std::uint64_t>(static_cast<double>(now - start) / interval) + 1;
    if (owed <= sent) {
      sleep_until(start + static_cast<std::int64_t>(static_cast<double>(sent) * interval));
      continue;
    }
    const std::size_t count = std::min({owed - sent, total - sent, std::uint64_t{kBatch}});
    for (std::size_t i = 0; i < count; ++i) {
      const Payload payload{.number = sent + i, .sent_at = now};
      std::memcpy(frames[i].data() + 14, &payload, sizeof payload);
    }
    const int done = ::sendmmsg(socket, messages.data(), static_cast<unsigned>(count), 0);
    if (done <= 0) {
      if (errno != ENOBUFS && errno != EAGAIN) throw std::runtime_error(std::strerror(errno));
      ++failed;
      continue;
    }
    sent += static_cast<std::uint64_t>(done);
  }
  const double elapsed = static_cast<double>(clock_now() - start) / 1e9;
  std::printf("{\"sent\": %llu, \"seconds\": %.6f, \"retries\": %llu}\n",
              static_cast<unsigned long long>(sent), elapsed,
              static_cast<unsigned long long>(failed));
  return 0;
}

class Measurement {
 public:
  Measurement() : delays_(0) { delays_.reserve(std::size_t{1} << 24); }

  void add(const Payload& payload, std::size_t size, std::int64_t at) {
    if (frames_ == 0) {
      first_at_ = at;
      first_size_ = size;
    }
    last_at_ = at;
    ++frames_;
    bytes_ += size;
    if (frames_ > 1 && payload.number < highest_) ++out_of_order_;
    highest_ = std::max(highest_, payload.number);
    delays_.push_back(at - payload.sent_at);
  }

  void print(std::uint64_t missed) {
    std::sort(delays_.begin(), delays_.end());
    const auto percentile = [&](double share) {
      if (delays_.empty()) return 0.0;
      const auto last = static_cast<double>(delays_.size() - 1);
      return static_cast<double>(delays_[static_cast<std::size_t>(share * last)]) / 1e6;
    };
    // The first frame only starts the clock.
    const double accounted =
        frames_ < 2 ? 0 : static_cast<double>(bytes_ - first_size_ + (frames_ - 1) * kOverhead);
    const double seconds = static_cast<double>(last_at_ - first_at_) / 1e9;
    std::printf(
        "{\"frames\": %llu, \"bytes\": %llu, \"seconds\": %.6f, \"rate\": %.0f, "
        "\"missed_by_receiver\": %llu, \"out_of_order\": %llu, \"delay_ms\": {\"min\": %.4f, "
        "\"p01\": %.4f, \"p50\": %.4f, \"p99\": %.4f, \"p999\": %.4f, \"max\": %.4f}}\n",
        static_cast<unsigned long long>(frames_), static_cast<unsigned long long>(bytes_), seconds,
        seconds > 0 ? accounted * 8 / seconds : 0.0, static_cast<unsigned long long>(missed),
        static_cast<unsigned long long>(out_of_order_), percentile(0), percentile(0.01),
        percentile(0.5), percentile(0.99), percentile(0.999), percentile(1));
  }

 private:
  std::vector<std::int64_t> delays_;
  std::uint64_t frames_ = 0, bytes_ = 0, out_of_order_ = 0, highest_ = 0;
  std::size_t first_size_ = 0;
  std::int64_t first_at_ = 0, last_at_ = 0;
};

std::int64_t kernel_timestamp(msghdr& message) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
      timespec t{};
      std::memcpy(&t, CMSG_DATA(c), sizeof t);
      return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    }
  }
  return clock_now();
}

int run_receiver(const std::string& interface, double idle_seconds) {
  const int socket = open_interface(interface, kEtherType);
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  const int buffer = 64 << 20;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  const timeval patience{
      .tv_sec = static_cast<time_t>(idle_seconds),
      .tv_usec = static_cast<suseconds_t>(
          (idle_seconds - static_cast<double>(static_cast<time_t>(idle_seconds))) * 1e6)};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);

  std::vector<std::array<std::byte, kLargestFrame>> frames(kBatch);
  std::vector<std::array<char, 64>> controls(kBatch);
  std::vector<iovec> pieces(kBatch);
  std::vector<mmsghdr> messages(kBatch);
  Measurement measurement;
  std::printf("ready\n");
  std::fflush(stdout);
  while (true) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      pieces[i] = {.iov_base = frames[i].data(), .iov_len = frames[i].size()};
      messages[i].msg_hdr = {};
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = controls[i].data();
      messages[i].msg_hdr.msg_controllen = controls[i].size();
    }
    const int count = ::recvmmsg(socket, messages.data(), kBatch, MSG_WAITFORONE, nullptr);
    if (count <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      if (messages[i].msg_len < 14 + sizeof(Payload)) continue;
      Payload payload{};
      std::memcpy(&payload, frames[i].data() + 14, sizeof payload);
      measurement.add(payload, messages[i].msg_len, kernel_timestamp(messages[i].msg_hdr));
    }
  }
  tpacket_stats stats{};
  socklen_t length = sizeof stats;
  ::getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &stats, &length);
  measurement.print(stats.tp_drops);
  return 0;
}

double option(int argc, char** argv, const std::string& name) {
  for (int i = 3; i + 1 < argc; i += 2) {
    if (name == argv[i]) return std::atof(argv[i + 1]);
  }
  throw std::runtime_error("option " + name + " is missing");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string mode = argc > 2 ? argv[1] : "";
    if (mode == "receive") return run_receiver(argv[2], option(argc, argv, "--idle"));
    if (mode == "send") {
      const auto size = static_cast<std::size_t>(option(argc, argv, "--size"));
      return run_sender(argv[2], std::clamp<std::size_t>(size, 30, kLargestFrame),
                        option(argc, argv, "--rate"), option(argc, argv, "--seconds"));
    }
    std::fprintf(stderr, "usage: frame_probe send|receive INTERFACE OPTIONS\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frame_probe: %s\n", error.what());
  }
  return 1;
}
