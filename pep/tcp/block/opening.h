// The handshake of one endpoint: the options of our SYN or SYN-ACK, and whether it has left.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/tcp/negotiation.h"

namespace satrelay::tcp {

// "SYN" stands for our SYN or SYN-ACK.
struct Opening {
  bool owes_syn() const { return syn_held || syn_owed; }  // the SYN has not left
  bool has_repeated_syn() const { return syn_retries > 0; }

  void image(Image& image) {
    image(syn_sent_at, offer, syn_retries);
    actively = image.same(actively);
    syn_owed = image.same(syn_owed);
    syn_held = image.same(syn_held);
    path_error_heard = image.same(path_error_heard);
  }

  Instant syn_sent_at = Instant::never();  // the first SYN; never: not sent, or at an unknown time
  Offer offer;
  std::uint8_t syn_retries = 0;
  bool actively : 1 = false;          // by connect()
  bool syn_owed : 1 = false;          // to send next
  bool syn_held : 1 = false;          // until answer()
  bool path_error_heard : 1 = false;  // a passing error, in SYN-SENT
};

}  // namespace satrelay::tcp
