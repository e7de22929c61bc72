#include "relay/satrelayd/commands/capture_service.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "relay/ops/control/control_grammar.h"

namespace satrelay::satrelayd {
namespace {

constexpr Duration kPatience = Duration::seconds(10);  // for a client that does not send or read

const char* port_of(ops::CapturePlace place) {
  return place == ops::CapturePlace::kLan ? "port lan" : "port wan";
}

// Returns "panel:NAME" if the request names a user of the panel, "" if it names no user, and
// nullopt if the text is not valid.
std::optional<std::string> on_behalf_of(const ops::CaptureRequest& request) {
  const std::string_view whole(request.on_behalf_of, sizeof request.on_behalf_of);
  const std::string_view name = whole.substr(0, whole.find('\0'));
  if (!name.empty() && !ops::is_panel_user(name)) return std::nullopt;
  return std::string(name);
}

// Describes the request, such as "1500 bytes of each frame, decrypted".
std::string words_of(const ops::CaptureRequest& request) {
  return std::to_string(request.longest) + " bytes of each frame" +
         (request.place == ops::CapturePlace::kPlain ? ", decrypted" : "") +
         (request.instructions > 0 ? ", with a filter" : "");
}

}  // namespace

CaptureService::CaptureService(const std::string& path, const ops::SocketAccess& access,
                               CaptureTap& tap, Epoch epoch, Tell tell)
    : listener_(path, 1, access), tap_(tap), epoch_(std::move(epoch)), tell_(std::move(tell)) {}

CaptureService::~CaptureService() {
  if (client_ >= 0) ::close(client_);
}

void CaptureService::look(Instant now) {
  accept(now);
  if (phase_ == Phase::kNone) {
    if (tap_.is_off()) tap_.free_ring();
    return;
  }
  if (now - last_progress_ > kPatience && phase_ != Phase::kStopping) {
    // A running capture may continue while no frames match. It ends if frames wait and the client
    // does not read them.
    if (phase_ != Phase::kRunning || !tap_.ring()->readable().empty()) return end();
  }
  if (phase_ == Phase::kRequest) read_request();
  if (phase_ == Phase::kRunning && client_has_gone()) {
    tap_.stop();
    phase_ = Phase::kStopping;
  }
  if (phase_ == Phase::kStopping && tap_.is_off()) {
    ops::CaptureRecord last;
    last.way = ops::CaptureWay::kEnd;
    last.lost = tap_.lost();
    const ConstBytes bytes = std::as_bytes(std::span(&last, 1));
    unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
    phase_ = Phase::kEnding;
  }
  const bool all_sent = send_some(now);
  if ((phase_ == Phase::kEnding && all_sent) || is_broken_) end();
}

void CaptureService::accept(Instant now) {
  const int descriptor = listener_.accept();
  if (descriptor < 0) return;
  if (phase_ != Phase::kNone) {
    constexpr std::string_view kBusy = "error: another capture runs; there is one at a time\n";
    ::send(descriptor, kBusy.data(), kBusy.size(), MSG_NOSIGNAL);
    ::close(descriptor);
    return;
  }
  const auto user = ops::user_of(descriptor);
  if (!user) {
    ::close(descriptor);
    return;
  }
  client_ = descriptor;
  caller_ = {.user = *user};
  phase_ = Phase::kRequest;
  request_.clear();
  unsent_.clear();
  last_progress_ = now;
}

void CaptureService::read_request() {
  std::array<std::byte, 4096> part;
  while (true) {
    ops::CaptureRequest request;
    if (request_.size() >= sizeof request) {
      std::memcpy(&request, request_.data(), sizeof request);
      if (request.magic != ops::CaptureRequest::kMagic ||
          request.place > ops::CapturePlace::kPlain || request.longest == 0 ||
          request.longest > ops::kLongestCapture || request.instructions > ops::kMostInstructions ||
          !on_behalf_of(request)) {
        return refuse("the request is not understood; is satrelayctl of another version?");
      }
      if (request_.size() >= sizeof request + request.instructions * sizeof(bpf_insn)) {
        return start(request);
      }
    }
    const ssize_t count = ::recv(client_, part.data(), part.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return end();
    request_.insert(request_.end(), part.begin(), part.begin() + count);
  }
}

void CaptureService::start(const ops::CaptureRequest& request) {
  CaptureTap::What what{request.place, request.longest, std::vector<bpf_insn>(request.instructions),
                        epoch_()};
  if (!what.filter.empty()) {
    std::memcpy(what.filter.data(), request_.data() + sizeof request,
                what.filter.size() * sizeof(bpf_insn));
    // A valid filter only jumps forward, and each of its paths ends. So it cannot loop on the
    // worker's thread.
    if (bpf_validate(what.filter.data(), static_cast<int>(what.filter.size())) == 0) {
      return refuse("the filter is not valid");
    }
  }
  if (!tap_.is_off()) return refuse("the last capture is still being ended; try again");
  subject_ = port_of(request.place);
  caller_.on_behalf_of = on_behalf_of(request).value_or("");
  tell_({.kind = ops::EventKind::kCaptureBegun,
         .subject = subject_,
         .detail = words_of(request),
         .caller = caller_});
  tap_.start(std::move(what));
  constexpr std::string_view kOk = "ok\n";
  const ConstBytes bytes = std::as_bytes(std::span(kOk));
  unsent_.assign(bytes.begin(), bytes.end());
  phase_ = Phase::kRunning;
}

void CaptureService::refuse(const std::string& why) {
  const std::string line = "error: " + why + "\n";
  ::send(client_, line.data(), line.size(), MSG_NOSIGNAL);
  end();
}

// True if the client has closed the connection, or has sent something after its request, which is
// not allowed.
bool CaptureService::client_has_gone() {
  std::byte unexpected{};
  const ssize_t count = ::recv(client_, &unexpected, 1, 0);
  return count >= 0 || (errno != EAGAIN && errno != EINTR);
}

bool CaptureService::send_some(Instant now) {
  const auto send = [&](ConstBytes bytes) -> std::size_t {
    const ssize_t count = ::send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) last_progress_ = now;
    if (count < 0 && errno != EAGAIN && errno != EINTR) is_broken_ = true;
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  };
  if (client_ < 0) return true;
  if (phase_ == Phase::kRunning && !unsent_.empty()) {  // the answer precedes all frames
    const std::size_t sent = send(unsent_);
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
    if (!unsent_.empty()) return false;
  }
  while (tap_.ring() != nullptr) {
    const ConstBytes bytes = tap_.ring()->readable();
    if (bytes.empty()) break;
    const std::size_t sent = send(bytes);
    if (sent == 0) return false;
    tap_.ring()->take(sent);
  }
  if (phase_ != Phase::kEnding || unsent_.empty()) return true;
  const std::size_t sent = send(unsent_);
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
  return unsent_.empty();
}

void CaptureService::end() {
  if (phase_ == Phase::kRunning) tap_.stop();
  if (phase_ != Phase::kRequest) {
    tell_({.kind = ops::EventKind::kCaptureEnded,
           .subject = subject_,
           .detail = std::to_string(tap_.lost()) + " frames lost",
           .caller = caller_});
  }
  ::close(client_);
  is_broken_ = false;
  client_ = -1;
  phase_ = Phase::kNone;
}

}  // namespace satrelay::satrelayd
