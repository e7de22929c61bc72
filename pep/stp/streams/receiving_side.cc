#include "pep/stp/streams/receiving_side.h"

namespace satrelay::stp {

void ReceivingSide::consume(Stream& stream, std::uint64_t count, Duration reach, Instant now) {
  if (credit_.consume(stream, count, occasion(reach, now))) parts_.due.owe_credit(stream);
  if (credit_.lane().capped()) parts_.memory_check.plan(now);
}

void ReceivingSide::set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now) {
  if (credit_.set_reader_needs(stream, bytes, now)) parts_.due.owe_credit(stream);
}

std::uint64_t ReceivingSide::tell_credit(Stream& stream, Duration reach, Instant now) {
  const std::uint64_t limit = credit_.tell(stream, occasion(reach, now));
  parts_.due.on_credit_left(stream);
  return limit;
}

void ReceivingSide::update_credit(Instant now) {
  if (credit_.update_start(parts_.set.open_count(), now)) {
    parts_.set.begin(first_credits_);
    go_on();
  }
  credit_.look_at_memory();
}

// Requests a STREAM_CREDIT for the streams that still use the limit of HELLO.
void ReceivingSide::go_on() {
  parts_.set.visit_open(first_credits_, [&](Stream& stream) {
    const bool unknown = stream.receive.told() == 0 && stream.receive.consumed() > 0;
    if (unknown && !stream.receive.final_known()) parts_.due.owe_credit(stream);
  });
}

}  // namespace satrelay::stp
