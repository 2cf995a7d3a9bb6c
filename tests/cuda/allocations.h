// A program's `new` that fails when a test wants it.
#pragma once

namespace echoline::cuda_test {

// The copy thread's allocation after `before` others finds no memory; below 0: none does.
void fail_allocation(int before);

}  // namespace echoline::cuda_test
