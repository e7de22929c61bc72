// The handshake of one endpoint: the options of our SYN or SYN-ACK, and whether that segment was
// sent.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/tcp/negotiation.h"

namespace satrelay::tcp {

// In these names, "syn" is our SYN or SYN-ACK.
struct Opening {
  bool owes_syn() const { return syn_held || syn_owed; }  // the SYN has not been sent yet
  bool has_repeated_syn() const { return syn_retries > 0; }

  void image(Image& image) {
    image(syn_sent_at, offer, syn_retries);
    actively = image.same(actively);
    syn_owed = image.same(syn_owed);
    syn_held = image.same(syn_held);
    path_error_heard = image.same(path_error_heard);
  }

  // When the first SYN was sent. never() if it was not sent, or if the time is unknown.
  Instant syn_sent_at = Instant::never();
  Offer offer;
  std::uint8_t syn_retries = 0;
  bool actively : 1 = false;          // opened by connect()
  bool syn_owed : 1 = false;          // send the SYN next
  bool syn_held : 1 = false;          // do not send the SYN before answer()
  bool path_error_heard : 1 = false;  // a PathError::kPassing arrived in SYN-SENT
};

}  // namespace satrelay::tcp
