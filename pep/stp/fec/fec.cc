#include "pep/stp/fec/fec.h"

namespace satrelay::stp {

void Fec::protect(std::uint64_t number, ConstBytes frames, std::span<const SentItem> items,
                  Instant now) {
  FecSender::Purpose purpose;
  bool first = true;
  for (const SentItem& item : items) {
    FecSender::Purpose of_item;
    of_item.stream = item.stream;
    of_item.generation = item.generation();
    of_item.opens = item.kind() == ItemKind::kOpen;
    if (first) {
      purpose = of_item;
    } else {
      purpose.merge(of_item);
    }
    first = false;
  }
  sender.add(number, frames, purpose, now);
}

}  // namespace satrelay::stp
