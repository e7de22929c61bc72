// OPEN's metadata as octets. Each of very many flows keeps them, and they are rarely read. The ends
// are left out, since a flow has them in its key.
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
  // The metadata that was packed last, for a flow with these ends. Empty metadata if nothing was
  // packed.
  OpenMetadata unpack(const Ends& ends) const;
  // Only the name of the class: a listing of flows reads it for very many flows.
  std::string_view class_name() const;

  void image(Image& image);

 private:
  // The number of octets, then the octets.
  std::unique_ptr<std::byte[]> octets_;
};

}  // namespace satrelay::gateway
