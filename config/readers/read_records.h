// `records`: where the gateway writes its records of flows that have ended.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Records>& records_keys();
const Keys<IpfixCollector>& ipfix_keys();

Records read_records(const Value& value);

}  // namespace satrelay::config
