#include "relay/satrelayctl/capture.h"

#include <pcap/pcap.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "relay/ops/capture_format.h"
#include "relay/ops/control_client.h"
#include "relay/satrelayctl/pcapng.h"

namespace satrelay::ctl {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

// The instructions for `filter`; none for everything.
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

// A connection to the gateway's capture socket.
class Connection {
 public:
  explicit Connection(const std::string& path)
      : path_(path), descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (!ops::connect_control(descriptor_, ops::control_address(path))) {
      const int error = errno;
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

  // Reads what there is into the buffer, waiting up to 200 ms; false at the end.
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

ops::CapturePlace place_of(const CaptureOptions& options) {
  if (options.port == "lan") return ops::CapturePlace::kLan;
  return options.decrypted ? ops::CapturePlace::kPlain : ops::CapturePlace::kWan;
}

void ask(Connection& connection, const CaptureOptions& options, std::uint32_t longest) {
  const std::vector<bpf_insn> filter = compile(options.filter);
  ops::CaptureRequest request;
  request.place = place_of(options);
  request.longest = longest;
  request.instructions = static_cast<std::uint32_t>(filter.size());
  connection.send(&request, sizeof request);
  if (!filter.empty()) connection.send(filter.data(), filter.size() * sizeof filter.front());
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  while (true) {
    const auto unread = connection.unread();
    const std::string text(reinterpret_cast<const char*>(unread.data()), unread.size());
    if (const std::size_t end = text.find('\n'); end != std::string::npos) {
      connection.take(end + 1);
      if (text.substr(0, end) == "ok") return;
      throw std::runtime_error(text.substr(0, end));
    }
    if (!connection.fill() || Clock::now() > deadline) {
      throw std::runtime_error("the gateway does not answer on its capture socket");
    }
  }
}

// What the frames that have come are written to, and how many there are.
class Taker {
 public:
  Taker(PcapngWriter& writer, std::uint64_t most) : writer_(writer), most_(most) {}

  // False once the last record was there.
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
      if (is_full()) continue;  // asked to end, and more was under way
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

void run(Connection& connection, Taker& taker, const CaptureOptions& options) {
  const bool shows_progress = ::isatty(STDERR_FILENO) == 1;
  const auto begin = Clock::now();
  auto next_word = begin + std::chrono::seconds(1);
  bool finishing = false;
  while (taker.take(connection)) {
    const auto now = Clock::now();
    const bool timed_out =
        options.seconds != 0 && now - begin >= std::chrono::seconds(options.seconds);
    if (!finishing && (taker.is_full() || timed_out || interrupted != 0)) {
      connection.finish();
      finishing = true;
    }
    if (shows_progress && now >= next_word) {
      std::cerr << '\r' << taker.packets() << " packets" << std::flush;
      next_word = now + std::chrono::seconds(1);
    }
    if (!connection.fill()) {
      throw std::runtime_error("the gateway has ended the capture; what has come is written");
    }
  }
  if (shows_progress) std::cerr << '\r';
}

}  // namespace

int capture(const std::filesystem::path& socket, const CaptureOptions& options) {
  if (options.decrypted && options.port != "wan") {
    throw std::runtime_error("--decrypted is for --port wan: nothing is encrypted on the LAN");
  }
  const std::uint32_t longest = options.longest == 0 ? ops::kLongestCapture : options.longest;
  Connection connection(socket.string());
  ask(connection, options, longest);

  std::ofstream file;
  if (options.file != "-") {
    file.open(options.file, std::ios::binary | std::ios::trunc);
    if (!file) throw std::runtime_error(options.file + ": " + std::strerror(errno));
  }
  std::ostream& out = options.file == "-" ? std::cout : file;
  PcapngWriter writer(out,
                      {.name = options.port + (options.decrypted ? ", decrypted" : ""),
                       .description = "satrelay " + socket.parent_path().filename().string(),
                       .filter = options.filter,
                       .longest = longest},
                      "satrelayctl capture");
  Taker taker(writer, options.packets);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, interrupt);
  run(connection, taker, options);
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  writer.statistics(static_cast<std::uint64_t>(now.count()), taker.packets() + taker.lost(),
                    taker.lost());
  out.flush();
  if (!out) throw std::runtime_error(options.file + ": not all could be written");
  std::cerr << taker.packets() << " packets written";
  if (taker.lost() != 0) std::cerr << ", " << taker.lost() << " lost for want of room";
  std::cerr << '\n';
  return 0;
}

}  // namespace satrelay::ctl
