#include "relay/client/capture_session.h"

#include <pcap/pcap.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "relay/client/pcapng.h"
#include "relay/ops/control/control_client.h"
#include "relay/ops/stats/capture_format.h"

namespace satrelay::ctl {
namespace {

using Clock = std::chrono::steady_clock;

// Compiles `filter`. Returns no instructions if it is empty, so that everything is captured.
std::vector<bpf_insn> compile(const std::string& filter) {
  if (filter.empty()) return {};
  pcap_t* ethernet = pcap_open_dead(DLT_EN10MB, static_cast<int>(ops::kLongestCapture));
  bpf_program program{};
  const bool done = pcap_compile(ethernet, &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) == 0;
  const std::string why = done ? "" : pcap_geterr(ethernet);
  std::vector<bpf_insn> instructions;
  if (done) instructions.assign(program.bf_insns, program.bf_insns + program.bf_len);
  pcap_freecode(&program);
  pcap_close(ethernet);
  if (!done) throw std::runtime_error("filter \"" + filter + "\": " + why);
  if (instructions.size() > ops::kMostInstructions) {
    throw std::runtime_error("filter \"" + filter + "\": too long");
  }
  return instructions;
}

ops::CapturePlace place_of(const CaptureRequested& options) {
  if (options.port == "lan") return ops::CapturePlace::kLan;
  return options.decrypted ? ops::CapturePlace::kPlain : ops::CapturePlace::kWan;
}

}  // namespace

// A connection to the gateway's capture socket.
class CaptureSession::Connection {
 public:
  explicit Connection(const std::string& path)
      : path_(path), descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    // If the gateway hangs, it accepts no connection or no bytes. This is the timeout for
    // connecting and sending. fill() has its own timeout.
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!ops::connect_control(descriptor_, ops::control_address(path))) {
      const int error = errno == EAGAIN ? ETIMEDOUT : errno;
      ::close(descriptor_);
      ops::fail_control(path, "no answer", error);
    }
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(descriptor_); }

  void send(const void* data, std::size_t size) const {
    if (::send(descriptor_, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
      ops::fail_control(path_, "send", errno);
    }
  }
  void finish() const { ::shutdown(descriptor_, SHUT_WR); }

  // Reads available bytes into the buffer, and waits up to 200 ms for them. Returns false at the
  // end of the connection.
  bool fill() {
    pollfd wait{descriptor_, POLLIN, 0};
    if (::poll(&wait, 1, 200) <= 0) return true;
    std::array<std::byte, 65536> part;
    const ssize_t count = ::recv(descriptor_, part.data(), part.size(), 0);
    if (count < 0) return errno == EINTR;
    if (count == 0) return false;
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    buffer_.insert(buffer_.end(), part.begin(), part.begin() + count);
    return true;
  }
  std::span<const std::byte> unread() const { return std::span(buffer_).subspan(taken_); }
  void take(std::size_t size) { taken_ += size; }

 private:
  std::string path_;
  int descriptor_;
  std::vector<std::byte> buffer_;
  std::size_t taken_ = 0;
};

// Writes the received frames to the capture file, and counts them.
class CaptureSession::Taker {
 public:
  Taker(PcapngWriter& writer, std::uint64_t most) : writer_(writer), most_(most) {}

  // Takes all complete records from the connection's buffer. Returns false once the last record has
  // arrived.
  bool take(Connection& connection) {
    while (true) {
      const auto unread = connection.unread();
      ops::CaptureRecord record;
      if (unread.size() < sizeof record) return true;
      std::memcpy(&record, unread.data(), sizeof record);
      if (unread.size() < sizeof record + record.captured) return true;
      connection.take(sizeof record + record.captured);
      if (record.way == ops::CaptureWay::kEnd) {
        lost_ = record.lost;
        return false;
      }
      if (is_full()) continue;  // frames after the last requested frame
      writer_.packet(record.time,
                     record.way == ops::CaptureWay::kIn ? PcapngWriter::Way::kInbound
                                                        : PcapngWriter::Way::kOutbound,
                     record.original, unread.subspan(sizeof record, record.captured));
      ++packets_;
    }
  }
  bool is_full() const { return packets_ >= most_; }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t lost() const { return lost_; }

 private:
  PcapngWriter& writer_;
  std::uint64_t most_;
  std::uint64_t packets_ = 0;
  std::uint64_t lost_ = 0;
};

void CaptureSession::ask(std::uint32_t longest) {
  const std::vector<bpf_insn> filter = compile(wish_.filter);
  ops::CaptureRequest request;
  request.place = place_of(wish_);
  request.longest = longest;
  wish_.on_behalf_of.copy(request.on_behalf_of, sizeof request.on_behalf_of - 1);
  request.instructions = static_cast<std::uint32_t>(filter.size());
  connection_->send(&request, sizeof request);
  if (!filter.empty()) connection_->send(filter.data(), filter.size() * sizeof filter.front());
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  while (true) {
    const auto unread = connection_->unread();
    const std::string text(reinterpret_cast<const char*>(unread.data()), unread.size());
    if (const std::size_t end = text.find('\n'); end != std::string::npos) {
      connection_->take(end + 1);
      if (text.substr(0, end) == "ok") return;
      throw std::runtime_error(text.substr(0, end));
    }
    if (!connection_->fill() || Clock::now() > deadline) {
      throw std::runtime_error("the gateway does not answer on its capture socket");
    }
  }
}

CaptureSession::CaptureSession(const std::filesystem::path& socket, CaptureRequested wish)
    : socket_(socket),
      wish_(std::move(wish)),
      longest_(wish_.longest == 0 ? ops::kLongestCapture : wish_.longest) {
  if (wish_.decrypted && wish_.port != "wan") {
    throw std::runtime_error(
        "decrypted frames exist on the WAN only: nothing is encrypted on the LAN");
  }
  connection_ = std::make_unique<Connection>(socket_.string());
  ask(longest_);
}

CaptureSession::~CaptureSession() = default;

CaptureCount CaptureSession::write_to(std::ostream& out,
                                      const std::function<bool(std::uint64_t packets)>& go_on) {
  PcapngWriter writer(out,
                      {.name = wish_.port + (wish_.decrypted ? ", decrypted" : ""),
                       .description = "satrelay " + socket_.parent_path().filename().string(),
                       .filter = wish_.filter,
                       .longest = longest_},
                      "satrelayctl capture");
  Taker taker(writer, wish_.packets);
  const auto begin = Clock::now();
  // Maximum time to wait for the last frames, since the gateway may hang.
  constexpr std::chrono::seconds kPatience(5);
  std::optional<Clock::time_point> finished_at;
  while (taker.take(*connection_)) {
    const bool timed_out =
        wish_.seconds != 0 && Clock::now() - begin >= std::chrono::seconds(wish_.seconds);
    if (!finished_at && (taker.is_full() || timed_out || !go_on(taker.packets()))) {
      connection_->finish();
      finished_at = Clock::now();
    }
    if (finished_at && Clock::now() - *finished_at > kPatience) {
      throw std::runtime_error(
          "the gateway does not end the capture; the frames received so far are written");
    }
    if (!connection_->fill()) {
      throw std::runtime_error(
          "the gateway has ended the capture; the frames received so far are written");
    }
  }
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  writer.statistics(static_cast<std::uint64_t>(now.count()), taker.packets() + taker.lost(),
                    taker.lost());
  return {taker.packets(), taker.lost()};
}

}  // namespace satrelay::ctl
