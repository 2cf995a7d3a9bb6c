// Data sets of Megatron-LM: pairs of a .bin file with tokens and an .idx file next to it.
#pragma once

#include <memory>
#include <vector>

#include "record/index/format.h"
#include "record/megatron/megatron_file.h"

namespace echoline::record {

// Format megatron. A record is a sequence, which Megatron's GPT data sets call a document; empty
// ones are no records. The field is "tokens", raw and little-endian, with the type that the index
// file states; the key is "FILE:NUMBER". With read.pack, a record is a row (packed_set.h).
extern const Format kMegatronFormat;

// A record for each sequence.
std::unique_ptr<DataSet> make_sequence_set(std::vector<MegatronFile> files);

// The text for the fingerprint: the lengths of all sequences decide where records begin.
std::string lengths_text(const std::vector<MegatronFile>& files);

}  // namespace echoline::record
