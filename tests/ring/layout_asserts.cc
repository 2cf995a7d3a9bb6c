// The layout on which all compilers must agree. The ring's test compiles this file with the build's
// compiler, and a second test with clang.
#include <bit>
#include <cstddef>
#include <type_traits>

#include "echoline/shm/cursor_steps.h"
#include "echoline/shm/door.h"
#include "echoline/shm/ring_layout.h"
#include "layout_members.h"

namespace echoline::shm {

#define ECHOLINE_ASSERT_ROW(type, member, offset, bytes) \
  static_assert(offsetof(type, member) == (offset) && sizeof(type::member) == (bytes));
ECHOLINE_LAYOUT_ROWS(ECHOLINE_ASSERT_ROW)

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(RingHeader) == 216 && alignof(RingHeader) == 8);
static_assert(sizeof(FieldEntry) == 184 && alignof(FieldEntry) == 8);
static_assert(sizeof(Descriptor) == 128 && alignof(Descriptor) == 8);
static_assert(sizeof(WriterPage) == 384 && alignof(WriterPage) == 128);
static_assert(sizeof(FactorLog) == 3200 && alignof(FactorLog) == 128);
static_assert(sizeof(FactorLogEntry) == 48 && alignof(FactorLogEntry) == 8);
static_assert(sizeof(CursorPage) == 896 && alignof(CursorPage) == 128);
static_assert(sizeof(AttachRequest) == 5728 && sizeof(AttachReply) == 2096);
static_assert(sizeof(Notice) == 1040 && sizeof(FactorEntry) == 16);

// No padding in structs whose bytes are compared or sent. (Writer and cursor page have padding to
// fill cache lines.)
static_assert(std::has_unique_object_representations_v<RingHeader>);
static_assert(std::has_unique_object_representations_v<FieldEntry>);
static_assert(std::has_unique_object_representations_v<Descriptor>);
static_assert(std::has_unique_object_representations_v<FactorLogEntry>);
static_assert(std::has_unique_object_representations_v<AttachRequest>);
static_assert(std::has_unique_object_representations_v<AttachReply>);
static_assert(std::has_unique_object_representations_v<Notice>);

static_assert(std::is_standard_layout_v<RingHeader> && std::is_standard_layout_v<FieldEntry>);
static_assert(std::is_standard_layout_v<Descriptor> && std::is_standard_layout_v<WriterPage>);
static_assert(std::is_standard_layout_v<CursorPage> && std::is_standard_layout_v<AttachRequest>);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic_ref<std::uint32_t>::is_always_lock_free);

}  // namespace echoline::shm
