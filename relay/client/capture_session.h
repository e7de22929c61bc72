// Writes the frames that pass a port of a running gateway to a capture file, as they arrive over
// its capture socket.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace satrelay::ctl {

struct CaptureRequested {
  std::string port;  // name of the port: "lan" or "wan"
  bool decrypted = false;
  std::string filter;  // filter in libpcap's language; if empty, all frames are captured
  std::uint64_t packets = 10'000;  // the capture ends after this many packets
  std::uint32_t seconds = 0;       // the capture ends after this time; 0 means no limit
  std::uint32_t longest = 0;       // bytes to keep of each frame; 0 means all
  // The user that has requested the capture. A user of the panel is "panel:NAME". If empty, it is
  // the user of this process.
  std::string on_behalf_of = {};
};

struct CaptureCount {
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;  // packets that were not captured, since there was no room
};

class CaptureSession {
 public:
  // Asks the gateway for a capture. Throws std::runtime_error with the reason of a failure, such as
  // an invalid filter.
  CaptureSession(const std::filesystem::path& socket, CaptureRequested wish);
  CaptureSession(const CaptureSession&) = delete;
  CaptureSession& operator=(const CaptureSession&) = delete;
  ~CaptureSession();

  // Writes pcapng to `out` until the capture ends. Calls `go_on` at least five times a second, and
  // ends the capture if `go_on` returns false. Call this once. Throws std::runtime_error if the
  // gateway ends the capture.
  CaptureCount write_to(std::ostream& out, const std::function<bool(std::uint64_t packets)>& go_on);

 private:
  class Connection;
  class Taker;
  void ask(std::uint32_t longest);

  std::filesystem::path socket_;
  CaptureRequested wish_;
  std::uint32_t longest_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace satrelay::ctl
