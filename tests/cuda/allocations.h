// Replaces `new` in this program by one that fails when a test wants it.
#pragma once

namespace echoline::cuda_test {

// In the copier's thread, `before` allocations succeed, then one fails. Below 0: none fails.
void fail_allocation(int before);

}  // namespace echoline::cuda_test
