#include "relay/gateway/recovery/journal_slices.h"

#include <algorithm>

#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {

JournalSlices deal_out(MutableBytes journal, unsigned workers) {
  const std::size_t size =
      journal.size() / FlowJournal::kRecordSize / workers * FlowJournal::kRecordSize;
  JournalSlices dealt;
  for (unsigned i = 0; i < workers; ++i) dealt.slices.push_back(journal.subspan(i * size, size));
  if (workers == 1) return dealt;
  std::vector<FlowJournal::Record> records;
  {
    const FlowJournal before(journal);
    for (FlowJournal::Place place = 0; place < before.places(); ++place) {
      if (const auto record = before.read(place)) records.push_back(*record);
    }
  }
  std::ranges::fill(journal, std::byte{0});
  std::vector<FlowJournal> journals(dealt.slices.begin(), dealt.slices.end());
  for (const FlowJournal::Record& record : records) {
    const FlowKey& key = record.key;
    const std::uint32_t hash = flow_hash(key.local, key.remote, key.local_port, key.remote_port);
    if (journals[hash & (workers - 1)].keep(record) == FlowJournal::kNowhere) ++dealt.dropped;
  }
  return dealt;
}

}  // namespace satrelay::gateway
