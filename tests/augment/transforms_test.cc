#include "augment/transforms.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace echoline::augment {
namespace {

// A step of the schema without a transform would be skipped silently.
TEST(Transforms, EveryAugmentationOfTheSchemaHasOne) {
  const std::set<std::string> others = {"read",    "mix",  "cache", "shuffle", "decode",
                                        "prepare", "echo", "batch", "publish"};
  const auto* schema = v1::Step::descriptor();
  int transforms = 0;
  for (int i = 0; i < schema->field_count(); ++i) {
    const auto* step = schema->field(i);
    const auto* transform = find_transform(static_cast<v1::Step::StepCase>(step->number()));
    EXPECT_EQ(transform == nullptr, others.contains(step->name())) << step->name();
    if (transform == nullptr) continue;
    // Operations on an image find it by this setting (compile.cc).
    if (transform->compile != nullptr) {
      EXPECT_NE(step->message_type()->FindFieldByName("field"), nullptr) << step->name();
    }
    ++transforms;
  }
  EXPECT_EQ(transforms, schema->field_count() - static_cast<int>(others.size()));
}

}  // namespace
}  // namespace echoline::augment
