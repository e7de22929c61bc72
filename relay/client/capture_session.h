// Writes down the frames that pass a port of a running gateway, as they come over its capture
// socket.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace satrelay::ctl {

struct CaptureRequested {
  std::string port;  // "lan" or "wan"
  bool decrypted = false;
  std::string filter;              // in libpcap's language; "": everything
  std::uint64_t packets = 10'000;  // after which it ends
  std::uint32_t seconds = 0;       // the same; 0: no matter how long
  std::uint32_t longest = 0;       // bytes of a frame that are kept; 0: all
  std::string on_behalf_of = {};   // "panel:NAME": who has logged in there; "": who runs this
};

struct CaptureCount {
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;  // for want of room
};

class CaptureSession {
 public:
  // Asks the gateway for it. Throws std::runtime_error with what is wrong, among other things with
  // the filter.
  CaptureSession(const std::filesystem::path& socket, CaptureRequested wish);
  CaptureSession(const CaptureSession&) = delete;
  CaptureSession& operator=(const CaptureSession&) = delete;
  ~CaptureSession();

  // Writes pcapng to `out`, up to the end of the capture. `go_on` is asked at least five times a
  // second; false ends it. Once. Throws std::runtime_error if the gateway ends it.
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
