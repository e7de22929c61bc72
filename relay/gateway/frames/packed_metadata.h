// The metadata of OPEN as octets. There may be very many flows, and each stores its metadata, but
// rarely reads it. The two ends (addresses and ports) are left out, since a flow has them in its
// key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "pep/base/image/image.h"
#include "relay/gateway/frames/open_metadata.h"

namespace satrelay::gateway {

class PackedMetadata {
 public:
  struct Ends {
    IpAddress client;
    IpAddress server;
    std::uint16_t client_port = 0;
    std::uint16_t server_port = 0;
  };

  void pack(const OpenMetadata& metadata);
  // Returns the metadata that were packed last, for a flow with these ends; empty metadata if
  // nothing was packed.
  OpenMetadata unpack(const Ends& ends) const;
  // Reads only the name of the class, since a listing of flows needs it for very many flows.
  std::string_view class_name() const;

  void image(Image& image);

 private:
  bool is_whole() const;

  // The first octet is the number of octets that follow.
  std::unique_ptr<std::byte[]> octets_;
};

}  // namespace satrelay::gateway
