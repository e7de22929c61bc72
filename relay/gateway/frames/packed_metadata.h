// OPEN's metadata as its octets: of very many flows each keeps them, and hardly anybody asks. The
// ends are left out, as a flow knows them by its key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

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
  // What was packed last, of a flow with these ends; before that, of nobody.
  OpenMetadata unpack(const Ends& ends) const;
  // Of that only the name of the class, which a listing of flows asks of very many.
  std::string_view class_name() const;

 private:
  std::unique_ptr<std::byte[]> octets_;  // how many follow, and these
};

}  // namespace satrelay::gateway
