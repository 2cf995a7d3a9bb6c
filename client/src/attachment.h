// What one successful attach gave: the mapped ring, this consumer's cursor, the open door.
#pragma once

#include <cstdint>
#include <memory>

#include "cursor.h"
#include "door_client.h"
#include "ring_view.h"

namespace echoline::client {

// Shared by the loader and by every batch that is out, so that a user's views stay valid after a
// detach and after a daemon that came back gave the loader a new attachment. `door` belongs to the
// loader alone.
struct Attachment {
  static Error open(Grant grant, std::shared_ptr<Attachment>& attachment) {
    auto made = std::make_shared<Attachment>();
    if (Error e = RingView::open(grant.data_fd.get(), made->ring); !e.ok()) return e;
    made->reply = grant.reply;
    Error e = made->cursor.open(grant.cursor_fd.get(), made->ring->writer(),
                                made->ring->header().descriptor_count, grant.reply.first_sequence);
    if (e.ok()) attachment = std::move(made);
    return e;
  }

  std::unique_ptr<RingView> ring;
  Cursor cursor;
  shm::AttachReply reply{};
};

}  // namespace echoline::client
