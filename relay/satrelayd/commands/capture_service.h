// Serves the capture socket (relay/ops/stats/capture_format.h). Users that may control the gateway
// may capture its frames, one client at a time. The service never blocks, and does not run on a
// worker's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/ops/control/caller.h"
#include "relay/ops/control/unix_listener.h"
#include "relay/ops/events/event.h"
#include "relay/satrelayd/commands/capture.h"

namespace satrelay::satrelayd {

class CaptureService {
 public:
  // Returns the UTC time, in nanoseconds, at which the workers' clock was 0.
  using Epoch = std::function<std::uint64_t()>;
  using Tell = std::function<void(ops::Event)>;

  // `tap` must outlive this object. Throws std::runtime_error if the socket cannot be opened.
  CaptureService(const std::string& path, const ops::SocketAccess& access, CaptureTap& tap,
                 Epoch epoch, Tell tell);
  CaptureService(const CaptureService&) = delete;
  CaptureService& operator=(const CaptureService&) = delete;
  ~CaptureService();

  // Accepts a client, reads its request, and sends it the answer and captured frames. Call this
  // every few milliseconds, on a thread that is not a worker's.
  void look(Instant now);

 private:
  enum class Phase : std::uint8_t { kNone, kRequest, kRunning, kStopping, kEnding };
  void accept(Instant now);
  void read_request();
  void start(const ops::CaptureRequest& request);
  void refuse(const std::string& why);
  bool client_has_gone();
  // Sends as much as the client accepts now. Returns false if there is more to send.
  bool send_some(Instant now);
  void end();

  ops::UnixListener listener_;
  CaptureTap& tap_;
  Epoch epoch_;
  Tell tell_;
  Phase phase_ = Phase::kNone;
  int client_ = -1;
  ops::Caller caller_;      // the user of the client
  std::string subject_;     // subject of the events about the capture
  bool is_broken_ = false;  // sending to the client has failed
  std::vector<std::byte> request_;
  // Bytes to send that do not come from the ring: the answer, and the last record.
  std::vector<std::byte> unsent_;
  Instant last_progress_;
};

}  // namespace satrelay::satrelayd
