#include "user_code/launch.h"

#include <fmt/core.h>

#include <filesystem>

#include "user_code/area.h"
#include "user_code/worker_source.h"

namespace echoline::user_code {
namespace {

constexpr const char* kRunner = "echoline-plugin-runner";
constexpr const char* kStart =
    "exec(compile(open(6, closefd=False).read(), 'echoline worker', 'exec'))";

}  // namespace

Result<Launch> launch_of(const Function& function) {
  if (function.library != nullptr) {
    ECHOLINE_ASSIGN(UniqueFd library, function.library->unchanged());
    return Launch{{function.interpreter, function.file, function.name}, std::move(library)};
  }
  ECHOLINE_ASSIGN(UniqueFd program, text_in_memory("echoline-worker", kWorkerSource));
  return Launch{
      {function.interpreter, "-X", "faulthandler", "-c", kStart, function.file, function.name},
      std::move(program)};
}

Result<std::string> plugin_runner() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  // Next to this program in a build and in a wheel; else where the installation has programs that
  // users do not call.
  const std::filesystem::path places[] = {folder / kRunner,
                                          folder / ECHOLINE_FROM_BIN_TO_LIBEXEC / kRunner};
  for (const std::filesystem::path& place : places) {
    if (std::filesystem::exists(place, error)) return place.lexically_normal().string();
  }
  return Status(Code::kNotFound,
                fmt::format("the program {} is not installed: neither {} nor {} exists", kRunner,
                            places[0].string(), places[1].lexically_normal().string()));
}

}  // namespace echoline::user_code
