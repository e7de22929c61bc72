// Tells which messages and frames both relays understand beyond those of every version
// (docs/stp-wire.md section 4).
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

bool Session::lan_reports() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityLanReports);
}

bool Session::evidence() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityEvidence);
}

bool Session::other_vlan() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityOtherVlan);
}

bool Session::urgent_marks() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityUrgent);
}

bool Session::destinations() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityDestinations);
}

bool Session::accepted_sources() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityAcceptedSources);
}

bool Session::reset_marks() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityResetMarks);
}

bool Session::host_words() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityHostWords);
}

bool Session::icmp_refusals() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityIcmp);
}

bool Session::arrivals() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityArrivals);
}

bool Session::between_gateways() const {
  return impl_->connected() && impl_->handshake.agreed(kCapabilityBetween);
}

}  // namespace satrelay::stp
